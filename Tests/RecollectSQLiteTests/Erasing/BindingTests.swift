import Foundation
import GRDB
import GRDBSQLite
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Statement arguments") struct BindingTests {
    @Test(
        "A text too large for SQLite fails its save, and no message of the batch is saved", arguments: [true, false])
    func tooLarge(isProse: Bool) async throws {
        let history = memory()
        try await history.append(messages(0..<2), to: scope)
        try await history.write { db in
            // SQLite stores texts up to 1 GB; a lower limit fails in the same way.
            _ = sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, 100_000)
        }
        let text = String(repeating: "x", count: 100_001)
        let large = ConversationMessage(
            id: "large", role: .user, parts: isProse ? [.text(text)] : [.thinking(text, signature: nil)])
        await expectError(.tooLarge) { try await history.append(messages(2..<4) + [large], to: scope) }
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<2))
        try await history.append(messages(2..<4), to: scope)
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<4))
    }
}
