import RecollectCore

extension HistoryStore {
    /// Returns all sessions of a user.
    package func allSessions(of userId: String) async throws -> [Session] {
        try await sessions(of: userId, sessionIdPrefix: "", limit: 1_000)
    }

    /// Returns all messages in a session, of all agents or of one.
    package func allMessages(in session: Session, agentId: String? = nil) async throws -> [StoredMessage] {
        try await messages(of: session.id, agentId: agentId, page: PageRequest(limit: 1_000_000)).elements
    }
}
