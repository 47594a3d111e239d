/// The author's role of a message.
///
/// Unknown roles, from disk or network, are preserved unchanged.
public struct Role: RawRepresentable, Hashable, Sendable, Codable {
    /// The name of the role in JSON and in stores.
    public let rawValue: String

    /// Creates a role from its name; every string is valid.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The user, or a program acting for them.
    public static let user = Role(rawValue: "user")
    /// The agent.
    public static let assistant = Role(rawValue: "assistant")
    /// Instructions and notices from neither side.
    public static let system = Role(rawValue: "system")
    /// The result of a tool call.
    public static let tool = Role(rawValue: "tool")
}
