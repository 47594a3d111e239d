import RecollectCore

/// A text, and the same text in composed form. Composing takes most of the time of merging a text with combining marks.
struct SpelledText {
    let text: String
    let composed: String

    init(_ text: String) {
        self.text = text
        composed = text.composed
    }
}

/// The spelling of lines in versions of a text: their Unicode normalization and their line ends.
///
/// Lines are merged in composed form and without their ends. Afterwards, each line of the merged text gets its
/// spelling from the versions. If these differ, a spelling not in the base is preferred; of several, the first one
/// in byte order. Windows line ends stay if the versions have no others.
struct LineSpelling {
    /// The spellings of each line, by its composed form: one for each occurrence.
    private var spellings: [ByteString: [ByteString]] = [:]
    private let lineEnd: String

    init(of versions: [SpelledText], base: SpelledText?) {
        let lineEnds = versions.compactMap(\.text.lineEnd)
        lineEnd = Set(lineEnds).count == 1 ? lineEnds[0] : "\n"
        if versions.allSatisfy({ $0.composed.hasSameBytes(as: $0.text) }) { return }
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

    private static func spellings(in text: SpelledText) -> [ByteString: [ByteString]] {
        zip(text.composed.lines, text.text.lines).reduce(into: [:]) { spellings, line in
            let (composed, spelled) = line
            if !spelled.isASCII { spellings[ByteString(composed), default: []].append(ByteString(spelled)) }
        }
    }

    /// Returns a text with the spellings of the versions. Its lines must be composed and end with a line feed.
    func spelled(_ text: String) -> String {
        if spellings.isEmpty, lineEnd == "\n" { return text }
        var numbers: [ByteString: Int] = [:]
        return text.lines.map { line in
            guard let spellings = spellings[ByteString(line)] else { return line }
            let number = numbers[ByteString(line), default: 0]
            numbers[ByteString(line)] = number + 1
            // A line inserted by several versions may occur more often than in each of them.
            return spellings[min(number, spellings.count - 1)].string
        }.joined(separator: lineEnd)
    }
}

extension String {
    /// The line end: CR LF if no line feed stands alone; `nil` for a text of one line.
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
