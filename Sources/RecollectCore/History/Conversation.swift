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
    /// What its user said first, as a UI told it (`ConversationDetails.firstMessage`); `nil` where none did.
    public var firstMessage: String?
    /// The folder that it worked in.
    public var workingDirectory: String?
    /// The branch, of Git say, that it worked on.
    public var branchName: String?
    /// What else is known of it.
    public var metadata: [String: JSONValue]
    /// When it was last written or opened.
    public var lastAccessedAt: Date
    /// Whether a list shows it before others.
    public var isPinned: Bool
    /// Whether it was put away.
    public var isArchived: Bool
    /// Whether something was said since it was last marked as read.
    public var isUnread: Bool
    /// Its tags in order of their bytes.
    public var tags: [String]
    /// The tokens that its messages tell of in their metadata.
    public var usage: TokenUsage
    /// When it was discarded; `nil` for one that was not. A discarded conversation can be restored.
    public var discardedAt: Date?
    /// Where it left its conversation; `nil` for one that is no branch.
    public var branchOf: BranchPoint?

    /// Makes a conversation's summary; without `lastAccessedAt` it is the last activity.
    public init(
        id: ConversationID, title: String? = nil, createdAt: Date, lastActivityAt: Date, messageCount: Int,
        agents: [String] = [], preview: String = "", firstMessage: String? = nil, workingDirectory: String? = nil,
        branchName: String? = nil,
        metadata: [String: JSONValue] = [:], lastAccessedAt: Date? = nil, isPinned: Bool = false,
        isArchived: Bool = false, isUnread: Bool = false, tags: [String] = [], usage: TokenUsage = TokenUsage(),
        discardedAt: Date? = nil, branchOf: BranchPoint? = nil
    ) {
        self.id = id
        self.title = title
        self.createdAt = createdAt
        self.lastActivityAt = lastActivityAt
        self.messageCount = messageCount
        self.agents = agents
        self.preview = preview
        self.firstMessage = firstMessage
        self.workingDirectory = workingDirectory
        self.branchName = branchName
        self.metadata = metadata
        self.lastAccessedAt = lastAccessedAt ?? lastActivityAt
        self.isPinned = isPinned
        self.isArchived = isArchived
        self.isUnread = isUnread
        self.tags = tags
        self.usage = usage
        self.discardedAt = discardedAt
        self.branchOf = branchOf
    }

    /// What a list shows as its name: the title that was given, else the preview, else its session's id.
    public var displayTitle: String {
        if let title, !title.isEmpty { return title }
        return preview.isEmpty ? id.sessionId : preview
    }
}

/// The tokens that a conversation has used, as its messages tell in `usage` of their metadata.
public struct TokenUsage: Hashable, Sendable {
    /// Tokens that were sent, without those from and into a cache.
    public var input: Int
    /// Tokens that were generated.
    public var output: Int
    /// Tokens that were written to a provider's cache.
    public var cacheCreation: Int
    /// Tokens that were read from a provider's cache.
    public var cacheRead: Int

    /// Makes a sum of tokens.
    public init(input: Int = 0, output: Int = 0, cacheCreation: Int = 0, cacheRead: Int = 0) {
        self.input = input
        self.output = output
        self.cacheCreation = cacheCreation
        self.cacheRead = cacheRead
    }

    /// All of them.
    public var total: Int { input + output + cacheCreation + cacheRead }
}

/// Where a branch left its conversation.
public struct BranchPoint: Hashable, Sendable {
    /// The conversation's session.
    public var sessionId: String
    /// The last message that both have; `nil` where they differ from the first message on.
    public var messageId: String?

    /// Makes a point.
    public init(sessionId: String, messageId: String?) {
        self.sessionId = sessionId
        self.messageId = messageId
    }
}

/// What can be set of a conversation; fields left `nil` stay as they are.
public struct ConversationDetails: Hashable, Sendable {
    /// A title; an empty one takes the title away.
    public var title: String?
    /// The folder that it works in.
    public var workingDirectory: String?
    /// The branch, of Git say, that it works on.
    public var branchName: String?
    /// Members to set; others stay, a `null` removes.
    public var metadata: [String: JSONValue]
    /// Whether lists show it before others.
    public var isPinned: Bool?
    /// Whether it is put away.
    public var isArchived: Bool?
    /// Whether all that was said until now was read.
    public var isRead: Bool?
    /// Tags to add; any string but the empty one.
    public var addedTags: [String]
    /// Tags to take away.
    public var removedTags: [String]
    /// A moment at which it was opened; it never moves back.
    public var lastAccessedAt: Date?
    /// What its user said first, for a conversation that has no message yet; a first one given stays.
    public var firstMessage: String?
    /// When it was made, for a conversation that comes from elsewhere and is new here; a known one's stays.
    public var createdAt: Date?

    /// Makes details.
    public init(
        title: String? = nil, workingDirectory: String? = nil, branchName: String? = nil,
        metadata: [String: JSONValue] = [:], isPinned: Bool? = nil, isArchived: Bool? = nil, isRead: Bool? = nil,
        addedTags: [String] = [], removedTags: [String] = [], lastAccessedAt: Date? = nil, firstMessage: String? = nil,
        createdAt: Date? = nil
    ) {
        self.title = title
        self.workingDirectory = workingDirectory
        self.branchName = branchName
        self.metadata = metadata
        self.isPinned = isPinned
        self.isArchived = isArchived
        self.isRead = isRead
        self.addedTags = addedTags
        self.removedTags = removedTags
        self.lastAccessedAt = lastAccessedAt
        self.firstMessage = firstMessage
        self.createdAt = createdAt
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
