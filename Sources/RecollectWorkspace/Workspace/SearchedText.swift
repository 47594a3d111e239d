import Foundation

/// Words to find in texts, regardless of case and accents.
struct SearchedWords {
    private let words: [String]
    /// The UTF-8 of each ASCII word. An ASCII line is searched without folding, and can contain no other word.
    private let bytes: [[UInt8]?]

    init(_ text: String) {
        words = Array(Set(Self.folded(text).split(whereSeparator: \.isWhitespace).map(String.init))).sorted()
        bytes = words.map { $0.isASCII ? Array($0.utf8) : nil }
    }

    var isEmpty: Bool { words.isEmpty }
    var count: Int { words.count }

    /// Returns the indexes of the words contained in a string.
    func found(in text: String) -> Set<Int> {
        let folded = Self.folded(text)
        return Set(words.indices.filter { folded.contains(words[$0]) })
    }

    /// Returns the indexes of the words contained in a line of UTF-8.
    func found(in line: ArraySlice<UInt8>) -> Set<Int> {
        guard line.allSatisfy({ $0 < 0x80 }) else { return found(in: String(decoding: line, as: UTF8.self)) }
        let lowercased = line.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return Set(bytes.indices.filter { bytes[$0].map { lowercased.hasRun($0) } ?? false })
    }

    /// Returns a line for display. A long line is shortened to the text around the first word found.
    func excerpt(of line: ArraySlice<UInt8>) -> String {
        let text = String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        // The limit counts scalars, because a single character may have any number of combining marks.
        let scalars = text.unicodeScalars
        guard scalars.count > Self.excerptLength else { return text }
        let options: String.CompareOptions = [.caseInsensitive, .diacriticInsensitive]
        let first = words.compactMap { text.range(of: $0, options: options)?.lowerBound }.min() ?? text.startIndex
        let start =
            scalars.index(first, offsetBy: -Self.excerptLength / 3, limitedBy: text.startIndex) ?? text.startIndex
        let end = scalars.index(start, offsetBy: Self.excerptLength, limitedBy: text.endIndex) ?? text.endIndex
        return (start > text.startIndex ? "…" : "") + String(scalars[start..<end]) + (end < text.endIndex ? "…" : "")
    }

    private static let excerptLength = 240

    private static func folded(_ text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    }
}

extension [UInt8] {
    /// Whether the array contains these bytes in sequence.
    fileprivate func hasRun(_ run: [UInt8]) -> Bool {
        guard let first = run.first, run.count <= count else { return run.isEmpty }
        return withUnsafeBufferPointer { bytes in
            run.withUnsafeBufferPointer { run in
                for start in 0...(bytes.count - run.count) where bytes[start] == first {
                    var length = 1
                    while length < run.count, bytes[start + length] == run[length] { length += 1 }
                    if length == run.count { return true }
                }
                return false
            }
        }
    }
}
