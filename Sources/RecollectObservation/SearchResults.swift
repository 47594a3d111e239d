import RecollectCore

/// The results of a list's search.
public struct SearchResults: Hashable, Sendable {
    /// The text searched for.
    public let text: String
    /// Sessions with the text in their title, preview or messages, in the list's order.
    public var conversations: [Conversation] { window.conversations }
    /// Whether `loadMore()` would read more sessions.
    public var hasMore: Bool { window.hasMore }
    /// The found messages, best first.
    public internal(set) var messages: [FoundMessage] = []
    /// Whether `loadMoreMessages()` would read more messages.
    public var hasMoreMessages: Bool { nextMessages != nil }

    /// The query of the searched list.
    let query: ConversationQuery
    private var window: ConversationWindow
    private var nextMessages: SearchCursor?

    private init(_ text: String, in query: ConversationQuery) {
        self.text = text
        self.query = query
        var asked = query
        asked.text = text
        window = ConversationWindow(asked)
    }

    /// Searches the sessions of a query for a text.
    static func find(
        _ text: String, in query: ConversationQuery, conversations: Int, messages: Int, of history: any HistoryStore
    ) async throws -> SearchResults {
        try await SearchResults(text, in: query)
            .readingOn(limit: conversations, from: history)
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
        var known: [ConversationID: Conversation?] = [:]
        for hit in page.elements {
            if known[hit.conversation] == nil {
                known[hit.conversation] = .some(try await Self.listed(hit.conversation, in: history))
            }
            if case .some(.some(let conversation)) = known[hit.conversation], query.includes(conversation) {
                longer.messages.append(FoundMessage(hit: hit, conversation: conversation))
            }
        }
        return longer
    }

    /// Removes sessions and their messages, until the next search.
    mutating func remove(_ ids: Set<ConversationID>) {
        window.remove(ids)
        messages.removeAll { ids.contains($0.conversation.id) }
    }

    /// Returns a session as listed: for a branch, the session it branched from.
    private static func listed(_ id: ConversationID, in history: any HistoryStore) async throws -> Conversation? {
        guard let conversation = try await history.conversation(id) else { return nil }
        guard let origin = conversation.branchOf else { return conversation }
        return try await history.conversation(ConversationID(userId: id.userId, sessionId: origin.sessionId))
    }
}

/// A message found by a list's search, with the session to show it under.
public struct FoundMessage: Hashable, Sendable, Identifiable {
    /// The identity of a found message.
    public struct ID: Hashable, Sendable {
        /// The session or branch with the message.
        public let conversation: ConversationID
        /// The agent of the message's scope.
        public let agentId: String
        /// The message's ID.
        public let messageId: String
    }

    /// The search hit, with a snippet.
    public let hit: SearchHit
    /// The session with the message. For a message in a branch, the session it branched from.
    public let conversation: Conversation

    /// The message with its session and agent.
    public var id: ID { ID(conversation: hit.conversation, agentId: hit.agentId, messageId: hit.messageId) }
}
