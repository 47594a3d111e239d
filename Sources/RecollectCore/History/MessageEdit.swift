/// An edit of a message with a known content.
public struct MessageEdit: Hashable, Sendable {
    /// The message before the edit.
    public var old: ConversationMessage
    /// The message after the edit, with the same ID.
    public var new: ConversationMessage

    /// Creates an edit.
    public init(of old: ConversationMessage, to new: ConversationMessage) {
        self.old = old
        self.new = new
    }
}
