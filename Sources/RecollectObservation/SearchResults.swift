import RecollectCore

/// The results of a list's search.
public struct SearchResults: Hashable, Sendable {
    /// The text searched for.
    public let text: String
    /// Sessions with the text in their title, preview or messages, in the list's order.
    public var sessions: [Session] { window.sessions }
    /// Whether `loadMore()` would read more sessions.
    public var hasMore: Bool { window.hasMore }
    /// The found messages, best first.
    public internal(set) var messages: [SearchResultMessage] = []
    /// Whether `loadMoreMessages()` would read more messages.
    public var hasMoreMessages: Bool { nextMessages != nil }

    /// The query of the searched list.
    let query: SessionQuery
    private var window: SessionListPrefix
    private var nextMessages: SearchCursor?

    private init(_ text: String, in query: SessionQuery) {
        self.text = text
        self.query = query
        var asked = query
        asked.text = text
        window = SessionListPrefix(asked)
    }

    /// Searches the sessions of a query for its text.
    static func find(
        _ text: String, in query: SessionQuery, sessions: Int, messages: Int, of history: any HistoryStore
    ) async throws -> SearchResults {
        try await SearchResults(text, in: query)
            .readingOn(limit: sessions, from: history)
            .readingMessagesOn(limit: messages, from: history)
    }

    /// Returns the results extended by the next page of sessions.
    func readingOn(limit: Int, from history: any HistoryStore) async throws -> SearchResults {
        var longer = self
        longer.window = try await window.readingOn(limit: limit, from: history)
        return longer
    }

    /// Returns the results extended by the next page of messages, without those in sessions outside the list.
    func readingMessagesOn(limit: Int, from history: any HistoryStore) async throws -> SearchResults {
        let page = try await history.search(
            SearchQuery(
                userId: query.userId, text: text, agentId: query.agentId, limit: limit, cursor: nextMessages))
        var longer = self
        longer.nextMessages = page.next
        var known: [SessionKey: Session?] = [:]
        for hit in page.elements {
            if known[hit.session] == nil {
                known[hit.session] = .some(try await Self.listed(hit.session, in: history))
            }
            if case .some(.some(let session)) = known[hit.session], query.includes(session) {
                longer.messages.append(SearchResultMessage(hit: hit, session: session))
            }
        }
        return longer
    }

    /// Removes sessions and their messages, until the next search.
    mutating func remove(_ ids: Set<SessionKey>) {
        window.remove(ids)
        messages.removeAll { ids.contains($0.session.id) }
    }

    /// Returns a session as listed: for a branch, the session it branched from.
    private static func listed(_ id: SessionKey, in history: any HistoryStore) async throws -> Session? {
        guard let session = try await history.session(id) else { return nil }
        guard let origin = session.branchPoint else { return session }
        return try await history.session(SessionKey(userId: id.userId, sessionId: origin.sessionId))
    }
}

/// A message found by a list's search, with the session to show it under.
public struct SearchResultMessage: Hashable, Sendable, Identifiable {
    /// The identity of a found message.
    public struct ID: Hashable, Sendable {
        /// The session or branch with the message.
        public let session: SessionKey
        /// The agent of the message's scope.
        public let agentId: String
        /// The message's ID.
        public let messageId: String
    }

    /// The search hit, with a snippet.
    public let hit: SearchHit
    /// The session with the message. For a message in a branch, the session it branched from.
    public let session: Session

    /// The message with its session and agent.
    public var id: ID { ID(session: hit.session, agentId: hit.agentId, messageId: hit.messageId) }
}
