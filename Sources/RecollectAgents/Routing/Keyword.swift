/// A word indicating the topic of a text, in normalized forms for comparison.
struct Keyword: Hashable {
    /// The word without the endings of English nouns and verbs.
    let stem: String
    /// The first letters of a longer word, shared by its other forms in most languages. For a pair of ideographs,
    /// the first one, because it has a meaning by itself. `nil` for a shorter word.
    let root: String?

    private static let rootLength = 5

    /// Whether the word names an action instead of its object.
    var isErrand: Bool { Self.errands.contains(stem) }

    private static let errands = Set(FunctionWords.errands.map(stem))

    /// Creates the keyword of a word; `nil` for a word without a topic (see `FunctionWords`), a single letter, and
    /// a number of at most two digits.
    init?(_ word: String) {
        guard let first = word.unicodeScalars.first else { return nil }
        if first.isUnspacedLetter {
            guard !FunctionWords.isGrammar(word) else { return nil }
            stem = word
            root = first.properties.isIdeographic && !FunctionWords.isGrammar(String(first)) ? String(first) : nil
            return
        }
        let isNumber = word.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard word.count > (isNumber ? 2 : 1), !FunctionWords.all.contains(word) else { return nil }
        stem = isNumber ? word : Self.stem(of: word)
        root = isNumber || word.count < Self.rootLength ? nil : String(word.prefix(Self.rootLength))
    }

    /// Returns the keywords of a string in order, each once.
    static func keywords(of words: [String]) -> [Keyword] {
        var seen: Set<String> = []
        return words.compactMap(Keyword.init).filter { seen.insert($0.stem).inserted }
    }

    /// Returns the stem of an English word, for matching its forms: removes the plural `s`, `-ing`, `-ed` and a
    /// final `e`, replaces a final `y` with `i`, and reduces a double final letter to a single one.
    private static func stem(of word: String) -> String {
        var letters = Array(word.utf8)
        guard letters.count > 2, letters.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }) else {
            return word
        }
        func ends(in ending: String) -> Bool { letters.suffix(ending.utf8.count).elementsEqual(ending.utf8) }
        if ends(in: "s"), !ends(in: "ss"), !ends(in: "us"), !ends(in: "is") { letters.removeLast() }
        for ending in ["ing", "ed"] where ends(in: ending) {
            let rest = letters.dropLast(ending.utf8.count)
            guard rest.count >= 3, rest.contains(where: "aeiouy".utf8.contains) else { continue }
            letters = Array(rest)
            break
        }
        if letters.count > 3, ends(in: "e") { letters.removeLast() }
        if ends(in: "y") { letters[letters.count - 1] = UInt8(ascii: "i") }
        if letters.count > 3, letters[letters.count - 1] == letters[letters.count - 2] { letters.removeLast() }
        return String(decoding: letters, as: UTF8.self)
    }
}
