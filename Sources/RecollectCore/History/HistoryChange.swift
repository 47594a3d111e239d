/// A position in the change feed, valid across restarts.
public struct ChangeCursor: Hashable, Comparable, Sendable, Codable {
    /// The number of the last change before this position; 0 at the beginning.
    public let sequence: Int64

    /// Creates a cursor from a stored number.
    public init(sequence: Int64) {
        self.sequence = sequence
    }

    /// The beginning of the feed.
    public static let beginning = ChangeCursor(sequence: 0)

    /// Whether the left position is before the right one.
    public static func < (left: ChangeCursor, right: ChangeCursor) -> Bool {
        left.sequence < right.sequence
    }
}

/// A change of a history.
///
/// The feed lists content to read again, not past content: a message added and then deleted appears only as
/// deleted.
public struct HistoryChange: Hashable, Sendable {
    /// The kind of a change. Newer versions may add kinds.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The kind's name, stable across versions.
        public let rawValue: String

        /// Creates a kind from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A message was added.
        public static let messageAdded = Kind(rawValue: "messageAdded")
        /// A message got new content, or was assigned to an agent for the first time.
        public static let messageEdited = Kind(rawValue: "messageEdited")
        /// A message was deleted.
        public static let messageDeleted = Kind(rawValue: "messageDeleted")
        /// A session's details were set, or it was discarded or restored.
        public static let sessionUpdated = Kind(rawValue: "sessionUpdated")
        /// A session's list of messages changed: by a branch, by messages from another session, or by the removal
        /// of expired messages. A session moved to another ID, or expired in the trash, has this change, too, beside
        /// `sessionDeleted`. Before `userDeleted`, one without a session ID concerns all sessions of the user.
        public static let sessionRearranged = Kind(rawValue: "sessionRearranged")
        /// A compaction of a session was saved or removed, other than with its messages.
        public static let sessionCompacted = Kind(rawValue: "sessionCompacted")
        /// A session was deleted, or continues under another session ID.
        public static let sessionDeleted = Kind(rawValue: "sessionDeleted")
        /// A user's whole history was deleted.
        public static let userDeleted = Kind(rawValue: "userDeleted")
    }

    /// The position in the feed after this change.
    public var cursor: ChangeCursor
    /// The kind of the change.
    public var kind: Kind
    /// The session. Its session ID is empty for a change of all sessions of the user.
    public var session: SessionKey
    /// The agent, for a change of a message.
    public var agentId: String?
    /// The message, for a change of a message.
    public var messageId: String?
    /// The position in the feed after the addition of the message, for a change of a message.
    ///
    /// It identifies the message: another one, added later with the same ID, has another position. `nil` for a change recorded
    /// by a version without these positions.
    public var additionCursor: ChangeCursor?

    /// Creates a change.
    public init(
        cursor: ChangeCursor, kind: Kind, session: SessionKey, agentId: String? = nil, messageId: String? = nil,
        additionCursor: ChangeCursor? = nil
    ) {
        self.cursor = cursor
        self.kind = kind
        self.session = session
        self.agentId = agentId
        self.messageId = messageId
        self.additionCursor = additionCursor
    }
}
