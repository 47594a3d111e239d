import Foundation

// By `memcmp`: thousands of paths and ids are compared at once, and going through their bytes one by one takes twenty times as long.
extension String {
    /// Whether both strings are the same bytes of UTF-8; `==` would also accept canonically equivalent ones.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && orderOfBytes(against: other) == 0
    }

    /// Whether the bytes of UTF-8 come before the other's, the shorter one before what it begins.
    package func precedesByBytes(_ other: String) -> Bool {
        let order = orderOfBytes(against: other)
        return order < 0 || (order == 0 && utf8.count < other.utf8.count)
    }

    /// Of as many bytes as both have: below zero where the first one that differs is less here, above where it is more, 0 for none.
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
