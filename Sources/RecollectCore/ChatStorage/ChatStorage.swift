/// A store of messages with one history for each scope of user, session and agent.
///
/// A custom store implements only this protocol. The guide "The rules of a history" describes its rules, and the
/// conformance suite in `RecollectTesting` checks them.
///
/// Every method can be called from any task at any time. `maxMessages` counts messages, not pairs. It is rounded
/// down to an even number; 1 or less means none, and `nil` means all.
public protocol ChatStorage: Sendable {
    /// Returns at most the last `maxMessages` messages of a scope, in the order of saving.
    ///
    /// - Returns: An empty array for an unknown scope.
    func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage]

    /// Saves one message, as a batch of one.
    func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws

    /// Saves a batch of messages in order, completely or not at all, then trims the scope to `maxMessages`.
    ///
    /// A message with the same role as the last stored one is dropped, except as part of a tool exchange. A message
    /// whose ID is already in the scope keeps its first content, so a retry is harmless. The same message can be
    /// saved for several agents of a session, and is stored for each of them.
    ///
    /// In a store with declared durability, the batch is durable when this method returns. A task canceled before
    /// the store accepts the batch saves nothing. After that point, cancellation has no effect, and the method
    /// returns or throws the real result.
    func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws

    /// Returns all messages of a session, merged over its agents by timestamp.
    ///
    /// The messages of each agent keep their order. Those of assistants get the prefix `[agentId]`.
    func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage]
}

/// Default values for stores and orchestrators.
public enum ChatStorageDefaults {
    /// The default budget of a scope, in messages.
    public static let maxMessages = 100
}
