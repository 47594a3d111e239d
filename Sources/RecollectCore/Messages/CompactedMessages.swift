/// The messages of a scope for a model: the summary of the compaction in effect, and the messages not covered by it.
public struct CompactedMessages: Hashable, Sendable {
    /// The messages with the role `system` before all others of the scope. They are never covered.
    public var instructions: [ConversationMessage]
    /// The compaction in effect; `nil` if there is none.
    public var compaction: Compaction?
    /// The covered turns with a pinned message, in order.
    public var pinned: [ConversationMessage]
    /// The messages not covered, in order, without the instructions.
    public var messages: [ConversationMessage]

    /// Creates the messages of a scope.
    public init(
        instructions: [ConversationMessage] = [], compaction: Compaction? = nil, pinned: [ConversationMessage] = [],
        messages: [ConversationMessage] = []
    ) {
        self.instructions = instructions
        self.compaction = compaction
        self.pinned = pinned
        self.messages = messages
    }
}
