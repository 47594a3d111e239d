import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectSQLite

@Suite("Search in a history")
struct SearchTests {
    @Test("Typographic quotation marks begin and end a phrase, like straight ones")
    func typographicMarks() throws {
        let history = try SearchedHistory()
        try history.add("the quick brown fox", id: "phrase")
        try history.add("quick over the brown bridge", id: "apart", session: "apart")
        for query in ["“quick brown”", "„quick brown“", "\"quick brown\""] {
            #expect(try history.ids(query) == ["phrase"], "\(query)")
        }
    }

    @Test("A long text without spaces is searched for by its beginning, in bounded time")
    func longText() throws {
        let history = try SearchedHistory()
        try history.add("a.a.a.a", id: "short")
        for query in [String(repeating: "a.", count: 500_000), String(repeating: "session:", count: 200_000)] {
            #expect(try history.ids(query).isEmpty)
        }
        #expect(try history.ids("a.a.a " + String(repeating: "b ", count: 500_000)) == ["short"])
    }

    @Test(
        "A text is found by words, word parts, prefixes, phrases, folded letters and scripts without spaces",
        arguments: [
            ("save_messages", "messages"), ("save_messages", "save_mess"), ("saveMessages", "save_messages"),
            ("save_messages", "saveMessages"), ("WebSocketTask", "socket"), ("WebSocketTask", "websock"),
            ("WebSocketTask.cancel()", "WebSocketTask.cancel"), ("github.com", "GitHub.com"),
            ("GitHub.com", "github.com"), ("GitHub", "github"), ("github", "GitHub"), ("Café crème", "cafe creme"),
            ("naive", "naïve"), ("你好世界", "好世"), ("你好世界", "世界"), ("你好世界", "你好世界"), ("你好世界", "界"),
            ("東京タワー", "タワ"), ("東京タワー", "京"), ("ｶﾀｶﾅ", "カタカナ"), ("학교에서", "학교"), ("ไทยแลนด์", "แลนด์"),
            ("well-known", "well known"), ("well known", "well-known"), ("a 🎉 b", "🎉"), ("before\0after", "after"),
            ("Sources/App/main.swift", "App/main"), ("the quick brown fox", "\"quick brown\""),
            ("the quick brown fox", "fox quick"), ("it OR that", "or"), ("NEAR(a b)", "near("), ("x", "x"),
            ("STRASSE", "straße"), ("İstanbul", "istanbul"), ("say \"hi\" now", "\"hi\" now"),
            ("unbalanced", "\"unbalanced"),
        ])
    func found(text: String, query: String) throws {
        let history = try SearchedHistory()
        try history.add("something else")
        try history.add(text, id: "wanted")
        #expect(try history.ids(query).first == "wanted")
    }

    @Test(
        "A text is not found by missing words, inner fragments, a wrong order or empty queries",
        arguments: [
            ("the quick brown fox", "\"brown quick\""), ("a b", "\"a b c\""), ("a b", "c d"),
            ("你好世界", "你世"), ("か", "が"), ("messages", "essage"), ("save the messages", "save_messages"),
            ("the quick brown", "\"qui\""), ("text", ""), ("text", "  "), ("text", "\"\""), ("text", "***"),
            ("text", "\0"), ("bat", "b"),
        ])
    func notFound(text: String, query: String) throws {
        let history = try SearchedHistory()
        try history.add(text)
        #expect(try history.ids(query).isEmpty)
    }

