import RecollectCore

/// The beginning of a list as far as it was read, kept up to date one conversation at a time.
///
/// What it holds is always all of the list up to a place: a conversation that comes to lie before that place joins, one that
/// goes behind it leaves. So it stays what a query of the same length would read.
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

    /// Whether there was more behind the last page.
    var hasMore: Bool {
        if case .through = reach { true } else { false }
    }

    /// Reads the next page; what was read before stays as it is.
    func readingOn(limit: Int, from history: any HistoryStore) async throws -> Self {
        var request = PageRequest<ConversationCursor>(limit: limit)
        switch reach {
        case .nothing: break
        case .through(let cursor): request.cursor = cursor
        case .everything: return self
        }
        let page = try await history.conversations(query, page: request)
        var longer = self
        // One that has moved behind the last page since is on this one.
        let ids = Set(page.elements.map(\.id))
        longer.conversations.removeAll { ids.contains($0.id) }
        longer.conversations += page.elements
        longer.reach = page.next.map(Reach.through) ?? .everything
        return longer
    }

    /// Puts a conversation as it is now in its place, or takes it out where it no longer belongs here; `nil` is one that was
    /// deleted. Not for a query with a text.
    mutating func put(_ id: ConversationID, _ conversation: Conversation?) {
        conversations.removeAll { $0.id == id }
        guard let conversation, query.includes(conversation), reaches(query.cursor(of: conversation)) else { return }
        conversations.insert(conversation, at: place(of: query.cursor(of: conversation)))
    }

    /// Takes conversations out.
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

    /// The first place whose conversation does not come before the cursor.
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

/// What a list shows: all pinned conversations, however old, then the others page by page.
struct ListedConversations: Hashable, Sendable {
    let query: ConversationQuery
    private var pinned: ConversationWindow?
    private var others: ConversationWindow?

    /// Nothing of a list yet.
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

    /// All of them in order.
    var conversations: [Conversation] {
        (pinned?.conversations ?? []) + (others?.conversations ?? [])
    }

    /// How many are not pinned.
    var pagedCount: Int { others?.conversations.count ?? 0 }

    /// Whether there is another page.
    var hasMore: Bool { others?.hasMore ?? false }

    /// Reads a list from its beginning, so many of those that are not pinned.
    static func read(
        _ query: ConversationQuery, count: Int, from history: any HistoryStore
    ) async throws -> ListedConversations {
        var listed = ListedConversations(query)
        listed.pinned = try await listed.pinned?.readingOn(limit: .max, from: history)
        listed.others = try await listed.others?.readingOn(limit: count, from: history)
        return listed
    }

    /// Reads the next page of those that are not pinned.
    func readingOn(limit: Int, from history: any HistoryStore) async throws -> ListedConversations {
        var longer = self
        longer.others = try await others?.readingOn(limit: limit, from: history)
        return longer
    }

    /// Puts a conversation as it is now where it belongs; `nil` is one that was deleted.
    mutating func put(_ id: ConversationID, _ conversation: Conversation?) {
        pinned?.put(id, conversation)
        others?.put(id, conversation)
    }
}
