import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Confidentiality and integrity") struct SecrecyTests {
    @Test("Logs and errors never contain message texts or IDs")
    func canary() async throws {
        let folder = try TemporaryFolder()
        let log = LogLines()
        let configuration = HistoryConfiguration(
            indexesInBackground: false, logger: log.logger)
        let history = SQLiteHistoryStore(directory: folder.url, configuration: configuration)
        let secret = Scope(userId: "canary-user", sessionId: "canary-session", agentId: "canary-agent")
        func message(_ number: Int) -> ConversationMessage {
            ConversationMessage(id: "canary-id-\(number)", role: .user, text: "canary-body \(number)")
        }
        let dropping = AppendOptions(sameRole: .drop)
        #expect(try await history.append([message(1), message(2)], to: secret, options: dropping).dropped == 1)
        _ = try await history.search(SearchQuery(userId: "canary-user", text: "canary-body \" OR NEAR("))
        // Faults that a test can cause: a failing statement, a lost file, a damaged file.
        func expectSilentFailure(_ body: () async throws -> Void) async {
            await #expect { try await body() } throws: { !"\($0)".contains("canary") }
        }
        await expectSilentFailure {
            try await history.write { db in
                try db.run(
                    "INSERT INTO scope (id, session_row_id, agent_id, window_start) VALUES (1, 1, ?, 0)",
                    "canary-agent")
            }
        }
        try FileManager.default.removeItem(at: folder.file("history.sqlite"))
        try await history.append([message(4)], to: secret)
        await history.close()
        for suffix in ["-wal", "-shm"] {
            try? FileManager.default.removeItem(at: folder.file("history.sqlite\(suffix)"))
        }
        try Data("canary-body, but no database".utf8).write(to: folder.file("history.sqlite"))
        try await history.append([message(5)], to: secret)

        let logged = log.all
        #expect(logged.contains { $0.contains(" droppedSameRole ") })
        #expect(logged.contains { $0.contains(" salvaged ") })
        #expect(!logged.contains { $0.contains("canary") }, "\(logged)")
    }

    @Test("Reading an attachment with changed bytes throws an error")
    func changedAttachment() async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        let picture = Attachment(mediaType: "a/b", content: .inline(Data([1, 2, 3])))
        try await history.append([ConversationMessage(role: .user, parts: [.attachment(picture)])], to: scope)
        let hash = Attachment.sha256(of: Data([1, 2, 3]))
        let file = folder.file("attachments/\(hash.prefix(2))/\(hash)")
        try Data([1, 2, 4]).write(to: file)
        await expectError(.damaged) { _ = try await history.attachment(sha256: hash, userId: "ann") }
        #expect(try await history.check().problems.map(\.kind) == ["attachmentDamaged"])
    }
}
