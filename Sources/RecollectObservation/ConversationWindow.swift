import RecollectCore

/// The beginning of a list as far as it was read, updated one session at a time.
///
/// It always contains the complete list up to a cursor. A session moving before the cursor is added, one moving
/// behind it is removed. So it stays equal to the result of a query of the same length.
struct ConversationWindow: Hashable, Sendable {
    private enum Reach: Hashable, Sendable {
        case nothing
        case through(ConversationCursor)
        case everything
    }

    let query: ConversationQuery
    private(set) var conversations: [Conversation] = []
    private var reach = Reach.nothing

    init(_ query: ConversationQuery) {
        self.query = query
    }

    /// Whether the list continues after the last page.
    var hasMore: Bool {
        if case .through = reach { true } else { false }
    }

    /// Returns the window extended by the next page.
    func readingOn(limit: Int, from history: any HistoryStore) async throws -> Self {
        var request = PageRequest<ConversationCursor>(limit: limit)
        switch reach {
        case .nothing: break
        case .through(let cursor): request.cursor = cursor
        case .everything: return self
        }
        let page = try await history.conversations(query, page: request)
        var longer = self
        // A session may have moved behind the last page, and so onto this one.
        let ids = Set(page.elements.map(\.id))
        longer.conversations.removeAll { ids.contains($0.id) }
        longer.conversations += page.elements
        longer.reach = page.next.map(Reach.through) ?? .everything
        return longer
    }

    /// Inserts a session at its present position, or removes it if the query no longer includes it.
    ///
    /// Not for a query with a text.
    ///
    /// - Parameter conversation: the present session; `nil` after a deletion.
    mutating func put(_ id: ConversationID, _ conversation: Conversation?) {
        conversations.removeAll { $0.id == id }
        guard let conversation, query.includes(conversation), reaches(query.cursor(of: conversation)) else { return }
        conversations.insert(conversation, at: place(of: query.cursor(of: conversation)))
    }

    /// Removes sessions.
    mutating func remove(_ ids: Set<ConversationID>) {
        conversations.removeAll { ids.contains($0.id) }
    }

    private func reaches(_ cursor: ConversationCursor) -> Bool {
        switch reach {
        case .nothing: false
        case .through(let last): !query.isInOrder(last, cursor)
        case .everything: true
        }
    }

    /// The first index of a session not before the cursor.
    private func place(of cursor: ConversationCursor) -> Int {
        var range = 0..<conversations.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            if query.isInOrder(query.cursor(of: conversations[middle]), cursor) {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }
}

/// The sessions of a list: all pinned ones of any age, then the others page by page.
struct ListedConversations: Hashable, Sendable {
    let query: ConversationQuery
    private var pinned: ConversationWindow?
    private var others: ConversationWindow?

    /// Creates an empty list, with nothing read yet.
    init(_ query: ConversationQuery) {
        self.query = query
        var part = query
        if query.isPinned != false {
            part.isPinned = true
            pinned = ConversationWindow(part)
        }
        if query.isPinned != true {
            part.isPinned = false
            others = ConversationWindow(part)
        }
    }

    /// All sessions, in order.
    var conversations: [Conversation] {
        (pinned?.conversations ?? []) + (others?.conversations ?? [])
    }

    /// The number of unpinned sessions.
    var pagedCount: Int { others?.conversations.count ?? 0 }

    /// Whether there is another page.
    var hasMore: Bool { others?.hasMore ?? false }

    /// Reads a list from its beginning: all pinned sessions, and `count` others.
    static func read(
        _ query: ConversationQuery, count: Int, from history: any HistoryStore
    ) async throws -> ListedConversations {
        var listed = ListedConversations(query)
        listed.pinned = try await listed.pinned?.readingOn(limit: .max, from: history)
        listed.others = try await listed.others?.readingOn(limit: count, from: history)
        return listed
    }

    /// Returns the list extended by the next page of unpinned sessions.
    func readingOn(limit: Int, from history: any HistoryStore) async throws -> ListedConversations {
        var longer = self
        longer.others = try await others?.readingOn(limit: limit, from: history)
        return longer
    }

    /// Inserts a session at its present position; `nil` removes it after a deletion.
    mutating func put(_ id: ConversationID, _ conversation: Conversation?) {
        pinned?.put(id, conversation)
        others?.put(id, conversation)
    }
}
