import RecollectCore

extension SQLiteHistoryStore {
    public func beginReply(_ message: ConversationMessage, in scope: Scope) async throws -> ReplyDraft { throw unmade }
    public func repliesInFlight(
        in conversation: ConversationID
    ) async throws -> [(agentId: String, message: ConversationMessage)] { throw unmade }
    private var unmade: RecollectError {
        RecollectError(.invalidArgument, "comes with the next commits of this branch")
    }
}
