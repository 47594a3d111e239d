import RecollectCore

/// Makes the snippet of a hit: about 160 characters around the matches, on one line.
struct SnippetMaker {
    static let length = 160
    /// The maximum number of characters before the first match.
    private static let lead = 40
    /// The maximum distance from a cut to a space, in characters.
    private static let slack = 12

    private let matcher: SnippetMatcher

    init(words: ParsedQuery, stemmer: Stemmer? = nil) {
        matcher = SnippetMatcher(words: words, stemmer: stemmer)
    }

    /// Returns the snippet of a string, or the text's beginning without marks if there is no match.
    func snippet(of text: UnsafeBufferPointer<UInt8>) -> Snippet {
        passage(of: text).snippet
    }

    /// Returns the snippet of a string, and the units of the query in the text.
    func passage(of text: UnsafeBufferPointer<UInt8>) -> (snippet: Snippet, units: Set<Int>) {
        var found = matcher
        Tokenizer.read(text, into: &found)
        return (snippet(of: text, found), Set(found.matches.map(\.unit)))
    }

    private func snippet(of text: UnsafeBufferPointer<UInt8>, _ matches: SnippetMatcher) -> Snippet {
        var found = matches
        let cluster = found.bestCluster() ?? 0..<0
        // Most texts are ASCII with one byte per character, except for a line break of two bytes.
        let narrow = context(of: cluster.lowerBound, in: text.count, bytesOfCharacter: 1)
        if text[narrow].allSatisfy({ $0 < 0x80 }) {
            let piece = UnsafeBufferPointer(rebasing: text[narrow])
            return line(
                Piece(bytes: piece, range: narrow, of: text.count, ends: 1...max(1, narrow.count)), found, cluster)
        }
        let wide = scalars(of: text, in: context(of: cluster.lowerBound, in: text.count, bytesOfCharacter: 4))
        var string = String(decoding: UnsafeBufferPointer(rebasing: text[wide]), as: UTF8.self)
        var end = 0
        let ends = string.map { character -> Int in
            end += character.utf8.count
            return end
        }
        // Invalid UTF-8 was replaced, and the positions changed with it. Then nothing is marked.
        if end != wide.count { found = matcher }
        return string.withUTF8 { line(Piece(bytes: $0, range: wide, of: text.count, ends: ends), found, cluster) }
    }

    /// Returns twice the length of a line on either side of an offset, because white space is collapsed.
    private func context(of position: Int, in count: Int, bytesOfCharacter bytes: Int) -> Range<Int> {
        let isNearEnd = count - position < Self.length * bytes
        let before = 2 * (isNearEnd ? Self.length : Self.lead) * bytes
        return max(0, position - before)..<min(count, position + 2 * Self.length * bytes)
    }

    /// Returns the range without partial scalars at its ends.
    private func scalars(of text: UnsafeBufferPointer<UInt8>, in range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start > 0, start < end, text[start] & 0xC0 == 0x80 { start += 1 }
        while end < text.count, end > start, text[end] & 0xC0 == 0x80 { end -= 1 }
        return start..<end
    }

    /// A piece of a string, longer than a snippet if the text is.
    private struct Piece<Ends: Sequence<Int>> {
        let bytes: UnsafeBufferPointer<UInt8>
        let range: Range<Int>
        let textCount: Int
        /// The ends of its characters, relative to the piece.
        let ends: Ends

        init(bytes: UnsafeBufferPointer<UInt8>, range: Range<Int>, of textCount: Int, ends: Ends) {
            self.bytes = bytes
            self.range = range
            self.textCount = textCount
            self.ends = ends
        }
    }

    /// A character of the line: bytes of the piece, or one space for white space and control characters.
    private struct Shown {
        var bytes: Range<Int>
        var isSpace: Bool
        var isMatch: Bool
    }

