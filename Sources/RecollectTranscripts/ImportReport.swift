/// The results of an import.
public struct ImportReport: Hashable, Sendable {
    /// An unreadable line, or an unreadable file (line 0).
    public struct Unreadable: Hashable, Sendable {
        /// The file's path.
        public var file: String
        /// The line number from 1; 0 for the file as a whole.
        public var line: Int
        /// A description of the error.
        public var reason: String

        /// Creates an entry.
        public init(file: String, line: Int, reason: String) {
            self.file = file
            self.line = line
            self.reason = reason
        }
    }

    /// The number of sessions read.
    public var sessionCount = 0
    /// The users of these sessions, sorted.
    public var users: [String] = []
    /// The number of messages read.
    public var messageCount = 0
    /// The number of messages new in the history.
    public var addedCount = 0
    /// The number of messages already in the history.
    public var unchangedCount = 0
    /// The number of lines other than messages, by type.
    public var skippedLines: [String: Int] = [:]
    /// Unreadable lines and files; the first 1,000 of them.
    public private(set) var unreadable: [Unreadable] = []
    /// The number of unreadable lines and files.
    public private(set) var unreadableCount = 0
    /// The number of files with an incomplete last line. The next import adds that line.
    public var unfinishedCount = 0

    /// Creates an empty report.
    public init() {}

    /// Counts an unreadable line or file.
    mutating func add(_ entry: Unreadable) {
        unreadableCount += 1
        if unreadable.count < 1_000 { unreadable.append(entry) }
    }

    /// Counts a line other than a message. Types are cut to 64 characters and limited to 100, since a file may
    /// have any number of them; further ones are counted as `others`.
    mutating func add(skippedLines kind: String) {
        let kind = String(kind.prefix(64))
        let isListed = skippedLines[kind] != nil || skippedLines.count < 100
        skippedLines[isListed ? kind : "others", default: 0] += 1
    }
}

/// The progress of an import.
public struct ImportProgress: Hashable, Sendable {
    /// The bytes read so far, of all files.
    public var bytesRead: Int64
    /// The bytes of all files at the start of the import.
    public var bytesTotal: Int64
    /// The number of messages read so far.
    public var messages: Int
}
