/// Default implementations, and calls with default values.
extension HistoryStore {
    /// Returns `nil`: no versions.
    public func version(of session: SessionKey) async throws -> ChatVersion? { nil }

    /// Returns the messages for a model, from all messages of the scope.
    public func window(of scope: Scope, tokens: Int, counter: TokenCounter) async throws -> [ConversationMessage] {
        if let window = try await compactedMessages(of: scope).window(tokens: tokens, counter: counter) {
            return window
        }
        return try await window(of: scope, maxMessages: nil).window(tokens: tokens, counter: counter)
    }

    /// Returns the messages for a model, with the estimated number of tokens.
    public func window(of scope: Scope, tokens: Int) async throws -> [ConversationMessage] {
        try await window(of: scope, tokens: tokens, counter: .estimate)
    }

    /// Returns a message of a session with those before and after it, of all agents, in the order of the session.
    ///
    /// The neighbors are read after the message: a concurrent change may be in some of them.
    /// - Parameters:
    ///   - id: The ID of the message.
    ///   - session: Its session.
    ///   - agentId: Its agent; `nil` means the first message with this ID.
    ///   - before: The maximum number of messages before it. 0 or less means none.
    ///   - after: The maximum number of messages after it. 0 or less means none.
    /// - Throws: `notFound` for an unknown message.
    public func messages(
        around id: String, in session: SessionKey, agentId: String? = nil, before: Int, after: Int
    ) async throws -> [StoredMessage] {
        guard let message = try await message(id, in: session, agentId: agentId) else {
            throw RecollectError(.notFound, "the session \(session.sessionId) has no message \(id)")
        }
        var messages = [message]
        if before > 0 {
            let page = PageRequest(limit: before, before: message.cursor)
            messages = try await self.messages(of: session, agentId: nil, page: page).elements + messages
        }
        if after > 0 {
            let page = PageRequest(limit: after, after: message.cursor)
            messages += try await self.messages(of: session, agentId: nil, page: page).elements
        }
        return messages
    }

    /// Appends a batch with the default options, so that every message is saved.
    @discardableResult
    public func append(_ messages: [ConversationMessage], to scope: Scope) async throws -> AppendOutcome {
        try await append(messages, to: scope, options: AppendOptions())
    }

    /// Sets details of a session; fields with `nil` stay unchanged. A missing session is created.
    public func update(_ session: SessionKey, with details: SessionDetails) async throws {
        try await update(session, with: details, createIfMissing: true)
    }

    /// Begins a streaming reply without a trim at its end.
    public func beginReply(_ message: ConversationMessage, in scope: Scope) async throws -> StreamingReply {
        try await beginReply(message, in: scope, maxMessages: nil)
    }

    /// Copies a session up to and including the first message with an ID into a new session of the same user.
    public func fork(_ session: SessionKey, at messageId: String, into newSessionId: String) async throws {
        try await fork(session, at: messageId, agentId: nil, into: newSessionId)
    }

    /// Moves the messages from the first one with an ID on out of a session into a branch.
    public func branch(_ session: SessionKey, from messageId: String) async throws -> SessionKey {
        try await branch(session, from: messageId, agentId: nil)
    }

    /// Returns a message, the first of several agents' messages with this ID; `nil` if there is none.
    public func message(_ id: String, in session: SessionKey) async throws -> StoredMessage? {
        try await message(id, in: session, agentId: nil)
    }

    /// Returns a page of a user's sessions, the latest activity first.
    public func sessions(
        of userId: String, page: PageRequest<SessionCursor>
    ) async throws -> Page<Session, SessionCursor> {
        try await sessions(SessionQuery(userId: userId), page: page)
    }
}

extension HistoryStore {
    /// Returns a stream of all changes saved after this call, including other processes' writes.
    ///
    /// ```swift
    /// for try await change in try await history.changes() { await reload(change.session) }
    /// ```
    public func changes() async throws -> AsyncThrowingStream<HistoryChange, any Error> {
        changes(after: try await latestChangeCursor())
    }
}

extension HistoryStore {
    /// Returns `nil`: the store does not support leases.
    public func lease(of session: SessionKey, for duration: Duration) async throws -> TurnLease? { nil }

    /// Runs a turn with a lease of its session, after all earlier turns with one. Without leases in the store, runs it at once.
    ///
    /// See `TurnLease`.
    /// - Parameters:
    ///   - session: The session. It need not exist.
    ///   - duration: The time after which the lease of a process that renews nothing is lost: a second to an hour.
    ///   - body: The turn.
    /// - Throws: The errors of `lease(of:for:)` and `body`.
    public func withLease<Value: Sendable>(
        of session: SessionKey, for duration: Duration = .seconds(30),
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let lease = try await lease(of: session, for: duration) else { return try await body() }
        return try await lease.run(body)
    }
}
