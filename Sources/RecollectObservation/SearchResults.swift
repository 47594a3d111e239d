import RecollectCore

/// What a list's search has found.
public struct SearchResults: Hashable, Sendable {
    /// What was looked for.
    public let text: String
    /// Conversations whose title or preview holds the text, or among whose messages a search finds it, in the list's order.
    public var conversations: [Conversation] { window.conversations }
    /// Whether more conversations were found: `loadMore()` reads them.
    public var hasMore: Bool { window.hasMore }
    /// Messages that were found, best first.
    public internal(set) var messages: [FoundMessage] = []
    /// Whether more messages were found: `loadMoreMessages()` reads them.
    public var hasMoreMessages: Bool { nextMessages != nil }

    /// The list in which it was looked for.
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

    /// Looks for a text in the conversations that a query lists.
    static func find(
        _ text: String, in query: ConversationQuery, conversations: Int, messages: Int, of history: any HistoryStore
    ) async throws -> SearchResults {
        try await SearchResults(text, in: query)
            .readingOn(limit: conversations, from: history)
            .readingMessagesOn(limit: messages, from: history)
    }

    /// Reads the next page of conversations.
    func readingOn(limit: Int, from history: any HistoryStore) async throws -> SearchResults {
        var longer = self
        longer.window = try await window.readingOn(limit: limit, from: history)
        return longer
    }

    /// Reads the next page of messages; those of conversations that the list would not show are passed over.
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

    /// Takes out what is gone, until the next search has looked.
    mutating func remove(_ ids: Set<ConversationID>) {
        window.remove(ids)
        messages.removeAll { ids.contains($0.conversation.id) }
    }

    /// The conversation as lists have it; of a branch the one that it left.
    private static func listed(_ id: ConversationID, in history: any HistoryStore) async throws -> Conversation? {
        guard let conversation = try await history.conversation(id) else { return nil }
        guard let origin = conversation.branchOf else { return conversation }
        return try await history.conversation(ConversationID(userId: id.userId, sessionId: origin.sessionId))
    }
}

/// A message that a list's search has found, with the conversation to show it under.
public struct FoundMessage: Hashable, Sendable, Identifiable {
    /// Names a message of a conversation.
    public struct ID: Hashable, Sendable {
        /// The conversation, or its branch, that holds the message.
        public let conversation: ConversationID
        /// The agent that holds it.
        public let agentId: String
        /// The message's id.
        public let messageId: String
    }

    /// Where it is, with a snippet.
    public let hit: SearchHit
    /// The conversation that holds it; where a branch holds it, the conversation that the branch left.
    public let conversation: Conversation

    /// The message and where it is.
    public var id: ID { ID(conversation: hit.conversation, agentId: hit.agentId, messageId: hit.messageId) }
}
