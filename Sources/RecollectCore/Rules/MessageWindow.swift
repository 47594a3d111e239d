/// The window rule: the number of messages within a budget.
package enum MessageWindow {
    /// Returns the number of messages within a budget: rounded down to even, none for 1 or less, `nil` for no
    /// limit.
    package static func size(for maxMessages: Int?) -> Int? {
        guard let maxMessages else { return nil }
        return maxMessages > 1 ? maxMessages & ~1 : 0
    }
}

extension ChatStorage {
    /// Returns the most recent messages within a budget.
    ///
    /// The budget counts messages and is rounded down to even, so an input stays with its reply. `nil` means all
    /// messages, 1 or less none.
    public func trimToEvenPairs(_ messages: [ConversationMessage], maxMessages: Int?) -> [ConversationMessage] {
        guard let size = MessageWindow.size(for: maxMessages), size < messages.count else { return messages }
        return Array(messages.suffix(size))
    }

    /// Whether saving `newMessage` would repeat the last stored role; a store drops such a message.
    ///
    /// A message with a tool call or a tool result never does, because dropping it would leave half of an exchange.
    public func isConsecutiveSameRole(
        _ session: [ConversationMessage], _ newMessage: ConversationMessage
    ) -> Bool {
        SameRolePolicy.repeats(newMessage, after: session.last?.role)
    }
}
