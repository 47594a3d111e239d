import RecollectCore

/// What happens in a turn, as it happens.
public enum AgentEvent: Hashable, Sendable {
    /// The turn has begun: the user's message is saved, and this is who will answer under which id. Told by the orchestrator, once
    /// and first; agents do not send it.
    case began(AgentReply)
    /// A piece of the agent's reasoning.
    case thinking(String)
    /// A piece of what it says.
    case textDelta(String)
    /// It calls a tool; `id` joins the call to its result.
    case toolCall(id: String, name: String, arguments: JSONValue)
    /// What the tool gave back for the call of that id.
    case toolResult(id: String, content: JSONValue)
    /// The whole reply. From an orchestrator: as it has been saved, under the id that `began` told, marked with `isInterrupted`
    /// where it was stopped.
    case final(ConversationMessage)
    /// Something to tell the user, in words for people; the turn goes on. Failures that end the turn are thrown.
    case error(String)
}

/// A reply that is about to come.
public struct AgentReply: Hashable, Sendable {
    /// The id of the message that it will be.
    public let id: String
    /// Who answers.
    public let agentId: String
    /// The id of the message that it answers.
    public let inputId: String

    /// Announces a reply.
    public init(id: String, agentId: String, inputId: String) {
        self.id = id
        self.agentId = agentId
        self.inputId = inputId
    }
}
