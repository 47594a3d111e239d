import Foundation

/// Which of a user's conversations a list shows, and in which order.
///
/// All conditions must hold. Branches are never shown, discarded conversations only where they are asked for.
public struct ConversationQuery: Hashable, Sendable {
    /// What a list is ordered by. Two conversations of the same key are ordered by their session ids.
    public enum Order: Hashable, Sendable, CaseIterable {
        /// The latest activity first.
        case lastActivity
        /// The last opened or written first.
        case lastAccess
        /// The last made first.
        case creation
        /// By what a list shows as the title, A to Z; ASCII letters without their case.
        case title
        /// The most messages first.
        case messageCount
    }

    /// The user whose conversations are listed.
    public var userId: String
    /// What the list is ordered by.
    public var order: Order
    /// Whether the order is turned round: the oldest first, or Z to A.
    public var isReversed: Bool
    /// Only conversations whose title or preview holds this text, without case for ASCII letters, or among whose messages a search finds it; empty
    /// means all.
    public var text: String
    /// Only conversations with all these tags; at most 32,000 tags in the engine.
    public var tags: [String]
    /// Only conversations in which this agent has spoken.
    public var agentId: String?
    /// Only conversations whose last activity was at this moment or later.
    public var from: Date?
    /// Only conversations whose last activity was before this moment.
    public var until: Date?
    /// Only pinned ones, or only others.
    public var isPinned: Bool?
    /// Only archived ones, or only others.
    public var isArchived: Bool?
    /// Only unread ones, or only others.
    public var isUnread: Bool?
    /// Discarded conversations instead of all others.
    public var isDiscarded: Bool

    /// Makes a query; without conditions it shows all that were not discarded, the latest activity first.
    public init(
        userId: String, order: Order = .lastActivity, isReversed: Bool = false, text: String = "", tags: [String] = [],
        agentId: String? = nil, from: Date? = nil, until: Date? = nil, isPinned: Bool? = nil, isArchived: Bool? = nil,
        isUnread: Bool? = nil, isDiscarded: Bool = false
    ) {
        self.userId = userId
        self.order = order
        self.isReversed = isReversed
        self.text = text
        self.tags = tags
        self.agentId = agentId
        self.from = from
        self.until = until
        self.isPinned = isPinned
        self.isArchived = isArchived
        self.isUnread = isUnread
        self.isDiscarded = isDiscarded
    }
}
