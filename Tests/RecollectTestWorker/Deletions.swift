import Foundation
import RecollectCore

@testable import RecollectSQLite

/// `hold FOLDER`: reads a history from one snapshot until it is killed, and prints `held` once it does.
func hold(_ arguments: [String]) async throws {
    // Background indexing would hold the process lock at times, and this process may be stopped at any time.
    let history = SQLiteHistoryStore(
        directory: URL(fileURLWithPath: arguments[0]), configuration: HistoryConfiguration(indexesInBackground: false))
    try await history.read { db in
        _ = try db.integer("SELECT count(*) FROM message")
        say("held")
        while true { pause() }
    }
}

/// `lock FOLDER`: holds a history's process lock until it is killed, and prints `locked` once it does.
func lock(_ arguments: [String]) throws {
    let files = HistoryFiles(directory: URL(fileURLWithPath: arguments[0]))
    try ProcessLock(path: files.lock).withLock(timeout: 1000) {
        say("locked")
        while true { pause() }
    }
}

/// `read FOLDER USER SESSION`: reads a session's messages and prints `read N`, or `failed CODE`.
func read(_ arguments: [String]) async {
    let history = SQLiteHistoryStore(
        directory: URL(fileURLWithPath: arguments[0]), configuration: HistoryConfiguration(indexesInBackground: false))
    do {
        let count = try await history.messages(
            of: SessionKey(userId: arguments[1], sessionId: arguments[2]), agentId: nil,
            page: PageRequest(limit: 100_000)
        ).elements.count
        let listed = try await history.sessions(of: arguments[1], page: PageRequest(limit: 10)).elements.count
        say(listed == 1 ? "read \(count)" : "listed \(listed)")
    } catch {
        say("failed \((error as? RecollectError)?.code.rawValue ?? "\(error)")")
    }
}

/// `delete FOLDER USER SESSION`: deletes a session and prints `deleted`.
func delete(_ arguments: [String]) async throws {
    let history = SQLiteHistoryStore(
        directory: URL(fileURLWithPath: arguments[0]), configuration: HistoryConfiguration(indexesInBackground: false))
    try await history.deleteSession(SessionKey(userId: arguments[1], sessionId: arguments[2]))
    say("deleted")
}

/// `close FOLDER`: opens a history, closes it, which removes its log, and prints `closed`.
func close(_ arguments: [String]) async throws {
    let history = SQLiteHistoryStore(
        directory: URL(fileURLWithPath: arguments[0]), configuration: HistoryConfiguration(indexesInBackground: false))
    try await history.open()
    await history.close()
    say("closed")
}
