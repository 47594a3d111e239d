import Foundation
import Recollect

func maintain(in folder: URL) async throws {
    let history = SQLiteHistoryStore(directory: folder)
    // Reads all pages and rows of the database, and compares derived data with its source.
    let report = try await history.check()
    for problem in report.problems { print(problem.kind, problem.message) }
    print(report.messageCount, "messages in", report.sessionCount, "sessions")

    // Permanently deletes old messages of all users.
    let month: TimeInterval = 30 * 86_400
    let expired = try await history.deleteMessages(olderThan: Date(timeIntervalSinceNow: -month))
    print(expired, "messages were older than 30 days.")

    // Waits until the deleted text is overwritten in every file.
    let erasure = try await history.waitUntilErased()
    print("All deleted content is erased:", erasure.isComplete)

    // Waits for open calls, and closes the database.
    await history.close()
}
