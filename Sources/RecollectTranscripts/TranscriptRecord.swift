import RecollectCore

/// A record of another program's history, from one line or row, with its session and agent.
public struct TranscriptRecord: Sendable {
    /// The content of a record.
    public enum Content: Sendable {
        /// A message.
        case message(ConversationMessage)
        /// A title for the session of a message, possibly a different one than the record's.
        case title(String, lastMessageId: String)
        /// A title of the record's session, by its user or generated. The last one by a user counts or, without any, the
        /// last generated one.
        case sessionTitle(String, isByUser: Bool)
        /// Details of the session.
        case details(SessionDetails)
        /// A line without session content.
        case other(kind: String)
        /// An unreadable line, with the reason.
        case unreadable(reason: String)
        /// An incomplete line at the end of a file still being written.
        case unfinished
    }

    /// The user ID, if the history has one.
    public var userId: String?
    /// The session ID.
    public var sessionId: String
    /// The agent ID.
    public var agentId: String
    /// The number of the line or row, from 1; 0 for none.
    public var line: Int
    /// The content of the line.
    public var content: Content

    /// Creates a record.
    public init(userId: String? = nil, sessionId: String, agentId: String, line: Int, content: Content) {
        self.userId = userId
        self.sessionId = sessionId
        self.agentId = agentId
        self.line = line
        self.content = content
    }
}

/// A reader of another program's history, record by record. Unreadable lines are records too, so they do not stop
/// the import.
///
/// All calls block, and must be made outside Swift's cooperative threads, one at a time.
public protocol TranscriptReading: AnyObject {
    /// The path of the history, for messages.
    var path: String { get }
    /// The number of bytes read so far.
    var bytesRead: Int64 { get }
    /// Returns the next record; `nil` at the end.
    func next() throws -> TranscriptRecord?
}

/// A format of importable history other than JSON Lines.
public protocol TranscriptFormat: Sendable {
    /// The name of this format in error messages, after "neither": `a ClaudeCodeUI database`.
    var name: String { get }

    /// Returns the transcripts at a path resolved from links; empty if there is nothing in this format. Blocks.
    /// - Throws: `RecollectError` for unreadable content in this format.
    func transcripts(at path: String) throws -> [TranscriptFile]
}

/// A transcript found by an import and not opened yet.
public struct TranscriptFile: Sendable {
    /// The name of the transcript in the import.
    public var path: String
    /// The size in bytes, for progress.
    public var byteCount: Int64
    /// Opens the transcript; blocks.
    public var open: @Sendable () throws -> any TranscriptReading

    /// Creates a found transcript.
    public init(path: String, byteCount: Int64, open: @escaping @Sendable () throws -> any TranscriptReading) {
        self.path = path
        self.byteCount = byteCount
        self.open = open
    }
}
