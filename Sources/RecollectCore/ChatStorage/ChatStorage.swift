/// A store of messages with one history for each scope of user, session and agent.
///
/// ```swift
/// let question = ConversationMessage(role: .user, text: "When does the ferry leave?")
/// try await storage.save(question, userId: "ana", sessionId: "trip", agentId: "planner", maxMessages: 100)
/// let prompt = try await storage.fetch(userId: "ana", sessionId: "trip", agentId: "planner", maxMessages: 20)
/// ```
///
/// A custom store implements `fetch`, the two saves and `fetchAllChats`. The others are optional: each has a default
/// for stores without the feature, and a wrapper forwards them to the wrapped store (but see `window`). The four methods
/// of compactions are implemented or left out together. The guide "The rules of a history" describes the rules of a store,
/// and the conformance suite in `RecollectTesting` checks them.
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

    /// Returns the messages of a scope for a model within a budget of tokens, in the order of saving.
    ///
    /// The budget is used for the instructions (the messages with the role `system` before all others), then for the turns
    /// with a pinned message (`isPinned`), the newest first, then for the newest turns without a gap. A turn is a message
    /// of the user with everything up to the user's next one; consecutive messages of the user are one turn, and so are
    /// the messages before the user's first one. An instruction or a pinned turn without room is left out. If the last
    /// turn alone exceeds the rest of the budget, its oldest tool exchanges are left out until it fits.
    ///
    /// With a compaction in effect, its summary follows the instructions, as a further one (`Compaction.message`), and of the
    /// messages covered by it, only pinned turns are used. If the summary does not fit into the budget, the window is made as
    /// without a compaction.
    ///
    /// The default uses `compacted`, and otherwise reads all messages with `fetch`. A wrapper that changes messages or adds
    /// some should keep it. The counter may get attachments with or without their bytes.
    /// - Parameters:
    ///   - tokens: The maximum sum of the messages' tokens. 0 or less returns an empty array.
    ///   - counter: Counts the tokens of a message.
    func window(
        userId: String, sessionId: String, agentId: String, tokens: Int, counter: TokenCounter
    ) async throws -> [ConversationMessage]

    /// Returns the messages of a scope with the compaction in effect: the instructions, the summary, the pinned turns
    /// covered by it, and all messages not covered.
    ///
    /// `fetch` and `fetchAllChats` return all messages, regardless of compactions.
    func compactedMessages(userId: String, sessionId: String, agentId: String) async throws -> CompactedMessages

    /// Saves a summary in place of the first messages not covered by a compaction. The messages stay unchanged.
    ///
    /// Nothing is saved if the summarized messages or the compaction in effect have changed since they were read. With
    /// `DeviceChatStorage`, the check and the save are one step, and the compaction is durable as any save: see
    /// `HistoryStore.compact`. By default, a store saves compactions as messages of a reserved agent, with an ID beginning
    /// with `SummarizingChatStorage.reservedPrefix`, and does not detect a change between the check and the save.
    /// - Parameters:
    ///   - messages: The summarized messages: the first ones of `compacted`, without gaps. They may begin with the
    ///     instructions, which are not covered.
    ///   - summary: The text in place of these and of all messages covered before.
    ///   - author: The writer of the summary: the name of a model or a program.
    ///   - previousId: The ID of the compaction in effect when the messages were read; `nil` for none.
    /// - Throws: `invalidArgument` for an empty summary or no messages, or if the last one is inside a tool exchange;
    ///   `notFound` without the last message; `conflict` if the other messages or the compaction have changed;
    ///   `verificationFailed` if the store changes summaries.
    @discardableResult
    func compact(
        _ messages: [ConversationMessage], into summary: String, by author: String, after previousId: String?,
        userId: String, sessionId: String, agentId: String
    ) async throws -> Compaction

    /// Returns the compactions of a scope, the oldest first. The last one is in effect, unless its messages are gone.
    func compactions(userId: String, sessionId: String, agentId: String) async throws -> [Compaction]

    /// Removes a compaction permanently. If it was in effect, the one before is in effect again.
    /// - Returns: Whether there was such a compaction.
    @discardableResult
    func removeCompaction(_ id: String, userId: String, sessionId: String, agentId: String) async throws -> Bool

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

    /// Begins a streaming reply, saved in increments, so that its text survives the end of the process: see
    /// `StreamingReply`.
    ///
    /// When the reply ends, it becomes a message of the scope regardless of the last message's role, and the scope
    /// is trimmed to `maxMessages`.
    ///
    /// - Returns: `nil` if the store does not save streaming replies, as by default. An orchestrator then holds the
    ///   reply in memory until its end.
    /// - Throws: `invalidArgument` if a streaming or complete reply of the scope, an interrupted one with content not at
    ///   the beginning of `message`, or a message of another role already has this ID. If this method throws, no reply
    ///   has begun.
    func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> StreamingReply?

    /// Returns the streaming replies of a session, from this and other processes, with `isStreaming` set.
    ///
    /// Replies from ended processes are first saved as interrupted replies, and from then on are ordinary messages.
    /// - Returns: An empty array if the store does not save streaming replies, as by default.
    func streamingReplies(userId: String, sessionId: String) async throws -> [AgentMessage]

    /// Waits for the lease of a session, after all earlier ones, so that the turns of several orchestrators and programs in a session
    /// run one after the other: see `TurnLease`.
    ///
    /// A canceled call gets no lease.
    /// - Returns: `nil` if the store does not support leases, as by default.
    /// - Throws: `invalidArgument` inside a turn with a lease of the session; errors of the store.
    func lease(userId: String, sessionId: String) async throws -> TurnLease?

    /// Returns the version of the session's current state, for detecting changes without reading it: see
    /// `CachingChatStorage`.
    ///
    /// Two calls return the same version only if every read between them returned the same content. Every completed
    /// write changes the version, by this or another instance or process, through this or another view. The version
    /// may also change without a reason. Versions are comparable only within one instance, and are not stored.
    /// - Returns: `nil` if the store has no versions, as by default. Then only reading shows the writes of other
    ///   processes.
    func version(userId: String, sessionId: String) async throws -> ChatVersion?

    /// Whether the parts of a message are read as they were saved; `true` by default.
    ///
    /// An orchestrator compares an input with the saved message of its ID: with other content, it is another question. With
    /// `false`, the ID alone identifies a question with a reply. A wrapper returns the wrapped store's value, or `false` if it
    /// changes messages. A store with changes and the value `true` gets each changed question three times.
    var preservesContent: Bool { get }
}

