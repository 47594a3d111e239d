import Foundation
import RecollectCore

/// What is left to be erased of what was deleted.
///
/// A deletion that returned is gone from every read, for good. Its bytes may remain for a while: in the search index, in files,
/// and in the log as long as another process reads an older state. They are erased in the background, in small steps, by this
/// process or by the next that opens the history.
public struct Erasure: Sendable, Codable, Hashable {
    /// Deleted conversations whose messages are not all removed yet.
    public var conversations = 0
    /// Attachments whose files are not removed yet.
    public var attachments = 0
    /// Damaged files that were set aside, and files that interrupted work left, that are not removed yet.
    public var files = 0
    /// Whether words of deleted messages may stand in the search index.
    public var isIndexPending = false
    /// Whether deleted text may stand in the write-ahead log or, until that is moved into the database, in the database's file.
    public var isLogPending = false

    /// Whether everything that was deleted has been erased from the files.
    public var isComplete: Bool { self == Erasure() }
}

extension SQLiteHistoryStore {
    /// How far the erasing of what was deleted has come, by this and by other processes.
    ///
    /// A deletion waits 50 ms for its own: where nobody reads and the history is small, it is complete when the deletion returns.
    public func erasure() async throws -> Erasure {
        try await read { try Erasing.left($0) }
    }

    /// Returns the names of damaged files set aside by salvages, in the history's folder, sorted.
    ///
    /// They may contain text deleted since, until they are removed. Throws `permissionDenied` or `inputOutput` for an unreadable folder.
    public func setAsideFiles() async throws -> [String] {
        guard let files = connection.files else { return [] }
        return try await blocking { try files.setAside() }
    }

    /// Waits until everything that was deleted has been erased, and returns what is left.
    ///
    /// Cancelling the task ends the waiting, not the erasing. When the erasing of this process ends, the event `erased` tells.
    /// - Parameter limit: how long to wait at most.
    @discardableResult
    public func waitUntilErased(atMost limit: Duration = .seconds(30)) async throws -> Erasure {
        let end = ContinuousClock.now + limit
        while true {
            let left = try await erasure()
            let now = ContinuousClock.now
            if left.isComplete || now >= end || Task.isCancelled { return left }
            await upkeep.work(atMost: min(end - now, .milliseconds(250)))
        }
    }

    /// Erases what a deletion left, for at most 50 ms; the rest goes on without the caller. Never fails: the deletion is committed.
    func eraseSoon() async {
        await upkeep.work(atMost: .milliseconds(50))
    }
}
