import Logging

/// Keeps messages in memory, for tests, previews and conversations that nobody wants to find again.
///
/// All rules of a history hold except durability: what is here is gone with the process. Nothing waits for a disk, so every
/// call runs to its end on the caller's task, under one short lock; a batch is whole or not there, and cancellation has
/// nothing to interrupt.
public final class InMemoryChatStorage: VersionedChatStorage {
    /// Where the store tells of messages that it dropped.
    public let events: StoreEvents

    private let seed: Seed
    private let sameRole: SameRole
    private let sessions = Locked<[ConversationID: Session]>([:])

    /// Makes a store whose every scope, of every user and session, begins with `messages`.
    ///
    /// Seeded messages are part of each scope as if they had been saved there first: they count in its window and are the
    /// first to go when a save trims that scope, and in that scope only. The merged view shows all of them, once and without
    /// a prefix, before everything else. Saving a message with the id of a seeded one changes nothing.
    /// - Parameters:
    ///   - messages: What every scope begins with.
    ///   - sameRole: What happens to a message that repeats the last stored role.
    ///   - logger: Where the store logs; never a message's body.
    public init(
        _ messages: [ConversationMessage] = [], sameRole: SameRole = .drop, logger: Logger = Logger(label: "recollect")
    ) {
        seed = Seed(messages: messages, ids: Set(messages.map { ByteString($0.id) }))
        self.sameRole = sameRole
        events = StoreEvents(logger: logger)
    }

    /// The last messages of a scope, seeded ones first.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        let messages = sessions.withLock { sessions in
            sessions[ConversationID(userId: userId, sessionId: sessionId)]?.scopes[ByteString(agentId)]
        }
        return trimToEvenPairs(messages ?? seed.messages, maxMessages: maxMessages)
    }

    /// Saves one message as a batch of one.
    public func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await saveMessages(
            [message], userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Saves a batch whole, then trims the scope to the budget.
    /// - Throws: `tooLarge` for a value nested deeper than `JSONValue.depthLimit`, `CancellationError` if the task was cancelled before;
    ///   then nothing is saved.
    public func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try Task.checkCancellation()
        try messages.checkSavable()
        let scope = Scope(userId: userId, sessionId: sessionId, agentId: agentId)
        let admission = sessions.withLock { sessions in
            sessions[scope.conversation, default: Session()].save(
                messages, agent: ByteString(agentId), seed: seed, sameRole: sameRole
            ) { trimToEvenPairs($0, maxMessages: maxMessages) }
        }
        admission.report(to: events, scope: scope)
    }

    /// The seeded messages as they are, then what was saved in the session, merged by timestamp and attributed.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        let session = sessions.withLock { $0[ConversationID(userId: userId, sessionId: sessionId)] }
        let scopes = (session?.scopes ?? [:]).map { agent, messages in
            (agentId: agent.string, messages: messages.filter { !seed.ids.contains(ByteString($0.id)) })
        }
        return seed.messages + MergedChats.merge(scopes)
    }

    /// The number of saves to the session so far.
    public func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        let saves = sessions.withLock { $0[ConversationID(userId: userId, sessionId: sessionId)]?.saves ?? 0 }
        return ChatVersion(rawValue: "\(saves)")
    }
}

/// What every scope begins with.
private struct Seed: Sendable {
    let messages: [ConversationMessage]
    let ids: Set<ByteString>
}

/// A session: what its agents hold, seeded messages included.
private struct Session {
    var scopes: [ByteString: [ConversationMessage]] = [:]
    /// The ids of all that was saved for each agent and is still there.
    var ids: [ByteString: Set<ByteString>] = [:]
    var saves = 0

    mutating func save(
        _ batch: [ConversationMessage], agent: ByteString, seed: Seed, sameRole: SameRole,
        trim: ([ConversationMessage]) -> [ConversationMessage]
    ) -> Admission {
        // Taken out and put back, so that the array is not copied by every save.
        var messages = scopes.removeValue(forKey: agent) ?? seed.messages
        var ids = ids.removeValue(forKey: agent) ?? []
        saves += 1
        let admission = Admission(of: batch, sameRole: sameRole, lastRole: messages.last?.role) {
            ids.contains($0) || seed.ids.contains($0)
        }
        messages += admission.accepted
        ids.formUnion(admission.accepted.map { ByteString($0.id) })
        let kept = trim(messages)
        for message in messages.dropLast(kept.count) { ids.remove(ByteString(message.id)) }
        scopes[agent] = kept
        self.ids[agent] = ids
        return admission
    }
}