extension ChatStorage {
    /// Returns the messages for a model, from all messages of the scope.
    public func window(
        userId: String, sessionId: String, agentId: String, tokens: Int, counter: TokenCounter
    ) async throws -> [ConversationMessage] {
        let compacted = try await compactedMessages(userId: userId, sessionId: sessionId, agentId: agentId)
        if let window = compacted.window(tokens: tokens, counter: counter) { return window }
        return try await fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: nil)
            .window(tokens: tokens, counter: counter)
    }

    /// Returns the messages for a model, with the estimated number of tokens.
    public func window(
        userId: String, sessionId: String, agentId: String, tokens: Int
    ) async throws -> [ConversationMessage] {
        try await window(userId: userId, sessionId: sessionId, agentId: agentId, tokens: tokens, counter: .estimate)
    }

    /// Returns `nil`: no streaming replies.
    public func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> StreamingReply? { nil }

    /// Returns an empty array: no streaming replies.
    public func streamingReplies(userId: String, sessionId: String) async throws -> [AgentMessage] { [] }

    /// Returns `nil`: no leases.
    public func lease(userId: String, sessionId: String) async throws -> TurnLease? { nil }

    /// Returns `nil`: no versions.
    public func version(userId: String, sessionId: String) async throws -> ChatVersion? { nil }

    /// `true`: messages are read as they were saved.
    public var preservesContent: Bool { true }
}

/// Default values for stores and orchestrators.
public enum ChatStorageDefaults {
    /// The default budget of a scope, in messages.
    public static let maxMessages = 100
}
