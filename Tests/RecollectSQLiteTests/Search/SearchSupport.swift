import Foundation
import GRDB
import RecollectCore
import RecollectTestSupport

@testable import RecollectSQLite
@testable import RecollectSearch

/// Collects the terms of a string.
struct Terms: SearchTermReader {
    struct Term {
        let text: String
        let range: Range<Int>
        var isPart = false
        var isCharacter = false
        var isAlone = false

        func source(in text: String) -> String {
            String(decoding: Array(text.utf8)[range], as: UTF8.self)
        }
    }

    private(set) var all: [Term] = []
    var isFinished: Bool { false }

    static func of(_ text: String) -> [Term] {
        var terms = Terms()
        Tokenizer.read(text, into: &terms)
        return terms.all
    }

    /// Words and pairs in order, the `(parts)` of a word after it, then `[characters]`, isolated ones with `!`.
    static func described(_ text: String) -> String {
        var words: [String] = []
        var parts: [String] = []
        var characters: [String] = []
        func closeParts() {
            if !parts.isEmpty { words.append("(" + parts.joined(separator: " ") + ")") }
            parts = []
        }
        for term in of(text) {
            if term.isPart {
                parts.append(term.text)
            } else if term.isCharacter {
                characters.append(term.text + (term.isAlone ? "!" : ""))
            } else {
                closeParts()
                words.append(term.text)
            }
        }
        closeParts()
        if !characters.isEmpty { words.append("[" + characters.joined(separator: " ") + "]") }
        return words.joined(separator: " ")
    }

    mutating func word(_ term: SearchTerm) { all.append(make(term)) }
    mutating func pair(_ term: SearchTerm) { all.append(make(term)) }
    mutating func part(_ term: SearchTerm, isFirst: Bool) {
        var term = make(term)
        term.isPart = true
        all.append(term)
    }
    mutating func character(_ term: SearchTerm, isAlone: Bool) {
        var term = make(term)
        term.isCharacter = true
        term.isAlone = isAlone
        all.append(term)
    }
    private func make(_ term: SearchTerm) -> Term {
        Term(text: String(decoding: term.bytes, as: UTF8.self), range: term.source)
    }
}

extension SeededGenerator {
    /// Random text with all kinds of characters that search treats differently.
    mutating func text(scalars count: Int) -> String {
        let ranges: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0x20...0x7E, 0x61...0x7A, 0x41...0x5A, 0...0x1F, 0xA0...0x24F, 0x300...0x36F, 0x370...0x52F,
            0x590...0x6FF, 0x900...0x97F, 0xE00...0xE7F, 0x1100...0x11FF, 0x2000...0x206F, 0x2100...0x214F,
            0x3000...0x30FF, 0x4E00...0x4E40, 0xAC00...0xAC40, 0xFB00...0xFB4F, 0xFF00...0xFFEF, 0x1F300...0x1F64F,
            0x20000...0x20020,
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...count, using: &self) {
            let range = ranges.randomElement(using: &self) ?? 0x20...0x7E
            if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &self)) { text.append(scalar) }
        }
        return String(text)
    }
}

/// A history with its search index, written row by row. The engine is tested elsewhere.
final class SearchedHistory {
    let folder: URL
    let database: DatabasePool

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("search-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA secure_delete = ON")
        }
        database = try DatabasePool(
            path: folder.appendingPathComponent("history.sqlite").path, configuration: configuration)
        // These tests do not depend on durability.
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        try Schema.migrator.migrate(database)
        try database.write { try SearchIndex.prepare($0) }
    }

    deinit {
        try? database.close()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Adds a message, by default to the session "s" of the user "u", and returns its sequence number.
    /// - Parameter name: The author's name in the metadata.
    @discardableResult
    func add(
        _ text: String, id: String = UUID().uuidString, user: String = "u", session: String = "s", agent: String = "a",
        role: Role = .user, name: String? = nil, at milliseconds: Int64 = 1_700_000_000_000
    ) throws -> Int64 {
        try add(
            .text(text), id: id, user: user, session: session, agent: agent, role: role, name: name, at: milliseconds)
    }

    enum Body {
        case text(String)
        case parts([ContentPart])
    }

    @discardableResult
    func add(
        _ body: Body, id: String = UUID().uuidString, user: String = "u", session: String = "s", agent: String = "a",
        role: Role = .user, name: String? = nil, at milliseconds: Int64 = 1_700_000_000_000
    ) throws -> Int64 {
        try database.write { db in
            try db.run(
                "INSERT OR IGNORE INTO session (user_id, session_id, created_at, last_activity, message_count) VALUES (?, ?, 0, 0, 0)",
                user, session)
            let session = try db.integer(
                "SELECT id FROM session WHERE user_id = ? AND session_id = ?", user, session)
            try db.run(
                "INSERT OR IGNORE INTO scope (session_row_id, agent_id, window_start) VALUES (?, ?, 0)", session,
                agent)
            let scope = try db.integer(
                "SELECT id FROM scope WHERE session_row_id = ? AND agent_id = ?", session, agent)
            let sequence = (try db.integer("SELECT max(sequence) FROM message") ?? 0) + 1
            var text: String?
            var parts: String?
            switch body {
            case .text(let prose): text = prose
            case .parts(let list): parts = ContentPart.write(list: list)
            }
            try db.run(
                """
                INSERT INTO message
                (sequence, session_row_id, scope_row_id, position, timestamp, role, message_id, metadata, text, parts)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, sequence, session, scope, sequence, milliseconds, role.rawValue, id,
                name.map { JSONValue.write(object: ["name": .string($0)]) }, text, parts)
            return sequence
        }
    }

    func index(atOnce limit: Int = 1000) throws {
        while try database.write({ try SearchIndex.advance($0, limit: limit) }) {}
    }

    /// Indexes and searches.
    func search(_ query: SearchQuery) throws -> Page<SearchHit, SearchCursor> {
        try index()
        return try database.read { try SearchIndex.search($0, query) }
    }

    func hits(_ text: String, user: String = "u", limit: Int = 20) throws -> [SearchHit] {
        try search(SearchQuery(userId: user, text: text, limit: limit)).elements
    }

    func ids(_ text: String, user: String = "u", limit: Int = 20) throws -> [String] {
        try hits(text, user: user, limit: limit).map(\.messageId)
    }

    /// Removes messages from the index and then their rows.
    func delete(_ numbers: [Int64]) throws {
        try database.write { db in
            let sequences = numbers.map(SequenceNumber.init(rawValue:))
            try SearchIndex.remove(db, sequences: sequences)
            for sequence in sequences { try db.run("DELETE FROM message WHERE sequence = ?", sequence) }
        }
    }

    /// Whether any file contains a word, after a checkpoint that truncates the log.
    func filesContain(_ word: String) throws -> Bool {
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).contains {
            try Data(contentsOf: $0).range(of: Data(word.utf8)) != nil
        }
    }
}
