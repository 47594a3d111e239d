import Foundation
import GRDB
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Checksums of messages, and reports of messages with wrong checksums.
@Suite("Checksums") struct ChecksumTests {
    @Test(
        "The hash is XXH64",
        arguments: [
            ("", 0xEF46_DB37_51D8_E999), ("a", 0xD24E_C4F1_A98C_6E5B), ("abc", 0x44BC_2CF5_AD77_0999),
            ("Nobody inspects the spammish repetition", 0xFBCE_A83C_8A37_8BF1),
        ] as [(String, UInt64)])
    func hash(text: String, expected: UInt64) {
        #expect(Array(text.utf8).withUnsafeBytes { XXH64.hash($0, seed: 0) } == expected)
    }

    @Test("A check finds changed bytes in every content column, names the session, and ignores other columns")
    func damaged() async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        let call = ConversationMessage(
            id: "call", role: .assistant, parts: [.thinking("hm", signature: nil)],
            metadata: ["usage": ["output_tokens": 3]], unknownFields: ["x": 1])
        try await history.append(messages(0..<10) + [call], to: scope)
        try await history.fork(scope.session, at: "call", into: "copy")
        try await history.append(messages(0..<2, prefix: "n"), to: Scope(userId: "bob", sessionId: "t", agentId: ""))
        #expect(try await history.check().problems.isEmpty)
        for change in [
            "text = 'texT 3' WHERE message_id = 'm3'", "role = 'usfr' WHERE message_id = 'm4'",
            "timestamp = timestamp + 1 WHERE message_id = 'm5'", "parts = replace(parts, 'hm', 'hn')",
            "metadata = replace(metadata, '3', '4')", "unknown_fields = replace(unknown_fields, '1', '2')",
        ] {
            let kinds = try await history.problems(after: "UPDATE message SET \(change)")
            #expect(kinds.allSatisfy { $0.kind == "contentDamaged" } && !kinds.isEmpty, "\(change)")
            #expect(kinds.allSatisfy { $0.message.contains(" session s ") || $0.message.contains(" session copy ") })
        }
        #expect(try await history.problems(after: "UPDATE message SET position = position + 1").isEmpty)
    }

    @Test("Edited, moved and branched messages have valid checksums")
    func moves() async throws {
        let history = memory()
        try await history.append(messages(0..<10), to: scope)
        var edited = messages(3..<4)[0]
        edited.parts = [.text("other words")]
        try await history.edit([edited], in: scope.session)
        let branch = try await history.branch(scope.session, from: "m6")
        try await history.restoreBranch(branch, in: scope.session)
        #expect(try await history.check().problems.isEmpty)
        #expect(try await history.read { try $0.integer("SELECT count(*) FROM message WHERE checksum IS NULL") } == 0)
    }

    @Test("A repair adds checksums to messages of older versions, except unreadable ones")
    func older() async throws {
        let history = memory()
        let call = ConversationMessage(id: "call", role: .assistant, parts: [.thinking("hm", signature: nil)])
        try await history.append(messages(0..<1500) + [call], to: scope)
        try await history.write {
            try $0.run("UPDATE message SET checksum = NULL")
            try $0.run("UPDATE message SET parts = '[{\"thi' WHERE message_id = 'call'")
        }
        #expect(try await history.check().problems.map(\.kind) == ["contentDamaged"])
        try await history.repair()
        #expect(try await history.read { try $0.integer("SELECT count(*) FROM message WHERE checksum IS NULL") } == 1)
        #expect(try await history.check().problems.map(\.kind) == ["contentDamaged"])
    }
}

extension SQLiteHistoryStore {
    /// The problems that a check finds after a statement. The statement is rolled back.
    fileprivate func problems(after statement: String) async throws -> [HistoryReport.Problem] {
        try await connection.database().withWriterConnection { db in
            try db.run("BEGIN")
            defer { try? db.run("ROLLBACK") }
            try db.run(statement)
            return try HistoryCheck.run(db).report.problems
        }
    }
}
