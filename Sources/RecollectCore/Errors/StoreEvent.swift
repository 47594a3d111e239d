import Foundation

/// A notice posted by a store about an action of its own, such as a dropped message or a file set aside.
public struct StoreEvent: Sendable {
    /// The kind of an event. New versions may add kinds.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The kind's name, stable across versions.
        public let rawValue: String

        /// Creates a kind from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A message repeated the last stored role and was not saved.
        public static let droppedSameRole = Kind(rawValue: "droppedSameRole")
        /// A damaged file was set aside, and its readable content was kept.
        public static let salvaged = Kind(rawValue: "salvaged")
        /// The log of a read-only history is damaged. The messages after the damage are hidden until the history
        /// is opened for writing.
        public static let hiddenMessages = Kind(rawValue: "hiddenMessages")
        /// A foreign file had the name of one of Recollect's files. It was set aside, or left untouched if the
        /// event has no `setAsideURL`. It is never removed.
        public static let foreignFile = Kind(rawValue: "foreignFile")
        /// The saved ID of a hashed file or folder name is missing, so the owner of its chats is unknown.
        public static let missingFile = Kind(rawValue: "missingFile")
        /// Another program replaced or removed the files of an open store. The store continues with the current
        /// files.
        public static let storeReplaced = Kind(rawValue: "storeReplaced")
        /// The writer of a streaming reply ended before the reply did. The reply was saved up to that point.
        public static let interruptedReply = Kind(rawValue: "interruptedReply")
        /// The messages of a listed session could not be read. The session showed none.
        public static let unreadableSession = Kind(rawValue: "unreadableSession")
        /// Deleted content has been erased from the files.
        public static let erased = Kind(rawValue: "erased")
        /// The search index was rebuilt.
        public static let rebuiltIndex = Kind(rawValue: "rebuiltIndex")
        /// A conflict of versions of one file was resolved.
        public static let resolvedConflict = Kind(rawValue: "resolvedConflict")
        /// Files with a name collision were found.
        public static let nameCollision = Kind(rawValue: "nameCollision")
        /// Most or all files of a workspace were missing at once. They are not treated as deleted.
        public static let massDeletion = Kind(rawValue: "massDeletion")
        /// A file too large for a synced folder was written.
        public static let largeFile = Kind(rawValue: "largeFile")
        /// A file is written too often for a synced folder.
        public static let frequentWrites = Kind(rawValue: "frequentWrites")
        /// A person's edit of a file written by Recollect was taken in, or archived if it could not be.
        public static let externalEdit = Kind(rawValue: "externalEdit")
        /// A summary could not be made or saved. Agents are given the messages instead.
        public static let summaryFailed = Kind(rawValue: "summaryFailed")
    }

    /// The kind of the event.
    public let kind: Kind
    /// The scope of the event, if it has one.
    public let scope: Scope?
    /// The ID of the message, if the event has one.
    public let messageId: String?
    /// The path of the file, relative to the root of its workspace, if the event has one.
    public let path: String?
    /// The file set aside, at its new path.
    public let setAsideURL: URL?
    /// The number of messages read and kept; `nil` if not applicable.
    public let recoveredMessages: Int?
    /// The number of messages known to be lost; `nil` if unknown.
    public let lostMessages: Int?
    /// The sessions with messages known to be lost. Never logged.
    public let lostSessions: [SessionLoss]
    /// The error behind the event, if there is one. Only its code or its type is logged.
    public let failure: (any Error)?

    /// Creates an event.
    public init(
        kind: Kind, scope: Scope? = nil, messageId: String? = nil, path: String? = nil, setAsideURL: URL? = nil,
        recoveredMessages: Int? = nil, lostMessages: Int? = nil, lostSessions: [SessionLoss] = [],
        failure: (any Error)? = nil
    ) {
        self.kind = kind
        self.scope = scope
        self.messageId = messageId
        self.path = path
        self.setAsideURL = setAsideURL
        self.recoveredMessages = recoveredMessages
        self.lostMessages = lostMessages
        self.lostSessions = lostSessions
        self.failure = failure
    }
}
