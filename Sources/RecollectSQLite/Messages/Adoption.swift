import GRDB
import RecollectCore

/// Assigns messages without an agent to the agent saving them, inside a write transaction.
///
/// A UI without agents saves under the empty agent ID, possibly before the agent's orchestrator saves the same
/// message.
enum Adoption {
    /// Moves a message to a scope and records the change in the feed.
    ///
    /// The message keeps its position in the session if it is after the last message of its new scope and not
    /// before the start of the window. Otherwise it moves to the end of the session, because the order of a scope
    /// is the order of saving.
    static func adopt(
        _ sequence: SequenceNumber, into row: ScopeRow, of scope: Scope, _ db: Database
    ) throws {
        let position = try MessageQueries.position(of: sequence, db) ?? .min
        let last: Position? = try db.value("SELECT max(position) FROM message WHERE scope_row_id = ?", row.scope)
        let keepsPosition = position >= row.windowStart && position > last ?? .min
        try SearchIndex.reindexing([sequence], db) {
            try MessageMoves.setScope(row.scope, of: sequence, db)
            // The time of its key is the latest one of its new scope.
            try db.run(
                "UPDATE message SET placed_at = nullif(max(timestamp, ifnull(?, timestamp)), timestamp) WHERE sequence = ?",
                row.lastTime, sequence)
            if !keepsPosition { try MessageMoves.putLast([sequence], db) }
        }
        try db.recordChange(.messageEdited, of: sequence, in: scope.session)
        guard !keepsPosition else { return }
        try Preview.set(row.session, db)
        try db.recordChange(.sessionRearranged, scope.session)
    }
}
