import Foundation
import RecollectCore
import RecollectSearch

/// A word in the forms found in files: unchanged, as in JSON, and as folded by the search index. ASCII case does
/// not matter.
struct WordPattern: Sendable {
    /// The bytes to search for, in lower case.
    let needles: [[UInt8]]
    /// The terms of the word in the search index.
    let terms: [[UInt8]]

    /// Creates the pattern of a word.
    /// - Throws: `invalidArgument` for fewer than three bytes, as these occur everywhere by chance.
    init(_ word: String) throws {
        var reader = TermList()
        Tokenizer.read(word, into: &reader)
        terms = reader.terms
        let escaped = JSONValue.string(word).jsonString.dropFirst().dropLast()
        var needles = [Self.lowercased(Array(word.utf8))]
        for other in [Array(escaped.utf8)] + (reader.terms.count == 1 ? reader.terms : []) {
            let needle = Self.lowercased(other)
            if !needles.contains(needle) { needles.append(needle) }
        }
        guard needles.allSatisfy({ $0.count >= 3 }) else {
            throw RecollectError(
                .invalidArgument, "words shorter than three bytes occur by chance in every file; use a longer one")
        }
        self.needles = needles
    }

    /// The length of the longest needle.
    var length: Int { needles.map(\.count).max() ?? 0 }

    /// Returns the offsets of all occurrences in some bytes.
    func positions(in bytes: UnsafeRawBufferPointer) -> [Int] {
        var positions: Set<Int> = []
        for needle in needles {
            let first = needle[0]
            let upper = Self.uppercased(first)
            var start = 0
            let end = bytes.count - needle.count
            while start <= end {
                let byte = bytes[start]
                if byte == first || byte == upper, matches(needle, bytes, at: start) { positions.insert(start) }
                start += 1
            }
        }
        return positions.sorted()
    }

    private func matches(_ needle: [UInt8], _ bytes: UnsafeRawBufferPointer, at start: Int) -> Bool {
        for index in needle.indices where Self.lowercased(bytes[start + index]) != needle[index] { return false }
        return true
    }

    /// Whether a string has an occurrence.
    func isIn(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { !positions(in: UnsafeRawBufferPointer($0)).isEmpty }
    }

    private static func lowercased(_ bytes: [UInt8]) -> [UInt8] { bytes.map(lowercased) }
    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
    private static func uppercased(_ byte: UInt8) -> UInt8 { (0x61...0x7A).contains(byte) ? byte & 0xDF : byte }
}

/// The words and pairs of a string, folded.
private struct TermList: SearchTermReader {
    private(set) var terms: [[UInt8]] = []
    var isFinished: Bool { false }

    mutating func word(_ term: SearchTerm) { add(term) }
    mutating func pair(_ term: SearchTerm) { add(term) }
    mutating func part(_ term: SearchTerm, isFirst: Bool) {}
    mutating func character(_ term: SearchTerm, isAlone: Bool) { if isAlone { add(term) } }

    private mutating func add(_ term: SearchTerm) {
        let bytes = Array(term.bytes)
        if !terms.contains(bytes) { terms.append(bytes) }
    }
}
