import Foundation

/// The user of a request, as a server knows it from the request's credential.
///
/// ```swift
/// let tenant = Tenant(userId: subject)  // of the verified token
/// let history = shared.scoped(to: tenant)
/// ```
public struct Tenant: Sendable {
    /// The user ID.
    public let userId: String

    /// Creates a tenant from the verified user of a credential. A user ID from the body of a request names any user.
    public init(userId: String) {
        self.userId = userId
    }
}

extension HistoryStore {
    /// Returns the part of the history that belongs to one tenant.
    public func scoped(to tenant: Tenant) -> TenantHistoryStore {
        TenantHistoryStore(wrapping: self, tenant: tenant)
    }
}

/// The part of a history that belongs to one tenant.
///
/// A call with the ID of another user throws `permissionDenied` and does nothing. The change feed has only the tenant's
/// changes. Everything else is forwarded, with the promises of the wrapped history.
public struct TenantHistoryStore: HistoryStore {
    /// The tenant.
    public let tenant: Tenant
    private let history: any HistoryStore
    /// Signals writes by this store.
    private let signal = Signal()

    /// Creates the tenant's part of a history.
    public init(wrapping history: any HistoryStore, tenant: Tenant) {
        self.history = history
        self.tenant = tenant
    }

    /// The events of the wrapped history. They may name sessions of other users.
    public var events: StoreEvents { history.events }

    private func check(_ userId: String) throws {
        guard userId.hasSameBytes(as: tenant.userId) else {
            throw RecollectError(
                .permissionDenied, "the request names another user than its credential; nothing was read or changed")
        }
    }

    private func writing<Value>(of userId: String, _ body: () async throws -> Value) async throws -> Value {
        try check(userId)
        let value = try await body()
        signal.signal()
        return value
    }

    private func reading<Value>(of userId: String, _ body: () async throws -> Value) async throws -> Value {
        try check(userId)
        return try await body()
    }

    // MARK: Writing

    /// Appends a batch: see `HistoryStore`.
    @discardableResult
    public func append(
        _ messages: [ConversationMessage], to scope: Scope, options: AppendOptions
    ) async throws -> AppendOutcome {
        try await writing(of: scope.userId) { try await history.append(messages, to: scope, options: options) }
    }

    /// Sets details of a session: see `HistoryStore`.
    @discardableResult
    public func update(
        _ session: SessionKey, with details: SessionDetails, createIfMissing: Bool
    ) async throws -> Bool {
        try await writing(of: session.userId) {
            try await history.update(session, with: details, createIfMissing: createIfMissing)
        }
    }

    /// Copies a session up to a message: see `HistoryStore`.
    public func fork(
        _ session: SessionKey, at messageId: String, agentId: String?, into newSessionId: String
    ) async throws {
        try await writing(of: session.userId) {
            try await history.fork(session, at: messageId, agentId: agentId, into: newSessionId)
        }
    }

    /// Replaces the content of messages: see `HistoryStore`.
    @discardableResult
    public func edit(_ messages: [ConversationMessage], in session: SessionKey) async throws -> Int {
        try await writing(of: session.userId) { try await history.edit(messages, in: session) }
    }

    /// Replaces the content of messages, unless it was changed: see `HistoryStore`.
    @discardableResult
    public func edit(_ edits: [MessageEdit], in session: SessionKey) async throws -> [MessageEdit] {
        try await writing(of: session.userId) { try await history.edit(edits, in: session) }
    }

    /// Moves a session to another session ID: see `HistoryStore`.
    @discardableResult
    public func moveSession(_ session: SessionKey, to newSessionId: String) async throws -> Bool {
        try await writing(of: session.userId) { try await history.moveSession(session, to: newSessionId) }
    }

    /// Moves a message and those after it into a branch: see `HistoryStore`.
    public func branch(_ session: SessionKey, from messageId: String, agentId: String?) async throws -> SessionKey {
        try await writing(of: session.userId) {
            try await history.branch(session, from: messageId, agentId: agentId)
        }
    }

    /// Returns the branches of a session: see `HistoryStore`.
    public func branches(of session: SessionKey) async throws -> [Session] {
        try await reading(of: session.userId) { try await history.branches(of: session) }
    }

