import GRDB
import RecollectTestSupport
import Testing

@testable import RecollectSearch

@Suite("Stems of words")
struct StemmerTests {
    private static let endings = """
        s es ed ing eed ies sses ational tional enci anci izer logi bli alli entli eli ousli ization ation ator alism iveness
        fulness ousness aliti iviti biliti icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent
        ion sion tion ou ism ate iti ous ive ize y ey e ll le ying led
        """.split(whereSeparator: \.isWhitespace).map(String.init)

    /// Words with many endings, and others of random letters.
    private static func words() -> [String] {
        var generator = SeededGenerator(seed: 5)
        let letters = Array("aeiouybcdlstwxzrn")
        return (0..<20_000).map { number in
            let length =
                number % 100 == 0
                ? Int.random(in: 55...70, using: &generator) : Int.random(in: 1...7, using: &generator)
            let beginning = String((0..<length).compactMap { _ in letters.randomElement(using: &generator) })
            let count = Int.random(in: 0...2, using: &generator)
            return beginning + (0..<count).compactMap { _ in endings.randomElement(using: &generator) }.joined()
        } + [
            "running", "runs", "history", "histories", "message", "messages", "agreed", "hopping", "hoping", "falling",
            "controll",
        ]
    }

    @Test("A word has the stem that SQLite's tokenizer has for it")
    func sameAsSQLite() throws {
        let words = Self.words()
        let queue = try DatabaseQueue()
        let expected = try queue.write { db in
            try db.execute(sql: "CREATE VIRTUAL TABLE words USING fts5(word, tokenize = 'porter ascii')")
            for (number, word) in words.enumerated() {
                try db.execute(sql: "INSERT INTO words (rowid, word) VALUES (?, ?)", arguments: [number, word])
            }
            try db.execute(sql: "CREATE VIRTUAL TABLE terms USING fts5vocab(words, instance)")
            return try String.fetchAll(db, sql: "SELECT term FROM terms ORDER BY doc")
        }
        let stemmer = Stemmer()
        let stems = words.map { String(decoding: stemmer.stem(of: Array($0.utf8)), as: UTF8.self) }
        #expect(expected.count == words.count)
        for (word, (stem, expected)) in zip(words, zip(stems, expected)) where stem != expected {
            Issue.record("\(word): \(stem), expected \(expected)")
        }
    }

    @Test("Words with digits and of other scripts stay whole, and separators are no part of a word")
    func otherWords() {
        let text = Array("running2 runs über-läuft cats,dogs _rrunning RUNS ab as".utf8)
        var found: [String] = []
        text.withUnsafeBufferPointer { text in
            Stemmer().forEachStem(in: text) { stem, word in
                found.append("\(String(decoding: word, as: UTF8.self)) \(String(decoding: stem, as: UTF8.self))")
            }
        }
        #expect(found == ["runs run", "cats cat", "dogs dog", "rrunning rrun"])
    }
}
