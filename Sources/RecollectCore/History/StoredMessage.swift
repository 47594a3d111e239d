/// A message with its position in the history.
public struct StoredMessage: Hashable, Sendable {
    /// The agent of the message's scope.
    public var agentId: String
    /// The position in the session.
    public var cursor: MessageCursor
    /// The message.
    public var message: ConversationMessage
    /// The position in the change feed after the addition of the message (`HistoryChange.additionCursor`); `nil` if unknown.
    ///
    /// It stays the same if the message is edited, assigned to an agent, or moved to another session.
    public var additionCursor: ChangeCursor?

    /// Creates a stored message.
    public init(
        agentId: String, cursor: MessageCursor, message: ConversationMessage, additionCursor: ChangeCursor? = nil
    ) {
        self.agentId = agentId
        self.cursor = cursor
        self.message = message
        self.additionCursor = additionCursor
    }
}
