import Foundation

/// A session as shown in a list. Reading one reads no message bodies except for the preview.
public struct Session: Hashable, Sendable, Identifiable {
    /// The identifier of the session.
    public var id: SessionKey
    /// The session's explicit title; `nil` if none was set.
    public var title: String?
    /// The date of its first message.
    public var createdAt: Date
    /// The latest timestamp of its messages.
    public var lastActivityAt: Date
    /// The number of its messages, over all agents.
    public var messageCount: Int
    /// The IDs of its agents, in the order of their first messages.
    public var agentIds: [String]
    /// The beginning of the user's first message, at most 200 characters; empty if there is none.
    public var preview: String
    /// The user's first message as set by a UI (`SessionDetails.firstMessage`); `nil` if not set.
    public var firstMessage: String?
    /// The folder of the session's work.
    public var workingDirectory: String?
    /// The branch of the session's work, for example a Git branch.
    public var branchName: String?
    /// Additional data of the session.
    public var metadata: [String: JSONValue]
    /// The date of the last write or opening.
    public var lastAccessedAt: Date
    /// Whether lists show the session before others.
    public var isPinned: Bool
    /// Whether the session is archived.
    public var isArchived: Bool
    /// Whether the session has messages newer than its last read mark.
    public var isUnread: Bool
    /// The session's tags in byte order.
    public var tags: [String]
    /// The sum of the token counts in the metadata of its messages.
    public var usage: TokenUsage
    /// The date of the discard; `nil` for a session that is not discarded. A discarded session can be restored.
    public var discardedAt: Date?
    /// The origin of a branch; `nil` for a session that is not a branch.
    public var branchPoint: BranchPoint?

    /// Creates a session for a list. `lastAccessedAt` defaults to `lastActivityAt`.
    public init(
        id: SessionKey, title: String? = nil, createdAt: Date, lastActivityAt: Date, messageCount: Int,
        agentIds: [String] = [], preview: String = "", firstMessage: String? = nil, workingDirectory: String? = nil,
        branchName: String? = nil,
        metadata: [String: JSONValue] = [:], lastAccessedAt: Date? = nil, isPinned: Bool = false,
        isArchived: Bool = false, isUnread: Bool = false, tags: [String] = [], usage: TokenUsage = TokenUsage(),
        discardedAt: Date? = nil, branchPoint: BranchPoint? = nil
    ) {
        self.id = id
        self.title = title
        self.createdAt = createdAt
        self.lastActivityAt = lastActivityAt
        self.messageCount = messageCount
        self.agentIds = agentIds
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
        self.branchPoint = branchPoint
    }

    /// The key of `agentNames` in `metadata`.
    public static let agentNamesKey = "agentNames"

    /// The names of agents by their IDs, from `metadata`. An import names sub-agents by their tasks.
    public var agentNames: [String: String] {
        guard case .object(let names) = metadata[Self.agentNamesKey] else { return [:] }
        return names.compactMapValues(\.stringValue)
    }

    /// Returns a string on one line, at most 200 characters, or `nil` if it is blank.
    package static func preview(of text: String) -> String? {
        // A long text is cut first, so that the cost of a preview does not depend on it.
        let words = text.prefix(2000).singleLine
        return words.isEmpty ? nil : String(words.prefix(200))
    }

    /// The name for lists: the title, else the preview, else the session ID.
    public var displayTitle: String {
        if let title, !title.isEmpty { return title }
        return preview.isEmpty ? id.sessionId : preview
    }
}

/// The point at which a branch left its session.
public struct BranchPoint: Hashable, Sendable {
    /// The ID of the original session.
    public var sessionId: String
    /// The last message common to both; `nil` if they differ from the first message on.
    public var messageId: String?

    /// Creates a branch point.
    public init(sessionId: String, messageId: String?) {
        self.sessionId = sessionId
        self.messageId = messageId
    }
}
