import Foundation
import Recollect

func maintain(in folder: URL) async throws {
    let history = SQLiteHistoryStore(directory: folder)
    // Reads all pages and rows of the database, and compares derived data with its source.
    let report = try await history.check()
    for problem in report.problems { print(problem.kind, problem.message) }
    print(report.messages, "messages in", report.sessions, "sessions")

    // Deletes messages of all users for good.
    let month: TimeInterval = 30 * 86_400
    let expired = try await history.deleteMessages(olderThan: Date(timeIntervalSinceNow: -month))
    print(expired, "messages were older than 30 days.")

    // Waits for open calls, and closes the database.
    await history.close()
}
