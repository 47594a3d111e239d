/// The owner of a history: a user, one of their sessions, and an agent in it.
///
/// Scopes are compared by their UTF-8 bytes. Swift compares strings by canonical equivalence: `é` as one code point
/// equals `é` as two. With `==` of strings, two such users could read each other's messages.
public struct Scope: Sendable {
    /// The user ID, any string including the empty one.
    public let userId: String
    /// The session ID of this user, any string.
    public let sessionId: String
    /// The agent ID in this session, any string.
    public let agentId: String

    /// Creates a scope.
    public init(userId: String, sessionId: String, agentId: String) {
        self.userId = userId
        self.sessionId = sessionId
        self.agentId = agentId
    }

    /// The session of this scope.
    public var session: SessionKey {
        SessionKey(userId: userId, sessionId: sessionId)
    }
}

extension Scope: Hashable {
    /// Whether all three IDs have the same bytes.
    public static func == (left: Scope, right: Scope) -> Bool {
        left.agentId.hasSameBytes(as: right.agentId) && left.session == right.session
    }

    /// Hashes the bytes of the three IDs.
    public func hash(into hasher: inout Hasher) {
        session.hash(into: &hasher)
        hasher.combine(bytesOf: agentId)
    }
}
