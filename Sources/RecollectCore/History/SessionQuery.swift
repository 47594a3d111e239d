import Foundation

/// The conditions and order of a list of a user's sessions.
///
/// ```swift
/// let query = SessionQuery(userId: "ana", text: "ferry", tags: ["travel"], isArchived: false)
/// let first = try await history.sessions(query, page: PageRequest(limit: 20))
/// for session in first.elements { print(session.displayTitle, session.messageCount) }
/// if let cursor = first.next {
///     let second = try await history.sessions(query, page: PageRequest(limit: 20, after: cursor))
///     print(second.elements.count, "more")
/// }
/// ```
///
/// A listed session fulfills all conditions. Branches are never listed, and discarded sessions only with
/// `isDiscarded`.
public struct SessionQuery: Hashable, Sendable {
    /// The order of a list. Sessions with equal keys are ordered by session ID.
    public enum Order: Hashable, Sendable, CaseIterable {
        /// The latest activity first.
        case lastActivity
        /// The last opened or written first.
        case lastAccess
        /// The last created first.
        case creation
        /// By display title, A to Z, ignoring the case of ASCII letters.
        case title
        /// The most messages first.
        case messageCount
    }

    /// The owner of the listed sessions.
    public var userId: String
    /// The order of the list.
    public var order: Order
    /// Whether the order is reversed: the oldest first, or Z to A.
    public var isReversed: Bool
    /// Only sessions with this text in the title or preview, ignoring the case of ASCII letters, or with a message that has
    /// all of its words; empty means all. The signs and fields of a search count, too (``SearchQuery``). No words are
    /// corrected.
    public var text: String
    /// Only sessions with all these tags, at most 32,000 in the SQLite store.
    public var tags: [String]
    /// Only sessions with messages of this agent.
    public var agentId: String?
    /// Only sessions with their last activity on or after this date.
    public var from: Date?
    /// Only sessions with their last activity before this date.
    public var until: Date?
    /// Only pinned sessions (`true`) or only others (`false`).
    public var isPinned: Bool?
    /// Only archived sessions (`true`) or only others (`false`).
    public var isArchived: Bool?
    /// Only unread sessions (`true`) or only others (`false`).
    public var isUnread: Bool?
    /// Whether the list has only discarded sessions, instead of only others.
    public var isDiscarded: Bool

    /// Creates a query. The default conditions select all sessions that are not discarded, the latest activity
    /// first.
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
