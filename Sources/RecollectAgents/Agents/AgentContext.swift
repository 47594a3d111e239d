import RecollectCore

/// Whose turn, in which session, an agent or a tool works in.
public struct AgentContext: Hashable, Sendable {
    /// The user.
    public let userId: String
    /// The session.
    public let sessionId: String
    /// Whatever else the app gives its agents for this turn; it is not part of the history.
    public let params: [String: JSONValue]

    /// Makes a context.
    public init(userId: String, sessionId: String, params: [String: JSONValue] = [:]) {
        self.userId = userId
        self.sessionId = sessionId
        self.params = params
    }

    /// The session with its user.
    public var conversation: ConversationID { ConversationID(userId: userId, sessionId: sessionId) }
}
