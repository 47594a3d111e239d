/// A chat store that saves a streaming reply in increments, so that its text survives the end of the process.
///
/// Optional: with a store of only the four methods of `ChatStorage`, an orchestrator holds the reply in memory
/// until its end. A wrapper forwards both calls to the wrapped store.
public protocol StreamingChatStorage: ChatStorage {
    /// Begins a streaming reply: see `StreamingReply`.
    ///
    /// When the reply ends, it becomes a message of the scope regardless of the last message's role, and the scope
    /// is trimmed to `maxMessages`.
    ///
    /// - Returns: `nil` in a wrapper around a store without streaming replies.
    /// - Throws: `invalidArgument` if a streaming reply of the scope, or a message of another role, already has this
    ///   ID. If this method throws, no reply has begun.
    func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> StreamingReply?

    /// Returns the streaming replies of a session, from this and other processes, with `isStreaming` set.
    ///
    /// Replies from ended processes are first saved as interrupted replies, and from then on are ordinary messages.
    func streamingReplies(
        userId: String, sessionId: String
    ) async throws -> [(agentId: String, message: ConversationMessage)]
}