    /// Restores a branch: see `HistoryStore`.
    public func restoreBranch(_ branch: SessionKey, in session: SessionKey) async throws {
        try check(branch.userId)
        try await writing(of: session.userId) { try await history.restoreBranch(branch, in: session) }
    }

    /// Removes a session from all lists and searches: see `HistoryStore`.
    @discardableResult
    public func discardSession(_ session: SessionKey) async throws -> Bool {
        try await writing(of: session.userId) { try await history.discardSession(session) }
    }

    /// Restores a discarded session: see `HistoryStore`.
    @discardableResult
    public func restoreSession(_ session: SessionKey) async throws -> Bool {
        try await writing(of: session.userId) { try await history.restoreSession(session) }
    }

    /// Begins a streaming reply: see `HistoryStore`.
    public func beginReply(
        _ message: ConversationMessage, in scope: Scope, maxMessages: Int?
    ) async throws -> StreamingReply {
        try await writing(of: scope.userId) {
            try await history.beginReply(message, in: scope, maxMessages: maxMessages)
        }
    }

    /// Returns the streaming replies of a session: see `HistoryStore`.
    public func streamingReplies(in session: SessionKey) async throws -> [AgentMessage] {
        // It saves those of ended processes.
        try await writing(of: session.userId) { try await history.streamingReplies(in: session) }
    }

    /// Deletes messages permanently: see `HistoryStore`.
    @discardableResult
    public func deleteMessages(_ ids: [String], in session: SessionKey) async throws -> Int {
        try await writing(of: session.userId) { try await history.deleteMessages(ids, in: session) }
    }

    /// Deletes messages permanently, unless they were changed: see `HistoryStore`.
    @discardableResult
    public func delete(
        _ messages: [ConversationMessage], in session: SessionKey
    ) async throws -> [ConversationMessage] {
        try await writing(of: session.userId) { try await history.delete(messages, in: session) }
    }

    /// Deletes a session permanently: see `HistoryStore`.
    @discardableResult
    public func deleteSession(_ session: SessionKey) async throws -> Bool {
        try await writing(of: session.userId) { try await history.deleteSession(session) }
    }

    /// Deletes the whole history of the tenant permanently: see `HistoryStore`.
    public func deleteUser(_ userId: String) async throws {
        try await writing(of: userId) { try await history.deleteUser(userId) }
    }

    // MARK: Windows

    /// Returns the newest messages of a scope's window: see `HistoryStore`.
    public func window(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage] {
        try await reading(of: scope.userId) { try await history.window(of: scope, maxMessages: maxMessages) }
    }

    /// Returns the newest messages of a scope without incomplete exchanges: see `HistoryStore`.
    public func windowOfWholeExchanges(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage] {
        try await reading(of: scope.userId) {
            try await history.windowOfWholeExchanges(of: scope, maxMessages: maxMessages)
        }
    }

    /// Returns the messages of a scope within a budget of tokens: see `HistoryStore`.
    public func window(of scope: Scope, tokens: Int, counter: TokenCounter) async throws -> [ConversationMessage] {
        try await reading(of: scope.userId) {
            try await history.window(of: scope, tokens: tokens, counter: counter)
        }
    }

    /// Returns the windows of all agents: see `HistoryStore`.
    public func windows(of session: SessionKey) async throws -> [AgentMessages] {
        try await reading(of: session.userId) { try await history.windows(of: session) }
    }

    /// Returns the version of a session's windows: see `HistoryStore`.
    public func version(of session: SessionKey) async throws -> ChatVersion? {
        try await reading(of: session.userId) { try await history.version(of: session) }
    }

    /// Waits for the lease of a session: see `HistoryStore`.
    public func lease(of session: SessionKey, for duration: Duration) async throws -> TurnLease? {
        try await reading(of: session.userId) { try await history.lease(of: session, for: duration) }
    }

    // MARK: Compactions

