/// The text of a file as the memory tool shows and edits it: each line end counts as `\n`.
///
/// Edits change only the bytes they are about. New lines get the line ends of the file.
struct MemoryText {
    private let bytes: [UInt8]
    /// The text with `\n` at the end of each line.
    private let plain: [UInt8]
    /// The position in `bytes` of each byte of `plain`, and of the end; `nil` if both are equal.
    private let positions: [Int]?
    /// The line end of the first line.
    private let lineEnd: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard bytes.contains(Self.carriageReturn) else {
            (plain, positions, lineEnd) = (bytes, nil, [Self.newline])
            return
        }
        var plain: [UInt8] = []
        var positions: [Int] = []
        var lineEnd: [UInt8]?
        var position = 0
        while position < bytes.count {
            let isPair = bytes[position...].starts(with: [Self.carriageReturn, Self.newline])
            let isLineEnd = isPair || bytes[position] == Self.carriageReturn || bytes[position] == Self.newline
            let count = isPair ? 2 : 1
            if isLineEnd { lineEnd = lineEnd ?? Array(bytes[position..<position + count]) }
            plain.append(isLineEnd ? Self.newline : bytes[position])
            positions.append(position)
            position += count
        }
        (self.plain, self.positions) = (plain, positions + [bytes.count])
        self.lineEnd = lineEnd ?? [Self.newline]
    }

    // MARK: Lines

    /// The lines as shown, without line ends. A line end at the end of the text is followed by an empty line.
    var lines: [ArraySlice<UInt8>] { plain.split(separator: Self.newline, omittingEmptySubsequences: false) }

    /// The number of lines, without an empty one after the last line end.
    var lineCount: Int { plain.count { $0 == Self.newline } + (plain.last.map { $0 != Self.newline } ?? false ? 1 : 0) }

    /// Returns the number of line ends before a position.
    func lineEnds(before position: Int) -> Int { plain[..<position].count { $0 == Self.newline } }

    // MARK: Edits

    /// Returns the first position of a string, at or after another position; `nil` if there is none.
    func position(of text: [UInt8], from start: Int = 0) -> Int? {
        positions(of: normalized(text), from: start, limit: 1).first
    }

    /// Returns the numbers of the lines with a string, once for each occurrence, also for overlapping ones, up to a limit.
    func lineNumbers(of text: [UInt8], limit: Int) -> [Int] {
        positions(of: normalized(text), from: 0, limit: limit).map { lineEnds(before: $0) + 1 }
    }

    private func positions(of text: [UInt8], from start: Int, limit: Int) -> [Int] {
        guard text.count <= plain.count, start <= plain.count - text.count else { return [] }
        var found: [Int] = []
        for position in start...(plain.count - text.count) {
            // The first byte excludes most positions.
            if let first = text.first, plain[position] != first { continue }
            if plain[position...].prefix(text.count).elementsEqual(text) { found.append(position) }
            if found.count == limit { break }
        }
        return found
    }

    /// Returns whether a string occurs twice or more, without overlaps.
    func isRepeated(_ text: [UInt8]) -> Bool {
        position(of: text).map { position(of: text, from: $0 + max(1, normalized(text).count)) != nil } ?? false
    }

    /// Returns the bytes with a string at a position replaced.
    func replacing(_ old: [UInt8], at position: Int, with new: [UInt8]) -> [UInt8] {
        let end = position + normalized(old).count
        let range = positions.map { $0[position]..<$0[end] } ?? position..<end
        return Array(bytes[..<range.lowerBound]) + withLineEnds(new) + Array(bytes[range.upperBound...])
    }

    /// Returns the bytes with a string as new lines after the first `line` lines. The text and the last line get line
    /// ends if they have none.
    func inserting(_ text: [UInt8], after line: Int) -> [UInt8] {
        var start = 0
        for _ in 0..<line {
            start = plain[start...].firstIndex(of: Self.newline).map { $0 + 1 } ?? plain.count
        }
        let split = positions?[start] ?? start
        var lines = text
        while lines.last == Self.newline || lines.last == Self.carriageReturn { lines.removeLast() }
        return ended(Array(bytes[..<split])) + withLineEnds(lines) + lineEnd + ended(Array(bytes[split...]))
    }

    private func ended(_ bytes: [UInt8]) -> [UInt8] {
        guard let last = bytes.last, last != Self.newline, last != Self.carriageReturn else { return bytes }
        return bytes + lineEnd
    }

    /// Returns a string with the line ends of `plain`.
    private func normalized(_ text: [UInt8]) -> [UInt8] { positions == nil ? text : MemoryText(text).plain }

    /// Returns a string with the line ends of the file.
    private func withLineEnds(_ text: [UInt8]) -> [UInt8] {
        guard lineEnd != [Self.newline] else { return text }
        return Array(MemoryText(text).lines.joined(separator: lineEnd))
    }

    private static let newline = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
}