    private func line<Ends>(_ piece: Piece<Ends>, _ found: SnippetMatcher, _ cluster: Range<Int>) -> Snippet {
        let characters = flattened(piece, found)
        let start = piece.range.lowerBound
        let first = characters.firstIndex { $0.bytes.upperBound + start > cluster.lowerBound } ?? 0
        let last = characters.lastIndex { $0.bytes.lowerBound + start < cluster.upperBound } ?? first
        // At the beginning or end of a string, the unused length goes to the other side.
        var from = max(0, min(first - Self.lead, characters.count - Self.length))
        var to = min(characters.count, from + Self.length)
        // A piece from the middle of the text may begin inside a character.
        if from == 0, start > 0 { from = min(1, characters.count) }
        if from > 0,
            let space = characters[from..<max(from, min(from + Self.slack, first))].firstIndex(where: \.isSpace)
        {
            from = space
        }
        if to < characters.count, to > last + 1,
            let space = characters[max(last + 1, to - Self.slack)..<to].lastIndex(where: \.isSpace)
        {
            to = space
        }
        let isCutBefore = from > 0
        let isCutAfter = to < characters.count || piece.range.upperBound < piece.textCount
        while from < to, characters[from].isSpace { from += 1 }
        while to > from, characters[to - 1].isSpace { to -= 1 }
        return Snippet(runs: runs(characters[from..<to], piece.bytes, isCutBefore, isCutAfter))
    }

    private func flattened<Ends>(_ piece: Piece<Ends>, _ found: SnippetMatcher) -> [Shown] {
        let positions = found.matches.map(\.source).filter { $0.overlaps(piece.range) }
            .sorted { $0.lowerBound < $1.lowerBound }
        var nextPosition = 0
        var characters: [Shown] = []
        characters.reserveCapacity(piece.bytes.count)
        var begin = 0
        for end in piece.ends where end <= piece.bytes.count {
            let (from, to) = (begin + piece.range.lowerBound, end + piece.range.lowerBound)
            while nextPosition < positions.count, positions[nextPosition].upperBound <= from { nextPosition += 1 }
            let isMatch = nextPosition < positions.count && positions[nextPosition].lowerBound < to
            let isSpace = Self.isSpace(piece.bytes, begin..<end)
            if isSpace, characters.last?.isSpace == true {
                characters[characters.count - 1].isMatch = characters[characters.count - 1].isMatch && isMatch
            } else {
                characters.append(Shown(bytes: begin..<end, isSpace: isSpace, isMatch: isMatch))
            }
            begin = end
        }
        return characters
    }

    /// Whether a character is white space, or a control character, as terminals interpret these. Not with an accent
    /// on it.
    private static func isSpace(_ bytes: UnsafeBufferPointer<UInt8>, _ character: Range<Int>) -> Bool {
        let first = bytes[character.lowerBound]
        switch character.count {
        case 1: return first <= 0x20 || first == 0x7F
        case 2: return first == 0x0D || first == 0xC2 && bytes[character.lowerBound + 1] <= 0xA0
        case 3:
            return first == 0xE2 && bytes[character.lowerBound + 1] == 0x80
                && bytes[character.lowerBound + 2] & 0xFE == 0xA8
        default: return false
        }
    }

    private func runs(
        _ characters: ArraySlice<Shown>, _ bytes: UnsafeBufferPointer<UInt8>, _ isCutBefore: Bool, _ isCutAfter: Bool
    ) -> [Snippet.Run] {
        var runs: [Snippet.Run] = []
        var pending: [UInt8] = isCutBefore ? Array("…".utf8) : []
        var isMatch = false
        func close() {
            if !pending.isEmpty {
                runs.append(Snippet.Run(text: String(decoding: pending, as: UTF8.self), isMatch: isMatch))
            }
            pending.removeAll(keepingCapacity: true)
        }
        for character in characters {
            if character.isMatch != isMatch {
                close()
                isMatch = character.isMatch
            }
            if character.isSpace {
                pending.append(UInt8(ascii: " "))
            } else {
                pending.append(contentsOf: bytes[character.bytes])
            }
        }
        if isCutAfter {
            if isMatch {
                close()
                isMatch = false
            }
            pending += "…".utf8
        }
        close()
        return runs
    }
}
