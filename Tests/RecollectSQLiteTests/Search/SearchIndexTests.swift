import Foundation
import GRDB
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectSQLite
@testable import RecollectSearch

@Suite("Search index")
struct SearchIndexTests {
    @Test("The index follows the change feed in steps and reports whether it is behind")
    func advance() throws {
        let history = try SearchedHistory()
        func isBehind() throws -> Bool { try history.database.read { try SearchIndex.isBehind($0) } }
        #expect(try !isBehind())
        for index in 0..<5 { try history.add("word \(index)") }
        #expect(try isBehind())
        #expect(try history.database.write { try SearchIndex.advance($0, limit: 2) })
        #expect(
            try history.database.read { try SearchIndex.search($0, SearchQuery(userId: "u", text: "word")) }.elements
                .count == 2)
        #expect(try history.database.write { try SearchIndex.advance($0, limit: 2) })
        #expect(try !history.database.write { try SearchIndex.advance($0, limit: 2) })
        #expect(try !isBehind())
        #expect(try !history.database.write { try SearchIndex.advance($0, limit: 2) })
        #expect(try history.ids("word").count == 5)
    }

    @Test("A step that is rolled back is repeated")
    func rollback() throws {
        struct Stop: Error {}
        let history = try SearchedHistory()
        try history.add("word")
        #expect(throws: Stop.self) {
            try history.database.write { db in
                _ = try SearchIndex.advance(db, limit: 10)
                throw Stop()
            }
        }
        #expect(try history.ids("word").count == 1)
    }

    @Test("An index of another version is rebuilt, and one of this version is left unchanged")
    func prepare() throws {
        let history = try SearchedHistory()
        try history.add("word")
        try history.index()
        try history.database.write { try SearchIndex.prepare($0) }
        #expect(try history.database.read { try !SearchIndex.isBehind($0) })
        try history.database.write { db in
            try db.execute(sql: "UPDATE search_state SET version = version - 1")
            try SearchIndex.prepare(db)
        }
        #expect(try history.database.read { try SearchIndex.isBehind($0) })
        #expect(try history.ids("word").count == 1)
        try history.database.write { db in
            try db.execute(sql: "DROP TABLE message_search")
            try SearchIndex.prepare(db)
        }
        #expect(try history.ids("word").count == 1)
    }

    @Test("A removed message is found by none of its terms, whether it was indexed or not")
    func remove() throws {
        let history = try SearchedHistory()
        let texts = ["fetchAllChats café 你好世界 🎉", "word", "word fetchAllChats"]
        let sequences = try texts.map { try history.add($0) }
        try history.index()
        let late = try history.add("word late")
        try history.delete([sequences[0], sequences[1], late, 999])
        for word in ["fetch", "all", "chats", "fetchallchats", "cafe", "你好", "世", "🎉", "word", "late"] {
            #expect(
                try history.hits(word).count
                    == (texts[2].contains(word) || ["fetch", "all", "chats", "fetchallchats"].contains(word) ? 1 : 0),
                "\(word)")
        }
        let count = try history.database.read {
            try $0.integer("SELECT count(*) FROM message_search WHERE message_search MATCH ?", FilterTokens.user("u"))
        }
        #expect(count == 1, "the tokens of the user are removed, too")
    }

    @Test("After erasing, no file contains a word of a removed message")
    func erase() throws {
        let history = try SearchedHistory()
        for index in 0..<300 { try history.add("filler \(index) ordinary words", id: "\(index)") }
        let sequence = try history.add("quetzalcoatl XylophoneConcert 鯨鯢", id: "secret")
        for index in 300..<600 { try history.add("filler \(index) ordinary words", id: "\(index)") }
        try history.index(atOnce: 37)
        let words = ["quetzalcoatl", "xylophone", "concert", "鯨鯢"]
        try history.delete([sequence])
        // FTS5 leaves them in its pages. Without this condition, the test could not fail.
        #expect(try words.contains { try history.filesContain($0) })
        try history.database.write { try Eraser.noteRemoval($0) }
        while try history.database.read({ try Eraser.isPending(.index, $0) }) {
            #expect(try history.database.write { try SearchIndex.eraseStep(pages: 1, $0) })
        }
        for word in words { #expect(try !history.filesContain(word), "\(word)") }
        #expect(try history.ids("ordinary", limit: 1000).count == 600)
    }

    @Test("Any program with SQLite can read the index")
    func plain() throws {
        let history = try SearchedHistory()
        try history.add("WebSocketTask 你好")
        try history.index()
        let plain = try DatabaseQueue(path: history.database.path)
        let count = try plain.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM message_search WHERE message_search MATCH 'socket AND 你好'")
        }
        #expect(count == 1)
    }

    @Test(
        "A range of dates becomes a few tokens that cover the range and little else",
        arguments: [
            (0...0), (0...(1 << 41)), (Int64.min...(.max)), (1_700_000_000_000...1_700_600_000_000), ((-5)...(1 << 50)),
        ] as [ClosedRange<Int64>])
    func times(range: ClosedRange<Int64>) async {
        await Seeds.run(4) { seed in
            let tokens = Set(FilterTokens.times(range))
            #expect(tokens.count <= 126)
            var random = SeededGenerator(seed: seed)
            func isCovered(_ timestamp: Int64) -> Bool {
                let tokensOfMessage = FilterTokens.tokens(role: "", timestamp: timestamp).split(separator: " ")
                return tokensOfMessage.contains { tokens.contains(String($0)) }
            }
            for _ in 0..<200 {
                let timestamp = Int64.random(in: range, using: &random)
                #expect(isCovered(timestamp), "\(timestamp)")
            }
            if range.upperBound < 1 << 41 { #expect(!isCovered(range.upperBound + 1 << 32)) }
        }
    }
}
