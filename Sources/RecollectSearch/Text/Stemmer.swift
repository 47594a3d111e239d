/// Reduces the inflected forms of an English word to a common stem: `running` and `runs` to `run`.
///
/// It is the algorithm of M. F. Porter, "An algorithm for suffix stripping" (1980), with the same stems as the tokenizer
/// `porter` of SQLite's FTS5. Only words of 3 to 64 ASCII letters are reduced, so identifiers with digits and words of other scripts
/// stay whole.
package struct Stemmer: Sendable {
    /// The lengths of reduced words.
    private static let lengths = 3...64

    package init() {}

    /// Returns the stem of a folded word. A word may be its own stem.
    func stem(of word: [UInt8]) -> [UInt8] {
        var stem = word
        word.withUnsafeBufferPointer { forEachStem(in: $0) { found, _ in stem = Array(found) } }
        return stem
    }

    /// Calls `body` with the stem of each of some folded words, separated by spaces. Words that are their own stems are
    /// skipped.
    func forEachStem(
        in words: UnsafeBufferPointer<UInt8>,
        _ body: (_ stem: UnsafeBufferPointer<UInt8>, _ word: Slice<UnsafeBufferPointer<UInt8>>) -> Void
    ) {
        // A replacement of an ending may be a byte longer than the ending.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.lengths.upperBound + 1) { buffer in
            var start = 0
            var isReduced = true
            for index in 0...words.count {
                if index < words.count {
                    let byte = words[index]
                    if byte &- UInt8(ascii: "a") < 26 { continue }
                    if byte >= 0x80 || byte &- UInt8(ascii: "0") < 10 || byte &- UInt8(ascii: "A") < 26 {
                        isReduced = false
                        continue
                    }
                }
                let word = words[start..<index]
                if isReduced, Self.lengths.contains(word.count) {
                    _ = buffer.update(fromContentsOf: word)
                    var stem = Stem(bytes: buffer, count: word.count)
                    stem.reduce()
                    let found = UnsafeBufferPointer(rebasing: buffer[..<stem.count])
                    if !found.elementsEqual(word) { body(found, word) }
                }
                start = index + 1
                isReduced = true
            }
        }
    }
}

/// A word in a buffer, reduced step by step. The names of the steps are those of the paper.
private struct Stem {
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private(set) var count: Int
    /// The last 8 bytes as a number, the last one in its lowest bits.
    private var tail: UInt64

    init(bytes: UnsafeMutableBufferPointer<UInt8>, count: Int) {
        self.bytes = bytes
        self.count = count
        tail = 0
        readTail()
    }

    private mutating func readTail() {
        tail = 0
        for index in max(0, count - 8)..<count { tail = tail << 8 | UInt64(bytes[index]) }
    }

    mutating func reduce() {
        step1a()
        step1b()
        if last == UInt8(ascii: "y"), hasVowel(count - 1) { set(count - 1, "i") }
        replace(Self.step2) { $0.measure($1) > 0 }
        replace(Self.step3) { $0.measure($1) > 0 }
        replace(Self.step4) { stem, count in
            guard stem.measure(count) > 1 else { return false }
            return !stem.ends(with: Self.ion) || stem.bytes[count - 1] == UInt8(ascii: "s")
                || stem.bytes[count - 1] == UInt8(ascii: "t")
        }
        step5()
    }

    private mutating func step1a() {
        guard last == UInt8(ascii: "s") else { return }
        let before = bytes[count - 2]
        if before == UInt8(ascii: "e") {
            let isSses =
                count > 4 && bytes[count - 4] == UInt8(ascii: "s") && bytes[count - 3] == UInt8(ascii: "s")
            let isIes = count > 3 && bytes[count - 3] == UInt8(ascii: "i")
            shorten(by: isSses || isIes ? 2 : 1)
        } else if before != UInt8(ascii: "s") {
            shorten(by: 1)
        }
    }

    private mutating func step1b() {
        if ends(with: Self.eed) {
            if measure(count - 3) > 0 { shorten(by: 1) }
            return
        }
        let ending = ends(with: Self.ed) ? Self.ed : Self.ing
        guard ends(with: ending), hasVowel(count - ending.count) else { return }
        shorten(by: ending.count)
        if ends(with: Self.at) || ends(with: Self.bl) || ends(with: Self.iz) {
            set(count, "e")
        } else if isDoubled, last != UInt8(ascii: "l"), last != UInt8(ascii: "s"), last != UInt8(ascii: "z") {
            shorten(by: 1)
        } else if measure(count) == 1, endsWithShortSyllable(count) {
            set(count, "e")
        }
    }

    private mutating func step5() {
        if last == UInt8(ascii: "e") {
            let measure = measure(count - 1)
            if measure > 1 || measure == 1 && !endsWithShortSyllable(count - 1) { shorten(by: 1) }
        }
        if isDoubled, last == UInt8(ascii: "l"), measure(count - 1) > 1 { shorten(by: 1) }
    }