    @Test("Prose, thinking, speech, and tools' names, arguments and results are searched; IDs and files are not")
    func parts() throws {
        let history = try SearchedHistory()
        try history.add(
            .parts([
                .text("alpha"), .thinking("beta", signature: "notsigned"), .audioTranscript("gamma"),
                .toolCall(
                    id: "callid", name: "run_delta", arguments: ["path": ["epsilon", ["deep": "zeta"]], "n": 42]),
                .toolResult(id: "resultid", content: [["type": "text", "text": "eta\nlines"]]),
                .attachment(
                    Attachment(mediaType: "image/png", name: "filename", content: .remote(url: "https://where"))),
                .unknown(["future": ["text": "unknowable"]]),
            ]), id: "m")
        for word in ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"] {
            let hits = try history.hits(word)
            #expect(hits.map(\.messageId) == ["m"], "\(word)")
            #expect(hits.first?.snippet.marked().contains("«\(word)»") == true)
        }
        for word in ["notsigned", "callid", "resultid", "filename", "where", "unknowable", "path", "42"] {
            #expect(try history.ids(word).isEmpty, "\(word)")
        }
    }

    @Test("The first 64 KB of a tool result and the first megabyte of prose are searched")
    func bounds() throws {
        let history = try SearchedHistory()
        let filler = String(repeating: "filler ", count: 10_000)
        try history.add(
            .parts([.toolResult(id: "1", content: .string(filler + "beyond")), .text("behind")]), id: "tool")
        try history.add(filler + "within", id: "prose")
        #expect(try history.ids("beyond").isEmpty)
        #expect(try history.ids("behind") == ["tool"])
        #expect(try history.hits("within").first?.snippet.marked().hasSuffix("filler «within»") == true)
    }

    @Test("No query finds another user's messages")
    func users() throws {
        let history = try SearchedHistory()
        for index in 0..<1200 {
            try history.add("secret common \(index)", id: "b\(index)", user: "bob", session: "shared")
        }
        try history.add("common mine", id: "a", user: "alice", session: "shared")
        for text in ["secret", "common", "comm", "secret OR common", "_u", "mine\" OR \"secret", "body:secret", "_r"] {
            for session in [nil, "shared"] {
                let page = try history.search(SearchQuery(userId: "alice", text: text, sessionId: session, limit: 5000))
                #expect(page.elements.allSatisfy { $0.messageId == "a" && $0.session.userId == "alice" })
            }
        }
        #expect(try history.ids("common", user: "alice") == ["a"])
        #expect(try history.hits("common", user: "bob", limit: 5000).count == 1200)
        #expect(try history.ids("common", user: "ALICE").isEmpty)
    }

    @Test("Filters by session, agent, role and date can be combined")
    func filters() throws {
        let history = try SearchedHistory()
        let day: Int64 = 86_400_000
        // 1,300 newer messages of another session are added last, so that the matches are far down.
        for index in 0..<80 {
            try history.add(
                "word", id: "\(index)", session: index % 2 == 0 ? "even" : "odd", agent: index % 4 < 2 ? "x" : "y",
                role: index % 8 < 4 ? .user : .tool, at: Int64(index) * 10 * day)
        }
        for index in 0..<1300 {
            try history.add("word", id: "other \(index)", session: "else", agent: "z", role: .system)
        }
        func numbers(_ query: SearchQuery) throws -> [Int] {
            try history.search(query).elements.compactMap { Int($0.messageId) }.sorted()
        }
        let all = Array(0..<80)
        func query(
            session: String? = nil, agent: String? = nil, roles: [Role] = [], from: Int64? = nil, until: Int64? = nil
        )
            -> SearchQuery
        {
            SearchQuery(
                userId: "u", text: "word", sessionId: session, agentId: agent, roles: roles,
                from: from.map(Date.init(millisecondsSince1970:)), until: until.map(Date.init(millisecondsSince1970:)),
                limit: 5000)
        }
        #expect(try numbers(query(session: "odd")) == all.filter { $0 % 2 == 1 })
        #expect(try numbers(query(agent: "y")) == all.filter { $0 % 4 >= 2 })
        #expect(try numbers(query(roles: [.user, .assistant])) == all.filter { $0 % 8 < 4 })
        #expect(try numbers(query(until: 300 * day)) == Array(0..<30))
        #expect(try numbers(query(from: 100 * day, until: 300 * day + 1)) == Array(10...30))
        #expect(try numbers(query(from: 400 * day, until: 20_000 * day)) == Array(40..<80))
        #expect(try numbers(query(from: 400 * day)) == Array(40..<80))
        #expect(try numbers(query(from: 400 * day, until: 400 * day)) == [])
        #expect(
            try numbers(query(session: "even", agent: "x", roles: [.tool], from: 200 * day, until: 600 * day))
                == all.filter { $0 % 2 == 0 && $0 % 4 < 2 && $0 % 8 >= 4 && (20..<60).contains($0) })
        #expect(try numbers(query(session: "none")) == [])
        #expect(try numbers(query(agent: "none")) == [])
    }

    @Test("Pages of results repeat and skip nothing, even beyond the ranked results and while messages are added")
    func paging() throws {
        let history = try SearchedHistory()
        for index in 0..<2300 {
            try history.add(
                index % 3 == 0 ? "page" : index % 3 == 1 ? "page filler filler" : "pages", id: "\(index)",
                session: "\(index % 7)")
        }
        var query = SearchQuery(userId: "u", text: "page", limit: 170)
        var ids: [String] = []
        var scores: [Double] = []
        repeat {
            let page = try history.search(query)
            ids += page.elements.map(\.messageId)
            scores += page.elements.map(\.score)
            query.cursor = page.next
            try history.add("page page page", id: "late \(ids.count)")
        } while query.cursor != nil
        #expect(ids.count == 2300)
        #expect(Set(ids) == Set((0..<2300).map(String.init)))
        #expect(scores == scores.sorted(by: >))
        let firstPrefix = try #require(ids.firstIndex { Int($0).map { $0 % 3 == 2 } == true })
        #expect(firstPrefix == 1534, "whole words rank before prefixes")
        let all = SearchQuery(userId: "u", text: "page", limit: .max)
        #expect(try history.search(all).elements.count > 2300)
        let end = SearchCursor(score: -.infinity, position: ChangeCursor(sequence: 0))
        let beyond = SearchQuery(userId: "u", text: "page", limit: .max, cursor: end)
        #expect(try history.search(beyond).elements.isEmpty)
    }

    @Test("The last page has no cursor, even if it is full")
    func lastPage() throws {
        let history = try SearchedHistory()
        for index in 0..<4 { try history.add("page", id: "\(index)") }
        let first = try history.search(SearchQuery(userId: "u", text: "page", limit: 2))
        #expect(first.elements.count == 2)
        let second = try history.search(SearchQuery(userId: "u", text: "page", limit: 2, cursor: first.next))
        #expect(second.elements.count == 2)
        #expect(second.next == nil)
        let end = SearchCursor(score: -.infinity, position: ChangeCursor(sequence: 0))
        let beyond = try history.search(SearchQuery(userId: "u", text: "page", limit: 2, cursor: end))
        #expect(beyond.elements.isEmpty && beyond.next == nil)
    }

    @Test("A forked message is found once, and an unrelated message with the same ID is found separately")
    func copies() throws {
        let history = try SearchedHistory()
        try history.add("copied words", id: "1", session: "original")
        try history.database.write {
            try SessionEdits.fork(
                SessionKey(userId: "u", sessionId: "original"), at: "1", into: "fork", $0)
        }
        try history.add("copied words", id: "1", session: "unrelated")
        #expect(try history.ids("copied").count == 2)
        let first = try history.search(SearchQuery(userId: "u", text: "copied", limit: 1))
        #expect(first.next?.score == first.elements.first?.score)
        for session in ["original", "fork"] {
            let page = try history.search(SearchQuery(userId: "u", text: "copied", sessionId: session))
            #expect(page.elements.map(\.session.sessionId) == [session])
        }
    }

    @Test("More frequent, shorter, closer, whole-word and newer matches rank first")
    func ranking() throws {
        func order(_ query: String, _ texts: [String]) throws -> [String] {
            let history = try SearchedHistory()
            for (index, text) in texts.enumerated() { try history.add(text, id: "\(index)") }
            return try history.ids(query)
        }
        let filler = String(repeating: "and so on ", count: 100)
        #expect(try order("word", ["word word word x x", "word x x x x"]) == ["0", "1"])
        #expect(try order("word", ["word", "word " + filler]) == ["0", "1"])
        #expect(
            try order("big house", ["big house x x x x", "house x x x x big", "big x x x x house"]) == ["0", "2", "1"])
        #expect(try order("word", ["a word", "a wordy", "b word", "b words"]) == ["2", "0", "3", "1"])
        #expect(try order("socket", ["WebSocketTask", "sockets", "socket"]) == ["2", "0", "1"])
    }

    @Test("Any string is a valid query")
    func anyQuery() async throws {
        await Seeds.run(8) { seed in
            let history = try SearchedHistory()
            var random = SeededGenerator(seed: seed)
            for _ in 0..<50 { try history.add(random.text(scalars: 30)) }
            let operators = [
                "\"", "*", "(", ")", "AND", "OR", "NOT", "NEAR(", "body:", "-", "+", "^", "{", "}", ":", "'", ";", " ",
            ]
            for _ in 0..<50 {
                var text = random.text(scalars: 20)
                for _ in 0..<3 { text += (operators.randomElement(using: &random) ?? "") + random.text(scalars: 4) }
                #expect(throws: Never.self, "\(text.debugDescription)") {
                    _ = try history.hits(text)
                }
            }
        }
        let history = try SearchedHistory()
        let long = (0..<50_000).map { "word\($0) " }.joined()
        #expect(throws: Never.self) { _ = try history.hits(long) }
        #expect(throws: Never.self) { _ = try history.hits(String(repeating: "\"a", count: 10_001)) }
    }

    @Test("Every word of a text and every prefix of a word find the text, and the snippet marks the match")
    func everyWord() async {
        await Seeds.run(2) { seed in
            let history = try SearchedHistory()
            var random = SeededGenerator(seed: seed)
            let texts = (0..<60).map { _ in (0..<8).map { _ in random.text(scalars: 6) }.joined(separator: " ") }
            for (index, text) in texts.enumerated() { try history.add(text, id: "\(index)") }
            for (index, text) in texts.enumerated() {
                let terms = Set(Terms.of(text).map(\.text))
                for term in Terms.of(text) {
                    // One digit of a `½` may belong to the next word without the other digit.
                    guard Terms.of(term.source(in: text)).allSatisfy({ terms.contains($0.text) }) else { continue }
                    let whole = try history.search(SearchQuery(userId: "u", text: term.source(in: text), limit: 100))
                    let wanted = whole.elements.first { $0.messageId == "\(index)" }
                    #expect(wanted != nil, "\(term.text.debugDescription) of \(text.debugDescription)")
                    #expect(
                        wanted?.snippet.runs.contains(where: \.isMatch) == true,
                        "\(term.text.debugDescription) of \(text.debugDescription)")
                    guard !term.isCharacter, term.text.utf8.allSatisfy({ $0 < 0x80 }), term.text.count > 2 else {
                        continue
                    }
                    #expect(
                        try history.ids(String(term.text.dropLast()), limit: 100).contains("\(index)"),
                        "prefix of \(term.text.debugDescription) of \(text.debugDescription)")
                }
            }
        }
    }

    @Test(
        "A filtered list finds all matching sessions, despite many newer matches in other sessions",
        arguments: [1, 2_100])
    func filteredList(pinned: Int) throws {
        let history = try SearchedHistory()
        try history.addLanterns(sessions: pinned, each: 1, named: "old")
        try history.addLanterns(sessions: 1, each: 20_001, named: "new")
        try history.database.write { try $0.run("UPDATE session SET is_pinned = session_id GLOB 'old*'") }
        try history.index(atOnce: 30_000)
        func count(isPinned: Bool?) throws -> Int {
            let query = SessionQuery(userId: "u", text: "lantern", isPinned: isPinned)
            return try history.database.read {
                try SessionQueries.page(query, PageRequest(limit: 5_000), $0).elements.count
            }
        }
        #expect(try count(isPinned: true) == pinned)
        #expect(try count(isPinned: false) == 1)
    }

    @Test("Fields and signs in the text of a list of sessions apply to the messages")
    func fieldsOfLists() async throws {
        let history = SQLiteHistoryStore.inMemory()
        for (session, agent, role, text) in [
            ("one", "travel", Role.user, "the ferry to Naxos"), ("two", "travel", .assistant, "a ferry to Paros"),
            ("three", "cook", .user, "a ferry: soup"),
        ] {
            try await history.append(
                [ConversationMessage(role: role, text: text)],
                to: Scope(userId: "u", sessionId: session, agentId: agent))
        }
        for (text, expected) in [
            ("ferry", ["one", "two", "three"]), ("ferry agent:travel", ["one", "two"]),
            ("ferry role:user", ["one", "three"]),
            ("ferry role:user agent:travel", ["one"]), ("ferry -paros", ["one", "three"]), ("ferry: soup", ["three"]),
            ("ferry after:2500", []), ("session:tw ferry", ["two"]), ("agent:nobody ferry", []),
        ] {
            let page = try await history.sessions(SessionQuery(userId: "u", text: text), page: PageRequest(limit: 10))
            #expect(Set(page.elements.map(\.id.sessionId)) == Set(expected), "\(text)")
        }
        try await history.discardSession(SessionKey(userId: "u", sessionId: "one"))
        let discarded = SessionQuery(userId: "u", text: "ferry role:user", isDiscarded: true)
        #expect(
            try await history.sessions(discarded, page: PageRequest(limit: 10)).elements.map(\.id.sessionId) == ["one"])
    }
}

extension SearchedHistory {
    /// Adds sessions of the user "u" with messages that contain "lantern".
    fileprivate func addLanterns(sessions: Int, each count: Int, named name: String) throws {
        let numbers = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)"
        try database.write { db in
            try db.run(
                """
                \(numbers) INSERT INTO session (user_id, session_id, created_at, last_activity, message_count)
                SELECT 'u', ? || n, 0, 0, 0 FROM numbers
                """, sessions, name)
            try db.run(
                """
                INSERT INTO scope (session_row_id, agent_id, window_start)
                SELECT id, 'a', 0 FROM session WHERE session_id GLOB ?
                """, name + "*")
            let last = try db.integer("SELECT ifnull(max(sequence), 0) FROM message") ?? 0
            try db.run(
                """
                \(numbers) INSERT INTO message
                (sequence, session_row_id, scope_row_id, position, timestamp, role, message_id, text)
                SELECT ? + row_number() OVER (ORDER BY scope.id, n), session_row_id, scope.id, n, 0, 'user',
                  scope.id || '-' || n, 'lantern'
                FROM numbers JOIN scope JOIN session ON session.id = session_row_id
                WHERE session_id GLOB ?
                """, count, last, name + "*")
        }
    }
}
