import Foundation
import GRDB
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Damage to the pages of the schema. They contain no messages, so no message is lost.
@Suite("Schema damage", .needs(.time)) struct SchemaDamageTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("A flipped bit in the schema costs no data", arguments: 0..<8)
    func bits(seed: Int) async throws {
        let bytes = try await history()
        let pages = stride(from: 0, to: bytes.count, by: 4096).filter { start in
            bytes[start + (start == 0 ? 100 : 0)] == 13
                && bytes[start..<start + 4096].range(of: Data("CREATE ".utf8)) != nil
        }
        #expect(pages.count > 1)
        var generator = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<8 {
            let page = try #require(pages.randomElement(using: &generator))
            let position = Int.random(in: (page == 0 ? 100 : page)..<page + 4096, using: &generator)
            try await expectWhole(bytes, bit: UInt8.random(in: 0..<8, using: &generator), of: position)
        }
    }

    @Test(
        "A flipped bit in the name of a function, collation, column or table costs no data",
        arguments: [
            "coalesce(", "COLLATE NOCASE", "version INTEGER", "working_directory", "branch_after", "TABLE clock",
        ])
    func names(text: String) async throws {
        let bytes = try await history()
        let position = try #require(bytes.range(of: Data(text.utf8)))
        for offset in 0..<text.utf8.count where offset.isMultiple(of: 3) {
            try await expectWhole(bytes, bit: 1, of: position.upperBound - 1 - offset)
        }
    }

    @Test(
        "A flipped bit in the root page number of a table costs no data",
        arguments: ["TABLE session ", "TABLE scope", "TABLE message ", "TABLE derived_data", "TABLE streaming_reply"])
    func roots(text: String) async throws {
        let bytes = try await history()
        // The number of the root page is stored before the text.
        let position = try #require(bytes.range(of: Data("CREATE \(text)".utf8))).lowerBound - 1
        for bit: UInt8 in 0..<7 { try await expectWhole(bytes, bit: bit, of: position) }
    }

    @Test(
        "Damaged settings of the search index are rebuilt, and no file is set aside",
        arguments: [
            "UPDATE message_search_config SET v = 132 WHERE k = 'version'",
            "UPDATE message_search_config SET k = 'versiom' WHERE k = 'version'",
            "UPDATE search_state SET version = 129", "UPDATE search_state SET version = 0",
        ])
    func searchSettings(update: String) async throws {
        _ = try await history()
        let program = try DatabaseQueue(path: folder.file("history.sqlite").path)
        try await program.write { try $0.execute(sql: update) }
        try program.close()
        let store = folder.history()
        try await store.append(messages(40..<60), to: scope)
        let other = Scope(userId: "ann", sessionId: "t", agentId: "a")
        try await store.append(messages(0..<20, prefix: "other"), to: other)
        try await store.deleteSession(other.session)
        try await store.waitUntilErased()
        try await store.deleteMessages(["m0", "m41"], in: scope.session)
        #expect(try await store.search(SearchQuery(userId: "ann", text: "text", limit: 100)).elements.count == 58)
        try await store.waitUntilErased()
        #expect(try await store.check().problems.isEmpty)
        #expect(!store.events.takeUndelivered().map(\.kind).contains(.salvaged))
    }

    @Test(
        "An index entry pointing to another user's session affects neither reads nor saves",
        arguments: 0..<5)
    func misledIndex(how: Int) async throws {
        let store = folder.history()
        let all = [("a", "s0"), ("v", "s2"), ("u", "s1")].map { user, session in
            Scope(userId: user, sessionId: session, agentId: "agent")
        }
        for scope in all { try await store.append(messages(0..<6, prefix: scope.userId), to: scope) }
        await store.close()
        var bytes = try Data(contentsOf: folder.file("history.sqlite"))
        // The entry of the unique index: user ID, session ID and row number.
        let entry = try #require(bytes.range(of: Data("us1".utf8 + [3])))
        bytes[entry.upperBound - 1] = 2
        try bytes.write(to: folder.file("history.sqlite"))
        let damaged = folder.history()
        let (id, last) = (all[2].session, try #require(all.last))
        switch how {
        case 0: #expect(try await damaged.window(of: last, maxMessages: nil) == messages(0..<6, prefix: "u"))
        case 1:
            let page = try await damaged.messages(of: id, agentId: nil, page: PageRequest(limit: 10))
            #expect(page.elements.map(\.message) == messages(0..<6, prefix: "u"))
        case 2: try await damaged.append(messages(6..<8, prefix: "u"), to: last)
        case 3: #expect(try await damaged.session(id)?.messageCount == 6)
        default: #expect(try await damaged.windows(of: id).first?.messages == messages(0..<6, prefix: "u"))
        }
        if how != 2 { try await damaged.append(messages(6..<8, prefix: "u"), to: last) }
        for (scope, count) in zip(all, [6, 6, 8]) {
            #expect(
                try await damaged.window(of: scope, maxMessages: nil) == messages(0..<count, prefix: scope.userId))
        }
        #expect(try await damaged.check().problems.isEmpty)
    }

    @Test(
        "A check finds rows with a wrong owner or window start, and a repair corrects them",
        arguments: [
            "UPDATE message SET session_row_id = 3 WHERE sequence = 4",
            "UPDATE scope SET window_start = window_start + (1 << 40)",
        ])
    func owners(update: String) async throws {
        _ = try await history()
        let store = folder.history()
        try await store.write { try $0.run(update) }
        #expect(try await !store.check().problems.isEmpty)
        try await store.repair()
        #expect(try await store.check().problems.isEmpty)
        #expect(try await store.window(of: scope, maxMessages: nil) == messages(0..<40))
        let found = try await store.search(SearchQuery(userId: "ann", text: "text", limit: 100))
        #expect(found.elements.count == 40)
    }

    @Test("VACUUM by another program moves root pages and is not damage")
    func vacuum() async throws {
        _ = try await history()
        let other = try DatabaseQueue(path: folder.file("history.sqlite").path)
        try await other.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
        try other.close()
        let store = folder.history()
        #expect(try await store.window(of: scope, maxMessages: nil) == messages(0..<40))
        #expect(store.events.takeUndelivered().isEmpty)
        #expect(try await store.read(SchemaChecksum.matchesStored))
    }

    @Test("A flipped bit in the identifier of a migration costs no data", arguments: Schema.identifiers)
    func migration(id: String) async throws {
        let bytes = try await history()
        let position = try #require(bytes.range(of: Data(id.utf8)))
        for bit: UInt8 in 0..<8 {
            try await expectWhole(bytes, bit: bit, of: position.upperBound - 2)
        }
    }

    @Test("A flipped bit in the application ID costs no data", arguments: 68..<72)
    func applicationID(position: Int) async throws {
        try await expectWhole(history(), bit: 3, of: position)
    }

    @Test("A flipped bit in the format fields of the header costs no data", arguments: [18, 19, 21, 22, 23, 44, 47])
    func formats(position: Int) async throws {
        let bytes = try await history()
        for bit in UInt8(2)..<7 { try await expectWhole(bytes, bit: bit, of: position) }
    }

    @Test("An added table is not schema damage, but a missing index is")
    func sound() async throws {
        _ = try await history()
        let store = folder.history()
        #expect(try await store.read(SchemaChecksum.matchesStored))
        #expect(try await !store.read(Schema.isDamaged))
        try await store.write { try $0.run("CREATE TABLE other_program (id INTEGER)") }
        #expect(try await !store.read(Schema.isDamaged))
        try await store.write { try $0.run("DROP INDEX session_unread") }
        #expect(try await store.read(Schema.isDamaged))
    }

    /// The database file of a closed history.
    private func history() async throws -> Data {
        let store = folder.history()
        try await store.append(messages(0..<40), to: scope)
        _ = try await store.search(SearchQuery(userId: "ann", text: "text"))
        await store.close()
        return try Data(contentsOf: folder.file("history.sqlite"))
    }

    private func expectWhole(_ bytes: Data, bit: UInt8, of position: Int) async throws {
        var damaged = bytes
        damaged[position] ^= 1 << bit
        let copy = try TemporaryFolder()
        try damaged.write(to: copy.file("history.sqlite"))
        try Data().write(to: copy.file("history.lock"))
        let store = copy.history()
        do {
            let page = try await store.messages(
                of: scope.session, agentId: nil, page: PageRequest(limit: 100))
            #expect(page.elements.map(\.message) == messages(0..<40))
            #expect(try await store.sessions(of: "ann", page: PageRequest(limit: 10)).elements.count == 1)
            try await store.append(messages(40..<41), to: scope)
            try await store.repair()
            #expect(try await store.check().problems.isEmpty)
            #expect(try await store.window(of: scope, maxMessages: nil).count == 41)
        } catch {
            Issue.record("bit \(bit) of byte \(position): \(error)")
        }
    }
}
