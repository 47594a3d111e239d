/// The user, session and input of a turn, for an agent or a tool.
public struct AgentContext: Hashable, Sendable {
    /// The user ID.
    public let userId: String
    /// The session ID.
    public let sessionId: String
    /// The ID of the turn's input, for excluding it from searches of the history; `nil` outside a turn.
    public let inputId: String?
    /// Additional values of the app for its agents in this turn; not part of the history.
    public let params: [String: JSONValue]

    /// Creates a context.
    public init(userId: String, sessionId: String, inputId: String? = nil, params: [String: JSONValue] = [:]) {
        self.userId = userId
        self.sessionId = sessionId
        self.inputId = inputId
        self.params = params
    }

    /// The session with its user.
    public var session: SessionKey { SessionKey(userId: userId, sessionId: sessionId) }
}
