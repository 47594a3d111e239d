import GRDB
import RecollectCore

/// Gives messages that belong to no agent to the agent that saves them, inside a write transaction.
///
/// A UI that knows no agents writes under the empty agent id, and may save what was said before the agent's orchestrator does.
enum Adoption {
    /// Moves a message to the end of a scope and tells the feed.
    ///
    /// It keeps its place in the conversation, unless its new scope has gone on behind that place, or its window begins there:
    /// then it goes to the conversation's end, because a scope's order is the order of saving.
    static func adopt(
        _ sequence: Int64, _ message: ConversationMessage, into row: ScopeRow, of scope: Scope, _ db: Database
    ) throws {
        let position = try db.integer("SELECT position FROM message WHERE sequence = ?", sequence) ?? 0
        let last = try db.integer("SELECT max(position) FROM message WHERE scope_id = ?", row.scope)
        let keepsPlace = position >= row.windowStart && position > last ?? .min
        try SearchIndex.reindexing([sequence], db) {
            try MessageMoves.setScope(row.scope, of: sequence, db)
            if !keepsPlace { try MessageMoves.putLast([sequence], db) }
        }
        try db.recordChange(.messageEdited, scope.conversation, agentId: scope.agentId, messageId: message.id)
        guard !keepsPlace else { return }
        try Preview.set(row.conversation, db)
        try db.recordChange(.conversationRearranged, scope.conversation)
    }
}
