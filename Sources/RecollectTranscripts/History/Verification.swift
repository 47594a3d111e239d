import RecollectCore

extension HistoryStore {
    /// Compares messages that were just saved with what the history gives of them.
    /// - Throws: `notKept` for the first that differs.
    func verify(_ messages: [ConversationMessage], in scope: Scope) async throws {
        var seen: Set<ByteString> = []
        // Of two messages of one id the first is the one that is kept.
        for message in messages where seen.insert(ByteString(message.id)).inserted {
            let kept = try await self.message(message.id, in: scope.conversation, agentId: scope.agentId)
            let field = kept.map { MessageDifference.field(message, $0.message) } ?? "id"
            if let field { throw RecollectError.notKept(session: scope.sessionId, message: message.id, field: field) }
        }
    }
}
