import Foundation

// With `memcmp`: thousands of paths and IDs are compared at once, and a loop over their bytes takes twenty times as
// long.
extension String {
    /// Whether both strings have the same UTF-8 bytes; `==` would also accept canonical equivalents.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && orderOfBytes(against: other) == 0
    }

    /// Whether the UTF-8 bytes come before the other's. A prefix comes before longer strings.
    package func precedesByBytes(_ other: String) -> Bool {
        let order = orderOfBytes(against: other)
        return order < 0 || (order == 0 && utf8.count < other.utf8.count)
    }

    /// Compares the bytes up to the shorter length: negative if the first difference is less here, positive if it
    /// is greater, 0 without a difference.
    private func orderOfBytes(against other: String) -> Int32 {
        var (mine, others) = (self, other)
        return mine.withUTF8 { mine in
            others.withUTF8 { others in
                guard let left = mine.baseAddress, let right = others.baseAddress else { return 0 }
                return memcmp(left, right, min(mine.count, others.count))
            }
        }
    }
}

extension String {
    /// Returns the beginning of the string, cut between two Unicode scalars, with at most this number of bytes of
    /// UTF-8.
    package func firstBytes(_ count: Int) -> String {
        guard utf8.count > count else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: count)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
