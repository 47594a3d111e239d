/// The author of a write, recorded with each version on this device.
public struct WorkspaceAuthor: Hashable, Sendable, Codable {
    /// The agent's ID; `nil` for the user.
    public let agentId: String?

    /// The user.
    public static let user = WorkspaceAuthor(agentId: nil)

    /// Returns the author for an agent.
    public static func agent(_ id: String) -> WorkspaceAuthor { WorkspaceAuthor(agentId: id) }
}

extension WorkspaceAuthor {
    /// Recollect itself, as the author of merges and published chats.
    public static let recollect = WorkspaceAuthor.agent("recollect")
}
