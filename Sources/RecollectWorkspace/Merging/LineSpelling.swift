import RecollectCore

/// A string, and the same text in composed form.
struct SpelledText {
    let text: String
    let composed: String
}

/// Composes texts. Composing takes most of the time of merging texts with combining marks, so each different line is
/// composed once.
struct TextComposer {
    private var lines: [ByteString: String] = [:]

    mutating func spelled(_ text: String) -> SpelledText {
        guard !text.isOfComposedBlocks else { return SpelledText(text: text, composed: text) }
        var composed = ""
        composed.reserveCapacity(text.utf8.count)
        // A line end is never composed with another character.
        for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if line.startIndex > text.startIndex { composed += "\n" }
            composed += self.composed(String(Substring(line)))
        }
        return SpelledText(text: text, composed: composed)
    }

    private mutating func composed(_ line: String) -> String {
        guard !line.isOfComposedBlocks else { return line }
        let key = ByteString(line)
        if let known = lines[key] { return known }
        let composed = line.composed
        lines[key] = composed
        return composed
    }
}

/// The spelling of lines in versions of a text: their Unicode normalization and their line ends.
///
/// Lines are merged in composed form and without their ends. Afterwards, each line of the merged text gets its
/// spelling from the versions. If these differ, a spelling not in the base is preferred; of several, the first one
/// in byte order. Windows line ends stay if the versions have no others.
struct LineSpelling {
    /// The spellings of each line, by its composed form: one for each occurrence, or a single one if all are equal.
    private var spellings: [ByteString: [ByteString]] = [:]
    private let lineEnd: String

    init(of versions: [SpelledText], base: SpelledText?) {
        let lineEnds = versions.compactMap(\.text.lineEnd)
        lineEnd = Set(lineEnds).count == 1 ? lineEnds[0] : "\n"
        if versions.allSatisfy({ $0.composed.hasSameBytes(as: $0.text) }) { return }
        var different: Set<ByteString> = []
        for text in versions + [base].compactMap({ $0 }) {
            for (composed, spelled) in Self.lines(of: text) {
                guard let known = spellings[composed] else {
                    spellings[composed] = [spelled]
                    continue
                }
                if known[0] != spelled { different.insert(composed) }
            }
        }
        // Most lines have one spelling.
        if !different.isEmpty { spell(different, of: versions, base: base) }
    }

    /// Finds the spellings of lines with several ones.
    private mutating func spell(_ lines: Set<ByteString>, of versions: [SpelledText], base: SpelledText?) {
        let old = base.map { Self.spellings(of: lines, in: $0) } ?? [:]
        let all = versions.map { Self.spellings(of: lines, in: $0) }
        for line in lines {
            let count = all.map { $0[line]?.count ?? 0 }.max() ?? 0
            guard count > 0 else { continue }
            spellings[line] = (0..<count).compactMap { number in
                func spelling(_ spellings: [ByteString: [ByteString]]) -> ByteString? {
                    spellings[line].flatMap { $0.indices.contains(number) ? $0[number] : nil }
                }
                let (known, spelled) = (spelling(old), all.compactMap(spelling))
                return spelled.filter { $0 != known }.min() ?? known ?? spelled.first
            }
        }
    }

    private static func spellings(of lines: Set<ByteString>, in text: SpelledText) -> [ByteString: [ByteString]] {
        Self.lines(of: text).reduce(into: [:]) { spellings, line in
            if lines.contains(line.composed) { spellings[line.composed, default: []].append(line.spelled) }
        }
    }

    /// Returns the lines that are not ASCII, in composed form and as spelled.
    private static func lines(of text: SpelledText) -> [(composed: ByteString, spelled: ByteString)] {
        zip(text.composed.lines, text.text.lines).compactMap { composed, spelled in
            spelled.isASCII ? nil : (ByteString(composed), ByteString(spelled))
        }
    }

    /// Returns a string with the spellings of the versions. Its lines must be composed and end with a line feed.
    func spelled(_ text: String) -> String {
        if spellings.isEmpty, lineEnd == "\n" { return text }
        var numbers: [ByteString: Int] = [:]
        return text.lines.map { line in
            guard let spellings = spellings[ByteString(line)] else { return line }
            if spellings.count == 1 { return spellings[0].string }
            let number = numbers[ByteString(line), default: 0]
            numbers[ByteString(line)] = number + 1
            // A line inserted by several versions may occur more often than in each of them.
            return spellings[min(number, spellings.count - 1)].string
        }.joined(separator: lineEnd)
    }
}

extension String {
    /// The line end: CR LF if no line feed stands alone; `nil` for a string of one line.
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
