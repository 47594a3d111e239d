import RecollectCore

extension HistoryStore {
    /// Compares messages just saved with the messages read back from the history.
    ///
    /// - Throws: `verificationFailed` for the first difference.
    func verify(_ messages: [ConversationMessage], in scope: Scope) async throws {
        var seen: Set<ByteString> = []
        // Of two messages with one ID, the first is saved.
        for message in messages where seen.insert(ByteString(message.id)).inserted {
            let kept = try await self.message(message.id, in: scope.session, agentId: scope.agentId)
            let field = kept.map { MessageDifference.field(message, $0.message) } ?? "id"
            if let field {
                throw RecollectError.verificationFailed(session: scope.sessionId, message: message.id, field: field)
            }
        }
    }
}
