import RecollectCore

/// An occurrence of a word in a history's files.
public struct WordTrace: Sendable, Codable, Hashable {
    /// The kind of content. Newer versions may add kinds.
    public struct Kind: RawRepresentable, Sendable, Codable, Hashable {
        /// The kind's name, stable across versions.
        public let rawValue: String

        /// Creates a kind from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A message or a streaming reply.
        public static let message = Kind(rawValue: "message")
        /// The summary of a compaction, or another value of it.
        public static let compaction = Kind(rawValue: "compaction")
        /// The details of a session: its ID, title, tags, and others.
        public static let session = Kind(rawValue: "session")
        /// A row of the change feed.
        public static let record = Kind(rawValue: "record")
        /// A term of the search index.
        public static let index = Kind(rawValue: "index")
        /// Bytes of a file, of any content.
        public static let bytes = Kind(rawValue: "bytes")
    }

    /// The kind of content.
    public var kind: Kind
    /// The file, by its path in the history's folder.
    public var file: String
    /// The offset of the first occurrence in the file, in bytes, if it is known.
    public var offset: Int?
    /// The page of the search index, for terms of the index.
    public var page: Int?
    /// The number of occurrences in this file or row.
    public var count = 1
    /// Whether it belongs to content not deleted. Bytes of the database count as such if any of its rows has the
    /// word.
    public var isLive: Bool
    /// The user ID, if it is known.
    public var userId: String?
    /// The session ID, if it is known.
    public var sessionId: String?
    /// The message ID, for messages.
    public var messageId: String?
}
