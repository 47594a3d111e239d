extension String {
    /// The lines without their ends, LF or CR LF.
    var lines: [String] {
        var text = self
        return text.withUTF8 { bytes in
            bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
                var end = line.endIndex
                while end > line.startIndex, line[end - 1] == UInt8(ascii: "\r") { end -= 1 }
                return String(decoding: line[..<end], as: UTF8.self)
            }
        }
    }

    /// Whether the line has only spaces, tabs and carriage returns.
    var isBlank: Bool {
        utf8.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
    }
}

extension RandomAccessCollection where Element == String {
    /// The lines without blank lines at the beginning and the end.
    var trimmingBlankLines: SubSequence {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank }) else {
            return self[startIndex..<startIndex]
        }
        return self[first...last]
    }
}
