import RecollectCore

/// How versions of a text write their lines: letters that Unicode can spell in several ways, and line ends.
///
/// Lines are merged in composed form and without their ends. In the merged text each line is spelled as in the version that has it,
/// in the lesser spelling by its bytes if versions differ. Windows line ends stay if the versions have no others.
struct LineSpelling {
    /// By the composed form.
    private var spellings: [ByteString: ByteString] = [:]
    private let lineEnd: String

    init(of versions: [String]) {
        let lineEnds = versions.compactMap(\.lineEnd)
        lineEnd = Set(lineEnds).count == 1 ? lineEnds[0] : "\n"
        if versions.allSatisfy({ $0.composed.hasSameBytes(as: $0) }) { return }
        for line in versions.lazy.flatMap(\.lines) where !line.isASCII {
            let (composed, spelling) = (ByteString(line.composed), ByteString(line))
            spellings[composed] = min(spelling, spellings[composed] ?? spelling)
        }
    }

    /// Spells a text whose lines are composed and end with a line feed.
    func spelled(_ text: String) -> String {
        if spellings.isEmpty, lineEnd == "\n" { return text }
        return text.lines.map { spellings[ByteString($0)]?.string ?? $0 }.joined(separator: lineEnd)
    }
}

extension String {
    /// What ends the lines: CR LF if no line feed stands alone; `nil` for a text of one line.
    var lineEnd: String? {
        var previous: UInt8 = 0
        var hasLineEnd = false
        for byte in utf8 {
            if byte == UInt8(ascii: "\n") {
                if previous != UInt8(ascii: "\r") { return "\n" }
                hasLineEnd = true
            }
            previous = byte
        }
        return hasLineEnd ? "\r\n" : nil
    }
}
