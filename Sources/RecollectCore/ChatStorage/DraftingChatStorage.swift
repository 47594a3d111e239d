/// A chat storage that keeps a reply while it streams, so that what was said outlives the process that said it.
///
/// Optional: an orchestrator that is given a store of just the four methods holds the reply in memory until it ends. A wrapper
/// passes both calls on to the store that it wraps.
public protocol DraftingChatStorage: ChatStorage {
    /// Begins a reply that is kept while it streams: see `ReplyDraft`. When it ends, it is a message of the scope whatever role
    /// the last one has, and the scope is trimmed to `maxMessages`.
    ///
    /// - Returns: `nil` where this store keeps none: a wrapper around a store that does not.
    /// - Throws: `invalidArgument` where a reply of that id is in flight in that session. Where this throws, no reply has begun.
    func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> ReplyDraft?

    /// The replies in flight of a session, of this and of other processes, with `isInFlight` set. Those whose process has ended
    /// are saved first, as interrupted ones, and are then messages like any other.
    func repliesInFlight(
        userId: String, sessionId: String
    ) async throws -> [(agentId: String, message: ConversationMessage)]
}
