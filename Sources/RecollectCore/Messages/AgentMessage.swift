/// A message of an agent.
public struct AgentMessage: Hashable, Sendable {
    /// The agent's ID.
    public var agentId: String
    /// The message.
    public var message: ConversationMessage

    /// Creates a message of an agent.
    public init(agentId: String, message: ConversationMessage) {
        self.agentId = agentId
        self.message = message
    }
}

/// Messages of an agent in one session, in the order of saving.
public struct AgentMessages: Hashable, Sendable {
    /// The agent's ID.
    public var agentId: String
    /// The messages.
    public var messages: [ConversationMessage]

    /// Creates messages of an agent.
    public init(agentId: String, messages: [ConversationMessage]) {
        self.agentId = agentId
        self.messages = messages
    }
}
