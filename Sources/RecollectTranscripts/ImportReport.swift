/// What an import found and did.
public struct ImportReport: Hashable, Sendable {
    /// A line, or a whole file (line 0), that could not be read.
    public struct Unreadable: Hashable, Sendable {
        /// The file's path.
        public var file: String
        /// The line's number from 1; 0 where the file as a whole is meant.
        public var line: Int
        /// What is wrong with it.
        public var reason: String

        /// Makes an entry.
        public init(file: String, line: Int, reason: String) {
            self.file = file
            self.line = line
            self.reason = reason
        }
    }

    /// Sessions that messages were read of.
    public var sessions = 0
    /// The users whose sessions these are, in order.
    public var users: [String] = []
    /// Messages read.
    public var messages = 0
    /// Messages that are new in the history.
    public var added = 0
    /// Messages that the history already held.
    public var unchanged = 0
    /// Lines that are not conversation, by their kind.
    public var notConversation: [String: Int] = [:]
    /// What could not be read, the first 1,000 of it.
    public private(set) var unreadable: [Unreadable] = []
    /// How many lines and files could not be read.
    public private(set) var unreadableCount = 0
    /// Files whose last line is half written; it comes with the next import.
    public var unfinished = 0

    /// Makes an empty report.
    public init() {}

    /// Counts a line or file that could not be read.
    mutating func add(_ entry: Unreadable) {
        unreadableCount += 1
        if unreadable.count < 1_000 { unreadable.append(entry) }
    }

    /// Counts a line that is not conversation. A file can invent kinds without end; the names kept are few and short.
    mutating func add(notConversation kind: String) {
        let kind = String(kind.prefix(64))
        let isListed = notConversation[kind] != nil || notConversation.count < 100
        notConversation[isListed ? kind : "others", default: 0] += 1
    }
}

/// How far an import has come.
public struct ImportProgress: Hashable, Sendable {
    /// Bytes read of all files.
    public var bytesRead: Int64
    /// Bytes of all files when the import began.
    public var bytesTotal: Int64
    /// Messages read so far.
    public var messages: Int
}
