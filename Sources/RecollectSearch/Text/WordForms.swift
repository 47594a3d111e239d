/// The matching forms of an English word.
struct WordForms {
    /// The stem of the word, then that of its basic form if this is another one.
    let stems: [[UInt8]]
    /// The irregular forms, and for a word in no message the longer words beginning with it.
    let words: [[UInt8]]
    /// The terms of the index for all forms.
    let terms: [[UInt8]]

    /// Creates the forms of a folded word of ASCII letters.
    init(of word: [UInt8], _ stemmer: Stemmer) {
        let irregular = IrregularForms(word)
        let (own, base) = (stemmer.stem(of: word), irregular.map { stemmer.stem(of: $0.base) })
        stems = [own] + [base].compactMap { $0 == own ? nil : $0 }
        words = irregular?.words ?? []
        terms = stems.flatMap { SearchDocument.terms(ofStem: $0, stemmer) } + words
    }

    /// Creates the forms of a word in no message.
    /// - Parameter longerWords: Words beginning with it.
    init(longerWords: [[UInt8]]) {
        (stems, words, terms) = ([], longerWords, longerWords)
    }
}

/// The irregular forms of common English words, without a common stem: `went` and `gone` of `go`, `children` of `child`.
///
/// Forms that are more often another word are left out, such as `bit` (of `bite`) and `rose` (of `rise`).
private struct IrregularForms {
    /// The basic form.
    let base: [UInt8]
    let words: [[UInt8]]

    /// Creates the forms of a folded word: of a basic form, one of its regular forms (`going`, `goes`), or an irregular one.
    init?(_ word: [UInt8]) {
        let word = String(decoding: word, as: UTF8.self)
        let basicForms = Self.basicForms(ofRegular: word).lazy.compactMap { base in
            Self.indices[base].map { Self.groups[$0] }.flatMap { $0[0] == base ? $0 : nil }
        }
        guard let group = Self.indices[word].map({ Self.groups[$0] }) ?? basicForms.first else { return nil }
        base = Array(group[0].utf8)
        words = group.dropFirst().map { Array($0.utf8) }
    }

    /// Returns the possible basic forms of a regular form.
    private static func basicForms(ofRegular word: String) -> [String] {
        var candidates: [String] = []
        if word.hasSuffix("ing") {
            let rest = String(word.dropLast(3))
            candidates += [rest, rest + "e"]
            if let last = rest.last, rest.dropLast().last == last { candidates.append(String(rest.dropLast())) }
        } else if word.hasSuffix("s") {
            candidates.append(String(word.dropLast()))
            if ["ses", "xes", "zes", "ches", "shes", "oes"].contains(where: word.hasSuffix) {
                candidates.append(String(word.dropLast(2)))
            }
        }
        return candidates
    }

    private static let groups = (verbs + "," + nouns).split(separator: ",").map { group in
        group.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    private static let indices = Dictionary(
        groups.enumerated().flatMap { index, group in group.map { ($0, index) } },
        uniquingKeysWith: { first, _ in first })

    private static let verbs = """
        arise arose arisen, awake awoke awoken, beat beaten, become became, begin began begun, bend bent, bite bitten, bleed
        bled, blow blew blown, break broke broken, breed bred, bring brought, build built, burn burnt, buy bought, catch
        caught, choose chose chosen, cling clung, come came, creep crept, deal dealt, dig dug, draw drew drawn, dream dreamt,
        drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt, fight fought, find found,
        flee fled, fly flew flown, forbid forbade forbidden, forget forgot forgotten, forgive forgave forgiven, freeze froze
        frozen, get got gotten, give gave given, go goes went gone, grow grew grown, hang hung, hear heard, hide hid hidden, hold
        held, keep kept, kneel knelt, know knew known, lead led, learn learnt, leave left, lend lent, lose lost, make made,
        mean meant, meet met, mistake mistook mistaken, overcome overcame, overwrite overwrote overwritten, pay paid, prove
        proven, rebuild rebuilt, rerun reran, rewrite rewrote rewritten, ride rode ridden, ring rang rung, rise risen, run ran,
        say said, see saw seen, seek sought, sell sold, send sent, shake shook shaken, shoot shot, show shown, shrink shrank
        shrunk, sing sang sung, sink sank sunk, sit sat, sleep slept, slide slid, speak spoke spoken, speed sped, spend spent,
        spin spun, stand stood, steal stole stolen, stick stuck, sting stung, strike struck, strive strove, swear swore sworn,
        sweep swept, swim swam swum, swing swung, take took taken, teach taught, tear tore torn, tell told, think thought,
        throw threw thrown, understand understood, undo undoes undid undone, wake woke woken, wear wore worn, weave wove woven, weep
        wept, win won, withdraw withdrew withdrawn, write wrote written
        """
    private static let nouns = """
        analysis analyses, appendix appendices, child children, crisis crises, criterion criteria, foot feet, goose geese, half
        halves, hypothesis hypotheses, index indices, knife knives, life lives, loaf loaves, man men, matrix matrices, mouse
        mice, person people, phenomenon phenomena, scarf scarves, shelf shelves, thesis theses, thief thieves, tooth teeth,
        vertex vertices, wife wives, wolf wolves, woman women
        """
}
