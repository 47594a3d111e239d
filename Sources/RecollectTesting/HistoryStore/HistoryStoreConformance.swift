import RecollectCore

/// A promise of `HistoryStore` as a named value.
public typealias HistoryStoreCheck = ConformanceCheck<any HistoryStore>

/// What `HistoryStore` promises beyond the four methods of `ChatStorage`: lists, pages, look-ups, edits, moves, branches, forks,
/// deletion that can be undone and deletion for good, replies in flight, the change feed and search.
///
/// An engine proves the rules of its windows through the view that stands on it, with `ChatStorageConformance` and
/// `DeviceChatStorage(history:userId:)`, and the rest here. The checks are used as those of `ChatStorageConformance` are.
public enum HistoryStoreConformance {
    /// Every check.
    public static let checks: [HistoryStoreCheck] =
        AppendChecks.all + SharedIDChecks.all + PageChecks.all + ConversationChecks.all + DeletionChecks.all
        + ForkChecks.all
        + ListChecks.all + DetailChecks.all + EditChecks.all + MoveChecks.all + BranchChecks.all + DiscardChecks.all
        + ReplyChecks.all + ChangeChecks.all + SearchChecks.all + SearchPageChecks.all + TenantChecks.all
        + ReopeningChecks.all

    /// Runs all checks one after the other and reports.
    ///
    /// - Parameters:
    ///   - fixture: How to make the store, and what it promises.
    ///   - includingLong: Whether to run the checks that take seconds on a slow store.
    ///   - file: Where the report was asked for; failures name it.
    ///   - line: The line there.
    public static func report(
        on fixture: StoreFixture<any HistoryStore>, includingLong: Bool = true, file: String = #fileID,
        line: Int = #line
    ) async -> ConformanceReport {
        await ConformanceReport(checks: checks, fixture: fixture, includingLong: includingLong, file: file, line: line)
    }

    /// Runs all checks on histories that `make` makes, one after the other, and reports.
    public static func report(
        capabilities: StoreCapabilities = .standard, includingLong: Bool = true, file: String = #fileID,
        line: Int = #line, make: @escaping @Sendable () async throws -> any HistoryStore
    ) async -> ConformanceReport {
        await report(
            on: StoreFixture(capabilities: capabilities, make: make), includingLong: includingLong, file: file,
            line: line)
    }
}

/// What the checks ask of a history again and again.
extension HistoryStore {
    /// All messages of a conversation, read forward in pages of `limit`.
    func everything(
        in conversation: ConversationID, agentId: String? = nil, limit: Int = 1000
    ) async throws -> [StoredMessage] {
        try await walk(limit) { cursor in
            try await messages(of: conversation, agentId: agentId, page: PageRequest(limit: limit, after: cursor))
        }
    }

    /// All conversations of a user, read in pages of `limit`.
    func everyConversation(of userId: String, limit: Int = 1000) async throws -> [Conversation] {
        try await walk(limit) { cursor in
            try await conversations(of: userId, page: PageRequest(limit: limit, after: cursor))
        }
    }

    /// All hits of a search, read in pages.
    func everyHit(_ query: SearchQuery) async throws -> [SearchHit] {
        try await walk(query.limit) { cursor in
            var query = query
            query.cursor = cursor
            return try await search(query)
        }
    }

    /// The ids of the messages that a search in a user's messages finds, sorted.
    func found(_ text: String, of userId: String = Scope.plain.userId) async throws -> [String] {
        try await everyHit(SearchQuery(userId: userId, text: text)).map(\.messageId).sorted()
    }

    /// All changes after a cursor, read in pages of `limit`.
    func everyChange(after cursor: ChangeCursor, limit: Int = 1000) async throws -> [HistoryChange] {
        var all: [HistoryChange] = []
        while true {
            let page = try await changes(after: all.last?.cursor ?? cursor, limit: limit)
            try expect(page.count <= limit, "at most \(limit) changes", came: "\(page.count)")
            if page.isEmpty { return all }
            all += page
        }
    }
}

/// Reads pages until there is no next one; throws where a page is larger than asked for or is empty with a next one.
func walk<Element, Cursor>(
    _ limit: Int, _ read: (Cursor?) async throws -> Page<Element, Cursor>
) async throws -> [Element] {
    var all: [Element] = []
    var cursor: Cursor?
    repeat {
        let page = try await read(cursor)
        try expect(page.elements.count <= limit, "a page of at most \(limit)", came: "\(page.elements.count) elements")
        try expect(
            page.next == nil || page.elements.count == limit, "a full page where there is a next one",
            came: "\(page.elements.count) elements of \(limit)")
        all += page.elements
        cursor = page.next
    } while cursor != nil
    return all
}