    /// Saves a summary in place of messages: see `HistoryStore`.
    @discardableResult
    public func compact(
        _ messages: [ConversationMessage], of scope: Scope, into summary: String, by author: String,
        after previousId: String?
    ) async throws -> Compaction {
        try await writing(of: scope.userId) {
            try await history.compact(messages, of: scope, into: summary, by: author, after: previousId)
        }
    }

    /// Returns the messages of a scope with the compaction in effect: see `HistoryStore`.
    public func compactedMessages(of scope: Scope) async throws -> CompactedMessages {
        try await reading(of: scope.userId) { try await history.compactedMessages(of: scope) }
    }

    /// Returns the compactions of a scope: see `HistoryStore`.
    public func compactions(of scope: Scope) async throws -> [Compaction] {
        try await reading(of: scope.userId) { try await history.compactions(of: scope) }
    }

    /// Removes a compaction permanently: see `HistoryStore`.
    @discardableResult
    public func removeCompaction(_ id: String, of scope: Scope) async throws -> Bool {
        try await writing(of: scope.userId) { try await history.removeCompaction(id, of: scope) }
    }

    // MARK: Lists and search

    /// Returns a page of the tenant's sessions: see `HistoryStore`.
    public func sessions(
        _ query: SessionQuery, page: PageRequest<SessionCursor>
    ) async throws -> Page<Session, SessionCursor> {
        try await reading(of: query.userId) { try await history.sessions(query, page: page) }
    }

    /// Returns a session: see `HistoryStore`.
    public func session(_ session: SessionKey) async throws -> Session? {
        try await reading(of: session.userId) { try await history.session(session) }
    }

    /// Returns sessions by a prefix of their session ID: see `HistoryStore`.
    public func sessions(of userId: String, sessionIdPrefix prefix: String, limit: Int) async throws -> [Session] {
        try await reading(of: userId) {
            try await history.sessions(of: userId, sessionIdPrefix: prefix, limit: limit)
        }
    }

    /// Returns a page of a session's messages: see `HistoryStore`.
    public func messages(
        of session: SessionKey, agentId: String?, page: PageRequest<MessageCursor>
    ) async throws -> Page<StoredMessage, MessageCursor> {
        try await reading(of: session.userId) {
            try await history.messages(of: session, agentId: agentId, page: page)
        }
    }

    /// Returns a message: see `HistoryStore`.
    public func message(_ id: String, in session: SessionKey, agentId: String?) async throws -> StoredMessage? {
        try await reading(of: session.userId) { try await history.message(id, in: session, agentId: agentId) }
    }

    /// Returns the bytes of an attachment: see `HistoryStore`.
    public func attachment(sha256: String, userId: String) async throws -> Data {
        try await reading(of: userId) { try await history.attachment(sha256: sha256, userId: userId) }
    }

    /// Searches the tenant's messages: see `HistoryStore`.
    public func search(_ query: SearchQuery) async throws -> Page<SearchHit, SearchCursor> {
        try await reading(of: query.userId) { try await history.search(query) }
    }

    // MARK: Changes

    /// Returns the current end of the change feed, of all users.
    public func latestChangeCursor() async throws -> ChangeCursor {
        try await history.latestChangeCursor()
    }

    /// Returns the tenant's changes after a cursor: see `HistoryStore`. Reads the changes of all users after it, in
    /// pages, until it has enough.
    public func changes(after cursor: ChangeCursor, limit: Int) async throws -> [HistoryChange] {
        var found: [HistoryChange] = []
        var cursor = cursor
        while found.count < limit {
            let page = try await history.changes(after: cursor, limit: Self.pageSize)
            guard let last = page.last else { break }
            found += page.filter(isOwn).prefix(limit - found.count)
            cursor = last.cursor
        }
        return found
    }

    private static let pageSize = 500

    private func isOwn(_ change: HistoryChange) -> Bool { change.session.userId.hasSameBytes(as: tenant.userId) }

    /// Returns a stream of the tenant's changes: those by this store at once, others within a second.
    public func changes(after cursor: ChangeCursor) -> AsyncThrowingStream<HistoryChange, any Error> {
        ChangeFeedReader.stream(after: cursor, signal, where: isOwn) { [history] in
            try await history.changes(after: $0, limit: $1)
        }
    }
}
