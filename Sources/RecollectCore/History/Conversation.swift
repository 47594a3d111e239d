import Foundation

/// A conversation as a list shows it; reading one reads no bodies but the preview's.
public struct Conversation: Hashable, Sendable, Identifiable {
    /// Names the conversation.
    public var id: ConversationID
    /// The title that was given; `nil` where none was.
    public var title: String?
    /// When its first message was made.
    public var createdAt: Date
    /// The latest timestamp of its messages.
    public var lastActivityAt: Date
    /// How many messages it has, of all agents.
    public var messageCount: Int
    /// Its agents' ids in the order in which they first spoke.
    public var agents: [String]
    /// The beginning of the first thing its user said, at most 200 characters; empty where there is none.
    public var preview: String
    /// The folder that it worked in.
    public var workingDirectory: String?
    /// The branch that it worked on.
    public var branch: String?
    /// What else is known of it.
    public var metadata: [String: JSONValue]

    /// Makes a conversation's summary.
    public init(
        id: ConversationID, title: String? = nil, createdAt: Date, lastActivityAt: Date, messageCount: Int,
        agents: [String] = [], preview: String = "", workingDirectory: String? = nil, branch: String? = nil,
        metadata: [String: JSONValue] = [:]
    ) {
        self.id = id
        self.title = title
        self.createdAt = createdAt
        self.lastActivityAt = lastActivityAt
        self.messageCount = messageCount
        self.agents = agents
        self.preview = preview
        self.workingDirectory = workingDirectory
        self.branch = branch
        self.metadata = metadata
    }
}

/// What can be set of a conversation; fields left `nil` stay as they are.
public struct ConversationDetails: Hashable, Sendable {
    /// A title.
    public var title: String?
    /// The folder that it works in.
    public var workingDirectory: String?
    /// The branch that it works on.
    public var branch: String?
    /// Members to set; others stay, a `null` removes.
    public var metadata: [String: JSONValue]

    /// Makes details.
    public init(
        title: String? = nil, workingDirectory: String? = nil, branch: String? = nil,
        metadata: [String: JSONValue] = [:]
    ) {
        self.title = title
        self.workingDirectory = workingDirectory
        self.branch = branch
        self.metadata = metadata
    }
}

/// A message with its place in the history.
public struct StoredMessage: Hashable, Sendable {
    /// The agent whose scope holds it.
    public var agentId: String
    /// Its place in the conversation.
    public var cursor: MessageCursor
    /// The message.
    public var message: ConversationMessage

    /// Makes a stored message.
    public init(agentId: String, cursor: MessageCursor, message: ConversationMessage) {
        self.agentId = agentId
        self.cursor = cursor
        self.message = message
    }
}
