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

/// `lock-index FOLDER`: leaves the index of the log half-written, as a writer suspended during a commit does, and prints
/// `locked`.
func lockIndex(_ arguments: [String]) throws {
    let path = HistoryFiles(directory: URL(fileURLWithPath: arguments[0])).sharedMemory
    let descriptor = open(path, O_RDWR)
    // The second copy of the header (https://sqlite.org/walformat.html#the_wal_index_header).
    var byte: UInt8 = 0xFF
    // SQLite's lock of writers (https://sqlite.org/walformat.html#wal_locks).
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_start = 120
    lock.l_len = 1
    guard fcntl(descriptor, F_SETLK, &lock) == 0, pwrite(descriptor, &byte, 1, 48 + 16) == 1 else {
        return say("failed \(errno)")
    }
    say("locked")
    while true { pause() }
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
