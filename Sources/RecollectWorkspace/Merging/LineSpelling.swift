import RecollectCore

/// How versions of a text write their lines: letters that Unicode can spell in several ways, and line ends.
///
/// Lines are merged in composed form and without their ends. In the merged text each line is spelled as in the version that has it. If
/// versions differ, a spelling that the base does not have counts, and of several such the lesser one by its bytes. Windows line
/// ends stay if the versions have no others.
struct LineSpelling {
    /// By the composed form: the spelling of the first such line, the second, and so on.
    private var spellings: [ByteString: [ByteString]] = [:]
    private let lineEnd: String

    init(of versions: [String], base: String?) {
        let lineEnds = versions.compactMap(\.lineEnd)
        lineEnd = Set(lineEnds).count == 1 ? lineEnds[0] : "\n"
        if versions.allSatisfy({ $0.composed.hasSameBytes(as: $0) }) { return }
        let old = base.map(Self.spellings) ?? [:]
        let all = versions.map(Self.spellings)
        let longest = all.reduce(into: [ByteString: [ByteString]]()) { longest, version in
            longest.merge(version) { $0.count < $1.count ? $1 : $0 }
        }
        for (composed, longest) in longest {
            spellings[composed] = longest.indices.map { number in
                let known = old[composed].flatMap { $0.indices.contains(number) ? $0[number] : nil }
                let different = all.compactMap { spellings in
                    spellings[composed].flatMap { $0.indices.contains(number) ? $0[number] : nil }
                }
                return different.filter { $0 != known }.min() ?? known ?? longest[number]
            }
        }
    }

    private static func spellings(in text: String) -> [ByteString: [ByteString]] {
        text.lines.lazy.filter { !$0.isASCII }.reduce(into: [:]) {
            $0[ByteString($1.composed), default: []].append(ByteString($1))
        }
    }

    /// Spells a text whose lines are composed and end with a line feed.
    func spelled(_ text: String) -> String {
        if spellings.isEmpty, lineEnd == "\n" { return text }
        var numbers: [ByteString: Int] = [:]
        return text.lines.map { line in
            guard let spellings = spellings[ByteString(line)] else { return line }
            let number = numbers[ByteString(line), default: 0]
            numbers[ByteString(line)] = number + 1
            // A line that several versions wrote comes more often than in each of them.
            return spellings[min(number, spellings.count - 1)].string
        }.joined(separator: lineEnd)
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
