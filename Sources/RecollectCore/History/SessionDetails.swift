import Foundation

/// Changes of a session's details. Fields with `nil` stay unchanged.
public struct SessionDetails: Hashable, Sendable {
    /// The title. An empty string removes it.
    public var title: String?
    /// The folder of the session's work.
    public var workingDirectory: String?
    /// The branch of the session's work, for example a Git branch.
    public var branchName: String?
    /// Members to set. A `null` removes a member; other members stay unchanged.
    public var metadata: [String: JSONValue]
    /// Whether lists show the session before others.
    public var isPinned: Bool?
    /// Whether the session is archived.
    public var isArchived: Bool?
    /// Whether all messages so far are marked as read.
    public var isRead: Bool?
    /// Tags to add. The empty string is not a tag.
    public var addedTags: [String]
    /// Tags to remove.
    public var removedTags: [String]
    /// The date of an opening. The stored date never moves back.
    public var lastAccessedAt: Date?
    /// The user's first message, for a session without messages. An earlier one stays unchanged.
    public var firstMessage: String?
    /// The creation date, for an imported session. That of an existing session stays unchanged.
    public var createdAt: Date?

    /// Creates details.
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
