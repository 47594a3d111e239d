/// A place in the change feed; it stays good across restarts.
public struct ChangeCursor: Hashable, Comparable, Sendable, Codable {
    /// The number of the last change before this place; 0 is the beginning.
    public let sequence: Int64

    /// Makes a cursor from a stored number.
    public init(sequence: Int64) {
        self.sequence = sequence
    }

    /// The beginning of the feed.
    public static let beginning = ChangeCursor(sequence: 0)

    /// Whether one place is before the other.
    public static func < (left: ChangeCursor, right: ChangeCursor) -> Bool {
        left.sequence < right.sequence
    }
}

/// One change of a history.
///
/// The feed tells what there is to read, not what it was: a message that was added and then deleted appears only as deleted.
public struct HistoryChange: Hashable, Sendable {
    /// What happened; new kinds may come with new versions.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The kind's name, stable across versions.
        public let rawValue: String

        /// Makes a kind from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A message was added.
        public static let messageAdded = Kind(rawValue: "messageAdded")
        /// A message got new content, or belongs to an agent now where it belonged to none.
        public static let messageEdited = Kind(rawValue: "messageEdited")
        /// A message was deleted.
        public static let messageDeleted = Kind(rawValue: "messageDeleted")
        /// A conversation's details were set, or it was discarded or restored.
        public static let conversationUpdated = Kind(rawValue: "conversationUpdated")
        /// A conversation has other messages than before: what a branch took out or brought back, another session's, or without
        /// those that grew too old.
        public static let conversationRearranged = Kind(rawValue: "conversationRearranged")
        /// A conversation was deleted, or lives on under another session id.
        public static let conversationDeleted = Kind(rawValue: "conversationDeleted")
        /// A user's whole history was deleted.
        public static let userDeleted = Kind(rawValue: "userDeleted")
    }

    /// The place in the feed after this change.
    public var cursor: ChangeCursor
    /// What happened.
    public var kind: Kind
    /// The conversation; for `userDeleted` its session is empty.
    public var conversation: ConversationID
    /// The agent, where a message is meant.
    public var agentId: String?
    /// The message, where one is meant.
    public var messageId: String?

    /// Makes a change.
    public init(
        cursor: ChangeCursor, kind: Kind, conversation: ConversationID, agentId: String? = nil, messageId: String? = nil
    ) {
        self.cursor = cursor
        self.kind = kind
        self.conversation = conversation
        self.agentId = agentId
        self.messageId = messageId
    }
}
