/// The window rule: how many messages a budget keeps.
package enum MessageWindow {
    /// The number of messages that a budget keeps: rounded down to even, 1 or less gives none, `nil` keeps all.
    package static func size(for maxMessages: Int?) -> Int? {
        guard let maxMessages else { return nil }
        return maxMessages > 1 ? maxMessages & ~1 : 0
    }
}

extension ChatStorage {
    /// Keeps the most recent messages: the budget counts messages and is rounded down to even, so that a question stays with
    /// its answer; `nil` keeps everything, 1 or less nothing.
    public func trimToEvenPairs(_ messages: [ConversationMessage], maxMessages: Int?) -> [ConversationMessage] {
        guard let size = MessageWindow.size(for: maxMessages), size < messages.count else { return messages }
        return Array(messages.suffix(size))
    }

    /// Whether saving `newMessage` would repeat the last stored role; a store drops such a save.
    ///
    /// A message with a tool call or a tool result never does: dropping one would leave half an exchange.
    public func isConsecutiveSameRole(
        _ conversation: [ConversationMessage], _ newMessage: ConversationMessage
    ) -> Bool {
        SameRole.repeats(newMessage, after: conversation.last?.role)
    }
}

/// What a store does with a message whose role repeats the last stored one's.
public struct SameRole: RawRepresentable, Hashable, Sendable {
    /// The rule's name.
    public let rawValue: String

    /// Makes a rule from its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The message is dropped, logged and reported; messages with a tool call or result are kept. The guides' rule.
    public static let drop = SameRole(rawValue: "drop")
    /// Every message is kept.
    public static let keep = SameRole(rawValue: "keep")

    /// Whether `message` repeats `lastRole` and has nothing that must be kept for the sake of a tool exchange.
    package static func repeats(_ message: ConversationMessage, after lastRole: Role?) -> Bool {
        lastRole == message.role && !message.belongsToToolExchange
    }
}
