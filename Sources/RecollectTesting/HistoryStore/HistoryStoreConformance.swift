import RecollectCore

/// A promise of `HistoryStore` as a value.
public typealias HistoryStoreCheck = ConformanceCheck<any HistoryStore>

/// The conformance suite of `HistoryStore`: its promises beyond the four methods of `ChatStorage`.
///
/// These are lists, pages, look-ups, edits, moves, branches, forks, discarding, deletion, streaming replies, the
/// change feed, and search. An engine proves the rules of windows through `DeviceChatStorage(history:userId:)`
/// with `ChatStorageConformance`, and the other rules here. Use the checks like those of `ChatStorageConformance`.
public enum HistoryStoreConformance {
    /// All checks.
    public static let checks: [HistoryStoreCheck] =
        AppendChecks.all + HistoryCompactionChecks.all + SharedIDChecks.all + PageChecks.all + SessionChecks.all
        + DeletionChecks.all
        + ForkChecks.all
        + ListChecks.all + DetailChecks.all + EditChecks.all + MoveChecks.all + BranchChecks.all + DiscardChecks.all
        + ReplyChecks.all + LeaseChecks.all + ChangeChecks.all + SearchChecks.all + SearchPageChecks.all
        + TenantChecks.all
        + ReopeningChecks.all

    /// Runs all checks one at a time and returns a report.
    ///
    /// - Parameters:
    ///   - fixture: The factory of the store, with its promises.
    ///   - includingLong: Whether to run checks that take seconds on a slow store.
    ///   - file: The source file of the call, for failures.
    ///   - line: The source line of the call, for failures.
    public static func report(
        on fixture: StoreFixture<any HistoryStore>, includingLong: Bool = true, file: String = #fileID,
        line: Int = #line
    ) async -> ConformanceReport {
        await ConformanceReport(checks: checks, fixture: fixture, includingLong: includingLong, file: file, line: line)
    }

    /// Runs all checks one at a time on histories created by `make`, and returns a report.
    public static func report(
        capabilities: StoreCapabilities = .standard, includingLong: Bool = true, file: String = #fileID,
        line: Int = #line, make: @escaping @Sendable () async throws -> any HistoryStore
    ) async -> ConformanceReport {
        await report(
            on: StoreFixture(capabilities: capabilities, make: make), includingLong: includingLong, file: file,
            line: line)
    }
}

/// Reads shared by the checks.
extension HistoryStore {
    /// Returns all messages of a session, read forward in pages of `limit`.
    func everything(
        in session: SessionKey, agentId: String? = nil, limit: Int = 1000
    ) async throws -> [StoredMessage] {
        try await walk(limit) { cursor in
            try await messages(of: session, agentId: agentId, page: PageRequest(limit: limit, after: cursor))
        }
    }

    /// Returns all sessions of a user, read in pages of `limit`.
    func everySession(of userId: String, limit: Int = 1000) async throws -> [Session] {
        try await walk(limit) { cursor in
            try await sessions(of: userId, page: PageRequest(limit: limit, after: cursor))
        }
    }

    /// Returns all hits of a search, read in pages.
    func everyHit(_ query: SearchQuery, from start: SearchCursor? = nil) async throws -> [SearchHit] {
        try await walk(query.limit) { cursor in
            var query = query
            query.cursor = cursor ?? start
            return try await search(query)
        }
    }

    /// Returns the IDs of a user's messages found by a search, sorted.
    func found(_ text: String, of userId: String = Scope.plain.userId) async throws -> [String] {
        try await everyHit(SearchQuery(userId: userId, text: text)).map(\.messageId).sorted()
    }

    /// Returns all changes after a cursor, read in pages of `limit`.
    func everyChange(after cursor: ChangeCursor, limit: Int = 1000) async throws -> [HistoryChange] {
        var all: [HistoryChange] = []
        while true {
            let page = try await changes(after: all.last?.cursor ?? cursor, limit: limit)
            try expect(page.count <= limit, "at most \(limit) changes", actual: "\(page.count)")
            if page.isEmpty { return all }
            all += page
        }
    }
}

/// Reads pages until there is no next one. Throws for a page above the limit, and for one below it with a next page.
func walk<Element, Cursor>(
    _ limit: Int, _ read: (Cursor?) async throws -> Page<Element, Cursor>
) async throws -> [Element] {
    var all: [Element] = []
    var cursor: Cursor?
    repeat {
        let page = try await read(cursor)
        try expect(
            page.elements.count <= limit, "a page of at most \(limit) elements",
            actual: "\(page.elements.count) elements"
        )
        try expect(
            page.next == nil || page.elements.count == limit, "a full page before a next page",
            actual: "a page of \(page.elements.count) elements before a next page, limit \(limit)")
        all += page.elements
        cursor = page.next
    } while cursor != nil
    return all
}
