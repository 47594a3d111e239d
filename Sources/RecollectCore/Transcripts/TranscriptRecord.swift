import RecollectCore

/// What one line of a transcript is, and which session and agent it belongs to.
public struct TranscriptRecord: Sendable {
    /// What a line is.
    public enum Content: Sendable {
        /// A message.
        case message(ConversationMessage)
        /// A title for the session that holds a message, which may be another than the line's.
        case title(String, lastMessageId: String)
        /// What an export says of its session.
        case details(ConversationDetails)
        /// A line that is not conversation.
        case other(kind: String)
        /// A line that cannot be read, and why.
        case unreadable(reason: String)
        /// Half a line at the end of a file that is still being written.
        case unfinished
    }

    /// The session.
    public var sessionId: String
    /// The agent; `TranscriptReader.mainAgentId` where a Claude Code session itself speaks.
    public var agentId: String
    /// The line's number from 1.
    public var line: Int
    /// What the line is.
    public var content: Content
}
