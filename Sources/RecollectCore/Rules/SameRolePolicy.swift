/// The treatment of a message with the same role as the last stored one.
public struct SameRolePolicy: RawRepresentable, Hashable, Sendable {
    /// The rule's name.
    public let rawValue: String

    /// Creates a rule from its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The message is dropped, with a log entry and an event, unless it has a tool call or result. The rule of the
    /// guides.
    public static let drop = SameRolePolicy(rawValue: "drop")
    /// Every message is saved.
    public static let keep = SameRolePolicy(rawValue: "keep")

    /// Whether `message` repeats `lastRole` and has no tool call or result.
    package static func repeats(_ message: ConversationMessage, after lastRole: Role?) -> Bool {
        lastRole == message.role && !message.belongsToToolExchange
    }
}
