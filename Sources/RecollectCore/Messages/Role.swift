/// Who speaks in a message.
///
/// A role is a string read from disk or wire, so it is open: a role that this version does not know is kept as it came.
public struct Role: RawRepresentable, Hashable, Sendable, Codable {
    /// The role as it is written in JSON and in stores.
    public let rawValue: String

    /// Makes a role from its written form; every string is valid.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The person, or what speaks for them.
    public static let user = Role(rawValue: "user")
    /// The agent.
    public static let assistant = Role(rawValue: "assistant")
    /// Instructions and notices that neither side wrote.
    public static let system = Role(rawValue: "system")
    /// The result of a tool that the assistant called.
    public static let tool = Role(rawValue: "tool")
}
