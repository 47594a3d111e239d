/// Keeps what was said to and by agents, one history per scope of (user, session, agent).
///
/// This is the whole protocol that a store of your own implements; the rules that it keeps are written down in the guide
/// "The rules of a history" and proved by the conformance suite in `RecollectTesting`.
///
/// Every method may be called from any task at any time. `maxMessages` counts messages, not pairs; it is rounded down to
/// even, 1 or less means none, `nil` means all.
public protocol ChatStorage: Sendable {
    /// The messages of one scope in the order of saving, at most the last `maxMessages`; empty for an unknown scope.
    func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage]

    /// Saves one message: `saveMessages` with a batch of one.
    func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws

    /// Saves a batch in order, whole or not at all, then trims the scope to `maxMessages`.
    ///
    /// A message whose role repeats the last stored one's is dropped unless it belongs to a tool exchange; a message whose
    /// id the scope already holds keeps its first content, so that a retry is harmless; the same message may be saved for
    /// several agents of a session, and is kept for each. When this returns, a store that
    /// declares durability has the batch on the disk. A task that was cancelled before the store took the batch has saved
    /// nothing; after that it gets the true result.
    func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws

    /// All messages of a session, merged over its agents by timestamp without reordering any agent's, with what assistants
    /// said prefixed `[agentId]`.
    func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage]
}

/// Defaults that stores and orchestrators share.
public enum ChatStorageDefaults {
    /// The usual budget of a scope, in messages.
    public static let maxMessages = 100
}
