#if CommandLine
    import Recollect

    /// Iterates over all pages of a list.
    extension HistoryStore {
        /// Passes the sessions of a query to `body`, page by page, at most `limit` of them.
        func forEachPage(
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

        /// Passes the messages of a session to `body`, page by page: those of one agent, or of all.
        func forEachPage(
            of session: SessionKey, agentId: String? = nil, _ body: ([StoredMessage]) async throws -> Void
        ) async throws {
            var request = PageRequest<MessageCursor>(limit: 200)
            while true {
                let page = try await messages(of: session, agentId: agentId, page: request)
                if !page.elements.isEmpty { try await body(page.elements) }
                guard let next = page.next else { return }
                request = PageRequest(limit: 200, after: next)
            }
        }
    }
#endif
