import RecollectCore

/// An event of a turn, sent as it happens.
public enum AgentEvent: Hashable, Sendable {
    /// The turn has begun, and the user's message is saved. The value names the agent and the ID of the reply. Sent
    /// once and first, by the orchestrator; agents do not send it.
    case began(AgentReply)
    /// A piece of the agent's reasoning.
    case thinking(String)
    /// A piece of the reply's text.
    case textDelta(String)
    /// A tool call. The result has the same `id`.
    case toolCall(id: String, name: String, arguments: JSONValue)
    /// The result of the tool call with this `id`.
    case toolResult(id: String, content: JSONValue)
    /// The whole reply. From an orchestrator: as saved, under the ID from `began`, marked with `isInterrupted` if
    /// it is incomplete.
    case final(ConversationMessage)
    /// A message for the user; the turn continues. A failure ending the turn is thrown instead.
    case error(String)
}

/// The announcement of a reply.
public struct AgentReply: Hashable, Sendable {
    /// The ID of the reply's message.
    public let id: String
    /// The ID of the answering agent.
    public let agentId: String
    /// The ID of the input.
    public let inputId: String

    /// Creates an announcement.
    public init(id: String, agentId: String, inputId: String) {
        self.id = id
        self.agentId = agentId
        self.inputId = inputId
    }
}
