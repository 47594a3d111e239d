import Foundation
import GRDB
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Damage to data that can be rebuilt.
@Suite("Damaged derived data") struct DerivedDamageTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func expectNothingSetAside(_ history: SQLiteHistoryStore) async throws {
        #expect(try await history.check().problems.isEmpty)
        #expect(try await history.losses().isEmpty)
        #expect(try !folder.names.contains { $0.hasPrefix("history.damaged-") })
    }

    @Test("A damaged search index is reported, and a repair rebuilds it in place")
    func searchIndex() async throws {
        let history = folder.history()
        try await history.append(messages(0..<500), to: scope)
        _ = try await history.search(SearchQuery(userId: "ann", text: "text"))
        try await history.write { db in
            try db.run("UPDATE message_search_data SET block = zeroblob(length(block)) WHERE id > 10")
        }
        await history.close()
        #expect(try await history.check().problems.map(\.kind) == ["searchIndex"])
        try await history.repair()
        try await expectNothingSetAside(history)
        let found = try await history.search(SearchQuery(userId: "ann", text: "text"))
        #expect(found.elements.count > 1)
    }

    @Test("A search in a damaged index rebuilds the index and returns results")
    func search() async throws {
        let history = folder.history()
        try await history.append(messages(0..<500), to: scope)
        _ = try await history.search(SearchQuery(userId: "ann", text: "text"))
        // The structure record of the index. Every use of the index reads it and finds the damage.
        try await history.write {
            try $0.run("UPDATE message_search_data SET block = x'FFFFFFFFFFFFFFFF' WHERE id = 10")
        }
        await history.close()
        let found = try await history.search(SearchQuery(userId: "ann", text: "text"))
        #expect(found.elements.count > 1)
        #expect(history.events.takeUndelivered().map(\.kind) == [.rebuiltIndex])
        try await expectNothingSetAside(history)
    }

    @Test("Indexes, counts and IDs that contradict the messages are rebuilt")
    func derived() async throws {
        let history = folder.history()
        try await history.append(messages(0..<20), to: scope)
        _ = try await history.session(scope.session)
        try await history.write { db in
            try db.run("UPDATE session SET message_count = 3")
            try db.run("DELETE FROM message_id WHERE message_id = 'm3'")
        }
        await history.close()
        let queue = try DatabaseQueue(path: folder.file("history.sqlite").path)
        let page = try await queue.read { db in
            try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'session_by_access'")
        }
        try queue.close()
        var bytes = try Data(contentsOf: folder.file("history.sqlite"))
        let start = try #require(page.map { ($0 - 1) * 4096 })
        let name = try #require(bytes.range(of: Data("ann".utf8), in: start..<start + 4096))
        bytes.replaceSubrange(name, with: Data("anm".utf8))
        try bytes.write(to: folder.file("history.sqlite"))
        let kinds = Set(try await history.check().problems.map(\.kind))
        #expect(kinds == ["integrity", "messageCount", "messageId"])
        try await history.repair()
        try await expectNothingSetAside(history)
    }

    @Test("Foreign files among the attachments are ignored and stay")
    func strayFiles() async throws {
        let history = folder.history()
        let picture = Attachment(mediaType: "a/b", content: .inline(Data([1])))
        try await history.append([ConversationMessage(role: .user, parts: [.attachment(picture)])], to: scope)
        for name in ["attachments/.DS_Store", "attachments/notes.txt", "attachments/zz"] {
            try Data([1]).write(to: folder.file(name))
        }
        let report = try await history.check()
        #expect(report.problems.isEmpty)
        #expect(report.attachmentCount == 1)
        try await history.repair()
        #expect(FileManager.default.fileExists(atPath: folder.file("attachments/zz").path))
    }
}
