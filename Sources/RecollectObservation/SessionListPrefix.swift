import RecollectCore

/// The beginning of a list as far as it was read, updated one session at a time.
///
/// It always contains the complete list up to a cursor. A session moving before the cursor is added, one moving
/// behind it is removed. So it stays equal to the result of a query of the same length.
struct SessionListPrefix: Hashable, Sendable {
    private enum Reach: Hashable, Sendable {
        case nothing
        case through(SessionCursor)
        case everything
    }

    let query: SessionQuery
    private(set) var sessions: [Session] = []
    private var reach = Reach.nothing

    init(_ query: SessionQuery) {
        self.query = query
    }

    /// Whether the list continues after the last page.
    var hasMore: Bool {
        if case .through = reach { true } else { false }
    }

    /// Returns the window extended by the next page.
    func readingOn(limit: Int, from history: any HistoryStore) async throws -> Self {
        var request = PageRequest<SessionCursor>(limit: limit)
        switch reach {
        case .nothing: break
        case .through(let cursor): request.cursor = cursor
        case .everything: return self
        }
        let page = try await history.sessions(query, page: request)
        var longer = self
        // A session may have moved behind the last page, and so onto this one.
        let ids = Set(page.elements.map(\.id))
        longer.sessions.removeAll { ids.contains($0.id) }
        longer.sessions += page.elements
        longer.reach = page.next.map(Reach.through) ?? .everything
        return longer
    }

    /// Inserts a session at its present position, or removes it if the query no longer includes it.
    ///
    /// Not for a query with text.
    ///
    /// - Parameter session: the present session; `nil` after a deletion.
    mutating func put(_ id: SessionKey, _ session: Session?) {
        sessions.removeAll { $0.id == id }
        guard let session, query.includes(session), reaches(query.cursor(of: session)) else { return }
        sessions.insert(session, at: position(of: query.cursor(of: session)))
    }

    /// Removes sessions.
    mutating func remove(_ ids: Set<SessionKey>) {
        sessions.removeAll { ids.contains($0.id) }
    }

    private func reaches(_ cursor: SessionCursor) -> Bool {
        switch reach {
        case .nothing: false
        case .through(let last): !query.isInOrder(last, cursor)
        case .everything: true
        }
    }

    /// The first index of a session not before the cursor.
    private func position(of cursor: SessionCursor) -> Int {
        var range = 0..<sessions.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            if query.isInOrder(query.cursor(of: sessions[middle]), cursor) {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }
}

/// The sessions of a list: all pinned ones of any age, then the others page by page.
struct SessionListContent: Hashable, Sendable {
    let query: SessionQuery
    private var pinned: SessionListPrefix?
    private var others: SessionListPrefix?

    /// Creates an empty list, with nothing read yet.
    init(_ query: SessionQuery) {
        self.query = query
        var part = query
        if query.isPinned != false {
            part.isPinned = true
            pinned = SessionListPrefix(part)
        }
        if query.isPinned != true {
            part.isPinned = false
            others = SessionListPrefix(part)
        }
    }

    /// All sessions, in order.
    var sessions: [Session] {
        (pinned?.sessions ?? []) + (others?.sessions ?? [])
    }

    /// The number of unpinned sessions.
    var pagedCount: Int { others?.sessions.count ?? 0 }

    /// Whether there is another page.
    var hasMore: Bool { others?.hasMore ?? false }

    /// Reads a list from its beginning: all pinned sessions, and `count` others.
    static func read(
        _ query: SessionQuery, count: Int, from history: any HistoryStore
    ) async throws -> SessionListContent {
        var listed = SessionListContent(query)
        listed.pinned = try await listed.pinned?.readingOn(limit: .max, from: history)
        listed.others = try await listed.others?.readingOn(limit: count, from: history)
        return listed
    }

    /// Returns the list extended by the next page of unpinned sessions.
    func readingOn(limit: Int, from history: any HistoryStore) async throws -> SessionListContent {
        var longer = self
        longer.others = try await others?.readingOn(limit: limit, from: history)
        return longer
    }

    /// Inserts a session at its present position; `nil` removes it after a deletion.
    mutating func put(_ id: SessionKey, _ session: Session?) {
        pinned?.put(id, session)
        others?.put(id, session)
    }
}
