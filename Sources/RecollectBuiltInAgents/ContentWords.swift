import Foundation

/// The topic of a question: its quoted phrases, and its words without those common to all questions.
///
/// Supports English, German, French, Spanish and Chinese; in other languages, all words count.
struct ContentWords: Equatable {
    /// The words and phrases in order, each once.
    private(set) var words: [String] = []

    init(_ text: String) {
        var rest = text
        for quotation in text.matches(of: /"([^"]+)"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|「([^「」]+)」/) {
            let inside = quotation.1 ?? quotation.2 ?? quotation.3 ?? quotation.4 ?? quotation.5 ?? ""
            add("\"\(inside)\"")
            rest = rest.replacingOccurrences(of: String(quotation.0), with: " ")
        }
        for phrase in Self.unspaced { rest = rest.replacingOccurrences(of: phrase, with: " ") }
        for piece in rest.split(whereSeparator: \.isWhitespace) {
            let word = Self.bare(piece)
            if !word.isEmpty, !Self.functionWords.contains(word.lowercased()) { add(word) }
        }
    }

    /// The words for a reply: “reading” and “Friday”.
    var spoken: String {
        let quoted = words.map { "“\($0.replacingOccurrences(of: "\"", with: ""))”" }
        return quoted.count < 2
            ? quoted.joined() : quoted.dropLast().joined(separator: ", ") + " and " + quoted[quoted.count - 1]
    }

    /// The words without the quotation marks used in searches.
    var plain: [String] { words.map { $0.replacingOccurrences(of: "\"", with: "") } }

    private mutating func add(_ word: String) {
        if !words.contains(word) { words.append(word) }
    }

    /// Returns a word without surrounding punctuation and without an elided French article or pronoun.
    private static func bare(_ piece: Substring) -> String {
        var word = piece.drop { !$0.isLetter && !$0.isNumber }
        if let article = word.prefixMatch(of: /(?i)(?:[ldjmtsn]|qu)['’]/) { word = word[article.range.upperBound...] }
        return word.lastIndex { $0.isLetter || $0.isNumber }.map { String(word[...$0]) } ?? ""
    }

    private static let functionWords = english.union(german).union(french).union(spanish)

    private static let english = set(
        """
        a about again all also am an and any anything are as asked at be been before but by can chat conversation conversations could did \
        discuss discussed do does earlier entry ever find for from had has have hello here hey hi history how i in is it its it's \
        last know list look me mention mentioned more my note noted notes of off on or our out please remember said say saying \
        search session show so something talk talked tell that the their them then there these they thing things this to told us was we \
        were what what's whats when where which who whose why will with would write wrote you your
        """)

    private static let german = set(
        """
        letzte letzten letzter alles am an auch auf aus bei bitte damals das dass dem den der des die diese diesem doch du ein eine einem einen \
        einer es etwas für gab gesagt geschrieben gesprochen habe haben hast hat hatte hatten ich im in ist ja kannst mal man mein \
        mehr meine mir mit nach noch notiert notiz notizen oder sagte sagten sind so suche such über um und uns von vor wann war \
        waren warum was welche wer wie wir wo worüber zeig zeige zu zum zur
        """)

    private static let french = set(
        """
        ai as au aux avais avait avez avons ce cela ces cette conversation c'est dans de des dit dire du elle en est et été il ils \
        je la le les leur ma mes moi mon montre ne nos note noté notes nous on ou où par parlé pas pour quand que quel quelle quels qui \
        quoi sa se ses son sont sur ta te tu un une vous y \
        dernier dernière dernières est-ce est-il
        """)

    private static let spanish = set(
        """
        al algo apunté con cuál cuáles cuándo cuando de del dice dicho dije dijimos dijiste dijo donde dónde el ella en era es \
        esa ese esta este fue ha hablamos hablé hace he hemos la las lo los me mi mis muestra no nosotros nota notas o para pasado pero por \
        qué que quién quien se sobre su sus te tu un una y ya yo anoté última últimas último
        """)

    private static func set(_ words: String) -> Set<String> {
        Set(words.split(whereSeparator: \.isWhitespace).map(String.init))
    }

    /// Chinese phrases around the topic of a question. A longer phrase comes before those contained in it.
    private static let unspaced = [
        "上一条", "最后一条", "笔记", "我们", "你们", "他们", "说了什么", "说过什么", "谈了什么", "聊了什么", "提到过", "提到了", "提到", "说过", "聊过", "谈过",
        "讨论过",
        "记了什么", "记过", "是什么时候", "什么时候", "什么", "关于", "有没有", "谁说的", "谁说", "请问", "请", "我", "你", "吗", "呢", "的", "了", "？",
        "。", "，",
    ]
}
