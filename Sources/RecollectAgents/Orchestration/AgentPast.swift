import RecollectCore

/// What was said with an agent before a turn.
struct AgentPast: Sendable {
    /// The window, the oldest message first.
    var messages: [ConversationMessage] = []
    /// The ids of the agent's replies that are in flight, in this process or in another. Looked for only where the last message is a
    /// user's.
    var inFlight: Set<ByteString> = []
}

/// The user's message of a turn, as it was saved.
struct AskedQuestion: Sendable {
    let message: ConversationMessage
    /// Whether the store holds it: some leave messages out on purpose.
    let isStored: Bool
    /// What the agent is given: what was said before, without any half of a tool exchange.
    let before: [ConversationMessage]
}
