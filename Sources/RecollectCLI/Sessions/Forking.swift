#if CommandLine
    import Foundation
    import Recollect
    import RecollectFileSystem

    extension SessionKey {
        /// Returns the ID of a new session of a user. The session is in the history after its first message.
        static func new(of userId: String) -> SessionKey {
            SessionKey(userId: userId, sessionId: UUID.random().uuidString.lowercased())
        }
    }

    extension HistoryStore {
        /// Copies a session up to a message into another session. The defaults are the last message and a new
        /// session.
        /// - Throws: `notFound` for a session without messages, or if the fork is deleted at once; errors of
        ///   `fork`.
        func forkSession(
            _ session: SessionKey, at message: String?, into sessionId: String? = nil
        ) async throws -> Session {
            var fork = SessionKey.new(of: session.userId)
            if let sessionId { fork = SessionKey(userId: session.userId, sessionId: sessionId) }
            let page = try await messages(of: session, agentId: nil, page: PageRequest(limit: 1, before: nil))
            guard let last = page.elements.last else {
                throw RecollectError(.notFound, "the session has no messages to copy")
            }
            // The last message may have an id that another agent's message has, too.
            try await self.fork(
                session, at: message ?? last.message.id, agentId: message == nil ? last.agentId : nil,
                into: fork.sessionId)
            guard let made = try await self.session(fork) else {
                throw RecollectError(
                    .notFound, "session \(fork.sessionId.visible) was deleted immediately after it was created")
            }
            return made
        }
    }
#endif
