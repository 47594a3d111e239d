import RecollectCore

/// The messages of an agent in a session before a turn.
struct AgentHistory: Sendable {
    /// The window, oldest message first.
    var messages: [ConversationMessage] = []
    /// The IDs of the agent's streaming replies, in this process or another. They are read only if the last message
    /// is a user's.
    var streaming: Set<ByteString> = []
}

/// The user's message of a turn, as saved.
struct SavedInput: Sendable {
    let message: ConversationMessage
    /// Whether the store has the message. Some stores omit messages on purpose.
    let isStored: Bool
    /// The past messages for the agent, without incomplete tool exchanges.
    let before: [ConversationMessage]
}
