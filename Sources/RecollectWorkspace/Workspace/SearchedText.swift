import Foundation

/// Words that are looked for in texts, whatever their case and accents.
struct SearchedWords {
    private let words: [String]
    /// Each word that is ASCII as bytes: a line of ASCII is searched without folding it, and has no other word.
    private let bytes: [[UInt8]?]

    init(_ text: String) {
        words = Array(Set(Self.folded(text).split(whereSeparator: \.isWhitespace).map(String.init))).sorted()
        bytes = words.map { $0.isASCII ? Array($0.utf8) : nil }
    }

    var isEmpty: Bool { words.isEmpty }
    var count: Int { words.count }

    /// The words that stand in a text, by their numbers.
    func found(in text: String) -> Set<Int> {
        let folded = Self.folded(text)
        return Set(words.indices.filter { folded.contains(words[$0]) })
    }

    /// The same for a line as bytes.
    func found(in line: ArraySlice<UInt8>) -> Set<Int> {
        guard line.allSatisfy({ $0 < 0x80 }) else { return found(in: String(decoding: line, as: UTF8.self)) }
        let lowercased = line.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return Set(bytes.indices.filter { bytes[$0].map { lowercased.hasRun($0) } ?? false })
    }

    /// A line as it is shown: around the first word that stands in it, where it is long.
    func excerpt(of line: ArraySlice<UInt8>) -> String {
        let text = String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        // A single character may have any number of marks.
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
    /// Whether some bytes stand in these, one after the other.
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