    /// Replaces the first of some endings, if the word before it meets a condition.
    private mutating func replace(_ endings: Endings, if condition: (Stem, Int) -> Bool) {
        guard endings.mayEnd(tail), let ending = endings.all.first(where: { ends(with: $0) }),
            condition(self, count - ending.count)
        else { return }
        count -= ending.count
        for byte in ending.new.utf8 {
            bytes[count] = byte
            count += 1
        }
        readTail()
    }

    private mutating func shorten(by number: Int) {
        count -= number
        readTail()
    }

    /// Sets the last byte, or appends it.
    private mutating func set(_ index: Int, _ byte: Unicode.Scalar) {
        bytes[index] = UInt8(ascii: byte)
        count = index + 1
        readTail()
    }

    // MARK: Conditions

    private var last: UInt8 { bytes[count - 1] }

    /// Whether a longer word ends with an ending.
    private func ends(with ending: Ending) -> Bool {
        tail & ending.mask == ending.old && count > ending.count
    }

    /// Whether the word ends with the same consonant twice.
    private var isDoubled: Bool {
        count > 1 && last == bytes[count - 2] && !isVowel(last, afterConsonant: false)
    }

    private func isVowel(_ byte: UInt8, afterConsonant: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a"), UInt8(ascii: "e"), UInt8(ascii: "i"), UInt8(ascii: "o"), UInt8(ascii: "u"): true
        case UInt8(ascii: "y"): afterConsonant
        default: false
        }
    }

    /// Returns the number of vowels followed by consonants in the first bytes, at most 2: `m` of the paper.
    private func measure(_ count: Int) -> Int {
        var (measure, isConsonant, hasVowel) = (0, false, false)
        for byte in bytes[..<count] {
            isConsonant = !isVowel(byte, afterConsonant: isConsonant)
            if !isConsonant {
                hasVowel = true
            } else if hasVowel {
                measure += 1
                if measure == 2 { return 2 }
                hasVowel = false
            }
        }
        return measure
    }

    private func hasVowel(_ count: Int) -> Bool {
        for index in 0..<count where isVowel(bytes[index], afterConsonant: index > 0) { return true }
        return false
    }

    /// Whether the first bytes end with a consonant, a vowel and a consonant other than `w`, `x` and `y`: `*o` of the paper.
    private func endsWithShortSyllable(_ count: Int) -> Bool {
        guard count > 0 else { return false }
        switch bytes[count - 1] {
        case UInt8(ascii: "w"), UInt8(ascii: "x"), UInt8(ascii: "y"): return false
        default: break
        }
        var (pattern, isConsonant) = (0, false)
        for byte in bytes[..<count] {
            isConsonant = !isVowel(byte, afterConsonant: isConsonant)
            pattern = (pattern << 1 | (isConsonant ? 1 : 0)) & 0b111
        }
        return pattern == 0b101
    }

    // MARK: Endings

    /// An ending and its replacement.
    private struct Ending {
        /// The bytes as a number, the last one in its lowest bits.
        let old: UInt64
        let mask: UInt64
        let count: Int
        let new: String

        init(_ old: String, _ new: String = "") {
            self.old = old.utf8.reduce(0) { $0 << 8 | UInt64($1) }
            count = old.utf8.count
            mask = 1 << (8 * UInt64(count)) - 1
            self.new = new
        }
    }

    /// The endings of a step, the longer ones first.
    private struct Endings {
        let all: [Ending]
        /// The last two letters of each ending. Most words end with others.
        private let pairs: [Bool]

        /// Creates endings from a list of words with a hyphen before the replacement.
        init(_ list: String) {
            all = list.split { $0.isWhitespace }.map { pair in
                let parts = pair.split(separator: "-", omittingEmptySubsequences: false)
                return Ending(String(parts[0]), String(parts[1]))
            }
            var pairs = [Bool](repeating: false, count: 1024)
            for ending in all { pairs[Self.pair(ending.old)] = true }
            self.pairs = pairs
        }

        /// Whether a word with some last bytes may have one of the endings.
        func mayEnd(_ tail: UInt64) -> Bool { pairs[Self.pair(tail)] }

        /// The last five bits of the last two letters.
        private static func pair(_ tail: UInt64) -> Int { Int(tail >> 3 & 0x3E0 | tail & 0x1F) }
    }

    private static let step2 = Endings(
        """
        ational-ate tional-tion enci-ence anci-ance izer-ize logi-log bli-ble alli-al entli-ent eli-e ousli-ous ization-ize
        ation-ate ator-ate alism-al iveness-ive fulness-ful ousness-ous aliti-al iviti-ive biliti-ble
        """)
    private static let step3 = Endings("icate-ic ative- alize-al iciti-ic ical-ic ful- ness-")
    private static let step4 = Endings(
        "al- ance- ence- er- ic- able- ible- ant- ement- ment- ent- ion- ou- ism- ate- iti- ous- ive- ize-")
    private static let (ion, eed, ed, ing) = (Ending("ion"), Ending("eed"), Ending("ed"), Ending("ing"))
    private static let (at, bl, iz) = (Ending("at"), Ending("bl"), Ending("iz"))
}
