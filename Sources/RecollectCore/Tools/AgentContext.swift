/// Whose turn, in which session, answering what, an agent or a tool works in.
public struct AgentContext: Hashable, Sendable {
    /// The user.
    public let userId: String
    /// The session.
    public let sessionId: String
    /// The id of the user's message that the turn answers, which a search of the history would otherwise find; `nil` outside a turn.
    public let inputId: String?
    /// Whatever else the app gives its agents for this turn; it is not part of the history.
    public let params: [String: JSONValue]

    /// Makes a context.
    public init(userId: String, sessionId: String, inputId: String? = nil, params: [String: JSONValue] = [:]) {
        self.userId = userId
        self.sessionId = sessionId
        self.inputId = inputId
        self.params = params
    }

    /// The session with its user.
    public var conversation: ConversationID { ConversationID(userId: userId, sessionId: sessionId) }
}
