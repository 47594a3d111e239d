/// What one line or row of another program's history is, and which session and agent it belongs to.
public struct TranscriptRecord: Sendable {
    /// What a line is.
    public enum Content: Sendable {
        /// A message.
        case message(ConversationMessage)
        /// A title for the session that holds a message, which may be another than the line's.
        case title(String, lastMessageId: String)
        /// What the history says of its session.
        case details(ConversationDetails)
        /// A line that is not conversation.
        case other(kind: String)
        /// A line that cannot be read, and why.
        case unreadable(reason: String)
        /// Half a line at the end of a file that is still being written.
        case unfinished
    }

    /// The user, where the history names one.
    public var userId: String?
    /// The session.
    public var sessionId: String
    /// The agent.
    public var agentId: String
    /// The line's or row's number from 1; 0 where none is meant.
    public var line: Int
    /// What the line is.
    public var content: Content

    /// Makes a record.
    public init(userId: String? = nil, sessionId: String, agentId: String, line: Int, content: Content) {
        self.userId = userId
        self.sessionId = sessionId
        self.agentId = agentId
        self.line = line
        self.content = content
    }
}

/// Reads another program's history record by record; what cannot be read is a record too, so nothing stops the rest.
///
/// Its calls block: they are made off Swift's cooperative threads, one after the other.
public protocol TranscriptReading: AnyObject {
    /// What is read, for messages.
    var path: String { get }
    /// How many bytes of it have been read.
    var bytesRead: Int64 { get }
    /// The next record; `nil` at the end.
    func next() throws -> TranscriptRecord?
}

/// A kind of history that an import knows, beside files of lines.
public protocol TranscriptKind: Sendable {
    /// What an error says that this kind is, after "neither": `a ClaudeCodeUI database`.
    var name: String { get }

    /// The transcripts that stand at a path without a link in it; empty where there is nothing of this kind. Blocks.
    /// - Throws: `RecollectError` where there is something of this kind that cannot be read.
    func transcripts(at path: String) throws -> [FoundTranscript]
}

/// A transcript that was found and is read when its turn comes.
public struct FoundTranscript: Sendable {
    /// What an import calls it.
    public var path: String
    /// Its size in bytes, for progress.
    public var byteCount: Int64
    /// Opens it; blocks.
    public var open: @Sendable () throws -> any TranscriptReading

    /// Makes one.
    public init(path: String, byteCount: Int64, open: @escaping @Sendable () throws -> any TranscriptReading) {
        self.path = path
        self.byteCount = byteCount
        self.open = open
    }
}
