extension HistoryStore {
    /// Passes the sessions of a query to `body`, page by page, at most `limit` of them. No page is empty.
    package func forEachPage(
        of query: SessionQuery, limit: Int = .max, _ body: ([Session]) async throws -> Void
    ) async throws {
        var left = limit
        var request = PageRequest<SessionCursor>(limit: min(left, 200))
        while true {
            let page = try await sessions(query, page: request)
            if !page.elements.isEmpty { try await body(page.elements) }
            left -= page.elements.count
            guard let next = page.next, left > 0 else { return }
            request = PageRequest(limit: min(left, 200), after: next)
        }
    }

    /// Passes the messages of a session to `body`, page by page: those of one agent, or of all. No page is empty.
    package func forEachPage(
        of session: SessionKey, agentId: String? = nil, pageSize: Int = 200,
        _ body: ([StoredMessage]) async throws -> Void
    ) async throws {
        var request = PageRequest<MessageCursor>(limit: pageSize)
        while true {
            let page = try await messages(of: session, agentId: agentId, page: request)
            if !page.elements.isEmpty { try await body(page.elements) }
            guard let next = page.next else { return }
            request = PageRequest(limit: pageSize, after: next)
        }
    }
}
