/// The identifier of a user's session with all its agents, compared by UTF-8 bytes.
public struct SessionKey: Sendable {
    /// The user ID, any string.
    public let userId: String
    /// The session ID of this user, any string.
    public let sessionId: String

    /// Creates an identifier.
    public init(userId: String, sessionId: String) {
        self.userId = userId
        self.sessionId = sessionId
    }

    /// Returns the scope of an agent in this session.
    public func scope(agentId: String) -> Scope {
        Scope(userId: userId, sessionId: sessionId, agentId: agentId)
    }
}

extension SessionKey: Hashable {
    /// Whether both IDs have the same bytes.
    public static func == (left: SessionKey, right: SessionKey) -> Bool {
        left.userId.hasSameBytes(as: right.userId) && left.sessionId.hasSameBytes(as: right.sessionId)
    }

    /// Hashes the bytes of both IDs.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: userId)
        hasher.combine(bytesOf: sessionId)
    }
}
