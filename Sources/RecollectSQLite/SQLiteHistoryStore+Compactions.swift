import Foundation
import GRDB
import RecollectCore
import RecollectFileSystem

/// Compactions: see `HistoryStore`.
extension SQLiteHistoryStore {
    /// Saves a compaction: see `HistoryStore`. It is as durable as an appended message.
    @discardableResult
    public func compact(
        _ messages: [ConversationMessage], of scope: Scope, into summary: String, by author: String,
        after previousId: String?
    ) async throws -> Compaction {
        try Task.checkCancellation()
        let (id, now) = (UUID.random().uuidString, Date().millisecondsSince1970)
        return try await write {
            try Compactions.save(
                messages, of: scope, into: summary, by: author, after: previousId, id: id, now: now, $0)
        }
    }

    /// Returns the messages of a scope's window with the compaction in effect: see `HistoryStore`.
    public func compactedMessages(of scope: Scope) async throws -> CompactedMessages {
        try await read { try Compactions.state(of: scope, $0).messages }
    }

    /// Returns the compactions of a scope: see `HistoryStore`.
    public func compactions(of scope: Scope) async throws -> [Compaction] {
        try await read { try CompactionRow.all(of: scope, $0).map(\.compaction) }
    }

    /// Permanently removes a compaction: see `HistoryStore`. `erasure()` returns the progress of erasing its bytes.
    @discardableResult
    public func removeCompaction(_ id: String, of scope: Scope) async throws -> Bool {
        let existed = try await write { try Compactions.remove(id, of: scope, $0) }
        if existed { await eraseSoon() }
        return existed
    }
}
