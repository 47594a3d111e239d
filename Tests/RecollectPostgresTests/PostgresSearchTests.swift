#if Postgres
    import Foundation
    import RecollectCore
    import RecollectSQLite
    import RecollectTestSupport
    import Testing

    @testable import RecollectPostgres

    @Suite("Searches in PostgreSQL", .needs(.postgres))
    struct PostgresSearchTests {
        /// A history in PostgreSQL and one in memory with the same messages.
        private struct Histories {
            let server: PostgresHistoryStore
            let embedded: SQLiteHistoryStore

            init() async throws {
                server = PostgresHistoryStore(try PostgresAddress(try await HistoryServer.url))
                embedded = try SQLiteHistoryStore.inMemory()
            }

            func append(_ messages: [ConversationMessage], to scope: Scope) async throws {
                try await server.append(messages, to: scope)
                try await embedded.append(messages, to: scope)
            }

            /// Compares all pages of a query.
            func check(_ query: SearchQuery) async throws {
                var (query, other) = (query, query)
                repeat {
                    let page = try await server.search(query)
                    let expected = try await embedded.search(other)
                    #expect(
                        page.elements.map(Self.description) == expected.elements.map(Self.description), "\(query.text)")
                    #expect((page.next == nil) == (expected.next == nil), "\(query.text)")
                    (query.cursor, other.cursor) = (page.next, expected.next)
                } while query.cursor != nil && other.cursor != nil
            }

            private static func description(_ hit: SearchHit) -> String {
                """
                \(hit.session.sessionId) \(hit.agentId) \(hit.messageId) \(String(format: "%.9f", hit.score)) \
                \(hit.matchedWords) \(hit.missingWords) \(hit.correctedWords.sorted { $0.key < $1.key }) \
                \(hit.snippet.runs.map { $0.isMatch ? "[\($0.text)]" : $0.text }.joined())
                """
            }
        }

        private static let words = [
            "ferry", "ferries", "timetable", "island", "cabin", "book", "booked", "booking", "Anna", "fetchAll",
            "fetch_all",
            "数据库", "データ", "naïve", "a", "the", "of", "running", "ran", "2026-05-01", "don't", "error_code", "x",
        ]
        private static let texts = [
            "ferry", "ferry timetable", "\"ferry timetable\"", "\"fetch all\"", "fetchAll", "book ferry island cabin",
            "+book ferry",
            "ferry -cabin", "\"book ferry\" -\"the island\"", "数据", "数据库", "naive", "run", "bookin", "ferri",
            "timetabel",
            "what is the timetable of the ferry?", "island cabin running booked database",
            "Where did Anna book the cabin?",
            "role:user ferry", "agent:planner book", "session:s1 ferry", "after:2026-03 ferry", "ferry yesterday",
            "don't",
            "error_code", "error code", "absent", "absent ferry", "-ferry", "the", "a", "", "\"", "x", "' | & !:*",
            "fe*",
        ]

        @Test("A search finds the same hits with the same scores and snippets as in the embedded database")
        func sameAsEmbedded() async throws {
            var random = SeededGenerator(seed: 61)
            let histories = try await Histories()
            for session in 0..<4 {
                for agent in ["planner", "guide"] {
                    let messages = (0..<25).map { number in
                        let count = Int.random(in: 1...12, using: &random)
                        let text = (0..<count).compactMap { _ in Self.words.randomElement(using: &random) }
                        let ending = [".", "?", "", ", Anna"].randomElement(using: &random) ?? ""
                        return ConversationMessage(
                            id: "\(session).\(agent).\(number)", role: number % 2 == 0 ? .user : .assistant,
                            text: text.joined(separator: " ") + ending,
                            timestamp: Date(
                                timeIntervalSince1970: 1_770_000_000
                                    + Double(Int.random(in: 0..<10_000_000, using: &random))))
                    }
                    for part in 0..<5 {
                        try await histories.append(
                            Array(messages[part * 5..<part * 5 + 5]),
                            to: Scope(userId: "ana", sessionId: "s\(session)", agentId: agent))
                        try await histories.append(
                            [ConversationMessage(role: .user, text: "ferry of another user")],
                            to: Scope(userId: "ben", sessionId: "s\(session)", agentId: agent))
                    }
                }
            }
            for store in [histories.server, histories.embedded] as [any HistoryStore] {
                try await store.discardSession(SessionKey(userId: "ana", sessionId: "s3"))
            }
            for (number, text) in Self.texts.enumerated() {
                try await histories.check(SearchQuery(userId: "ana", text: text, limit: 25))
                var query = SearchQuery(userId: "ana", text: text, limit: 150)
                query.order = number % 2 == 0 ? .newestFirst : .oldestFirst
                try await histories.check(query)
                query.order = .relevance
                query.sessionId = number % 2 == 0 ? "s2" : nil
                query.roles = [.assistant]
                query.maxHitsPerSession = 2
                query.roles = []
                try await histories.check(query)
                let lists = SessionQuery(userId: "ana", text: text)
                let found = try await histories.server.sessions(lists, page: PageRequest(limit: 20)).elements.map(\.id)
                let expected = try await histories.embedded.sessions(lists, page: PageRequest(limit: 20)).elements.map(
                    \.id)
                #expect(found == expected, "\(text)")
            }
        }

        @Test("The messages of a fork are found when the original session is deleted")
        func copies() async throws {
            let histories = try await Histories()
            let scope = Scope(userId: "ana", sessionId: "original", agentId: "planner")
            try await histories.append([message("1"), message("2")], to: scope)
            for store in [histories.server, histories.embedded] as [any HistoryStore] {
                try await store.fork(scope.session, at: "1", agentId: nil, into: "fork")
                try await store.deleteSession(scope.session)
            }
            try await histories.check(SearchQuery(userId: "ana", text: "text"))
            let hits = try await histories.server.search(SearchQuery(userId: "ana", text: "text")).elements
            #expect(hits.map(\.session.sessionId) == ["fork"])
        }

        @Test("A message with a megabyte of different words is saved, and its first words are found")
        func manyWords() async throws {
            let histories = try await Histories()
            let scope = Scope(userId: "ana", sessionId: "s", agentId: "a")
            let text = "beginning " + (0..<120_000).map { "w\($0)" }.joined(separator: " ") + " zebra"
            try await histories.append([ConversationMessage(id: "long", role: .user, text: text)], to: scope)
            let hits = try await histories.server.search(SearchQuery(userId: "ana", text: "beginning w77")).elements
            #expect(hits.map(\.messageId) == ["long"])
            try await histories.check(SearchQuery(userId: "ana", text: "beginning -zebra"))
        }
    }
#endif
