import RecollectCore

/// A place in a history's files where a word stands.
public struct WordTrace: Sendable, Codable, Hashable {
    /// What stands there; new kinds may come with new versions.
    public struct Kind: RawRepresentable, Sendable, Codable, Hashable {
        /// The kind's name, stable across versions.
        public let rawValue: String

        /// Makes a kind from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A message, or a reply in flight.
        public static let message = Kind(rawValue: "message")
        /// What is known of a session beside its messages: its id, title, tags, details.
        public static let session = Kind(rawValue: "session")
        /// The change feed, or the list of what is to be erased.
        public static let record = Kind(rawValue: "record")
        /// A term of the search index.
        public static let index = Kind(rawValue: "index")
        /// Bytes of a file, whatever they are.
        public static let bytes = Kind(rawValue: "bytes")
    }

    /// What stands there.
    public var kind: Kind
    /// The file, by its path in the history's folder.
    public var file: String
    /// The offset in the file of the first place, in bytes, where it is known.
    public var offset: Int?
    /// The page of the search index, where it is one.
    public var page: Int?
    /// How many places there are, in this file or row.
    public var count = 1
    /// Whether it belongs to something that was not deleted. Bytes of the database count as that if any of its rows has the word.
    public var isLive: Bool
    /// The user that it belongs to, where it is known.
    public var userId: String?
    /// The session that it belongs to, where it is known.
    public var sessionId: String?
    /// The message that it belongs to, where it is one.
    public var messageId: String?
}
