import Foundation
import RecollectCore

@testable import RecollectSQLite

/// `hold FOLDER`: reads a history from one snapshot for as long as it lives, and says `held` when it does.
func hold(_ arguments: [String]) async throws {
    // Indexing in the background would hold the process lock at times, and this process is stopped at any moment.
    let history = SQLiteHistoryStore(
        directory: URL(fileURLWithPath: arguments[0]), configuration: HistoryConfiguration(indexesInBackground: false))
    try await history.read { db in
        _ = try db.integer("SELECT count(*) FROM message")
        say("held")
        while true { pause() }
    }
}

/// `delete FOLDER USER SESSION`: deletes a session and says `deleted`.
func delete(_ arguments: [String]) async throws {
    let history = SQLiteHistoryStore(
        directory: URL(fileURLWithPath: arguments[0]), configuration: HistoryConfiguration(indexesInBackground: false))
    try await history.deleteConversation(ConversationID(userId: arguments[1], sessionId: arguments[2]))
    say("deleted")
}

/// `close FOLDER`: opens a history, closes it, which removes its log, and says `closed`.
func close(_ arguments: [String]) async throws {
    let history = SQLiteHistoryStore(
        directory: URL(fileURLWithPath: arguments[0]), configuration: HistoryConfiguration(indexesInBackground: false))
    try await history.open()
    await history.close()
    say("closed")
}
