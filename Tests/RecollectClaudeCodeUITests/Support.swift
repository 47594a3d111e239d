import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

/// A history in memory, for imports.
struct Imported {
    let history = SQLiteHistoryStore.inMemory()
    let userId = "ada"

    func sessions() async throws -> [Session] {
        try await history.allSessions(of: userId)
    }

    func only() async throws -> Session {
        let all = try await sessions()
        try #require(all.count == 1)
        return all[0]
    }

    func messages(_ session: Session) async throws -> [ConversationMessage] {
        try await history.allMessages(in: session).map(\.message)
    }
}
