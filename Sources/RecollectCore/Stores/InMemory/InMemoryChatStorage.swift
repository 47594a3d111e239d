import Logging

/// A store in memory, for tests, previews and temporary sessions.
///
/// ```swift
/// let store = InMemoryChatStorage([ConversationMessage(role: .user, text: "A question for every preview")])
/// ```
///
/// All rules of a history apply except durability: the content is lost with the process. Every call runs to its end
/// on the caller's task, under one short lock and without waiting for a disk. A batch is saved completely or not at
/// all. Cancellation has no effect on a call in progress.
public final class InMemoryChatStorage: ChatStorage {
    /// The events of this store, about dropped messages.
    public let events: StoreEvents

    private let seed: Seed
    private let sameRole: SameRolePolicy
    private let sessions = Locked<[SessionKey: SessionMessages]>([:])

    /// Creates a store in which every scope, of every user and session, begins with `messages`.
    ///
    /// Seeded messages count as the first saved messages of each scope: they are part of its window, and are the
    /// first to be removed when a save trims the scope, in this scope only. The merged view shows all of them once,
    /// first and without a prefix. Saving a message with the ID of a seeded one has no effect.
    /// - Parameters:
    ///   - messages: The first messages of every scope.
    ///   - sameRole: The treatment of a message with the same role as the last stored one.
    ///   - logger: The logger of this store. Message bodies are never logged.
    public init(
        _ messages: [ConversationMessage] = [], sameRole: SameRolePolicy = .drop,
        logger: Logger = Logger(label: "recollect")
    ) {
        seed = Seed(messages: messages, ids: Set(messages.map { ByteString($0.id) }))
        self.sameRole = sameRole
        events = StoreEvents(logger: logger)
    }

    /// Returns the last messages of a scope, seeded ones first.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        let messages = sessions.withLock { sessions in
            sessions[SessionKey(userId: userId, sessionId: sessionId)]?.scopes[ByteString(agentId)]
        }
        return trimToEvenPairs(messages ?? seed.messages, maxMessages: maxMessages)
    }

    /// Saves one message, as a batch of one.
    public func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await saveMessages(
            [message], userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Saves a batch completely, then trims the scope to the budget.
    /// - Throws: `tooLarge` for a value nested deeper than `JSONValue.depthLimit`, `CancellationError` if the task
    ///   was canceled before the call. In both cases nothing is saved.
    public func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try Task.checkCancellation()
        try messages.checkSavable()
        let scope = Scope(userId: userId, sessionId: sessionId, agentId: agentId)
        let admission = sessions.withLock { sessions in
            sessions[scope.session, default: SessionMessages()].save(
                messages, agent: ByteString(agentId), seed: seed, sameRole: sameRole
            ) { trimToEvenPairs($0, maxMessages: maxMessages) }
        }
        admission.report(to: events, scope: scope)
    }

    /// Returns the seeded messages unchanged, then the saved messages of the session, merged by timestamp, with
    /// agent prefixes.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        let session = sessions.withLock { $0[SessionKey(userId: userId, sessionId: sessionId)] }
        let scopes = (session?.scopes ?? [:]).map { agent, messages in
            AgentMessages(
                agentId: agent.string, messages: messages.filter { !seed.ids.contains(ByteString($0.id)) })
        }
        return seed.messages + MergedChats.merge(scopes)
    }

    /// Returns the number of saves to the session so far.
    public func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        let saves = sessions.withLock { $0[SessionKey(userId: userId, sessionId: sessionId)]?.saves ?? 0 }
        return ChatVersion(rawValue: "\(saves)")
    }
}

/// The first messages of every scope.
private struct Seed: Sendable {
    let messages: [ConversationMessage]
    let ids: Set<ByteString>
}

/// The messages of a session by agent, including seeded ones.
private struct SessionMessages {
    var scopes: [ByteString: [ConversationMessage]] = [:]
    /// The IDs of the messages saved for each agent and not trimmed.
    var ids: [ByteString: Set<ByteString>] = [:]
    var saves = 0

    mutating func save(
        _ batch: [ConversationMessage], agent: ByteString, seed: Seed, sameRole: SameRolePolicy,
        trim: ([ConversationMessage]) -> [ConversationMessage]
    ) -> BatchFilter {
        // Removed and put back, because otherwise every save would copy the array.
        var messages = scopes.removeValue(forKey: agent) ?? seed.messages
        var ids = ids.removeValue(forKey: agent) ?? []
        saves += 1
        let admission = BatchFilter(of: batch, sameRole: sameRole, lastRole: messages.last?.role) {
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
