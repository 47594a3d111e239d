#if CommandLine
    import Foundation
    import Recollect

    extension ConversationID {
        /// Returns the ID of a new session of a user. The session is in the history after its first message.
        static func new(of userId: String) -> ConversationID {
            ConversationID(userId: userId, sessionId: UUID().uuidString.lowercased())
        }
    }

    extension HistoryStore {
        /// Copies a session up to a message into another session. The defaults are the last message and a new
        /// session.
        /// - Throws: `notFound` for a session without messages, or if the fork is deleted at once; errors of
        ///   `fork`.
        func forkConversation(
            _ conversation: ConversationID, at message: String?, into sessionId: String? = nil
        ) async throws -> Conversation {
            var fork = ConversationID.new(of: conversation.userId)
            if let sessionId { fork = ConversationID(userId: conversation.userId, sessionId: sessionId) }
            let page = try await messages(of: conversation, agentId: nil, page: PageRequest(limit: 1, before: nil))
            guard let last = page.elements.last else {
                throw RecollectError(.notFound, "that session has no message to copy")
            }
            // The last message may have an id that another agent's message has, too.
            try await self.fork(
                conversation, at: message ?? last.message.id, agentId: message == nil ? last.agentId : nil,
                into: fork.sessionId)
            guard let made = try await self.conversation(fork) else {
                throw RecollectError(.notFound, "session \(fork.sessionId.visible) was deleted as soon as it was made")
            }
            return made
        }
    }
#endif
