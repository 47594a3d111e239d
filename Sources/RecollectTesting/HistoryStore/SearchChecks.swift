import Foundation
import RecollectCore

/// Checks of the messages found by a search.
enum SearchChecks {
    static let all: [HistoryStoreCheck] = [
        finding(
            "search.words",
            "Messages with all words of the query, in any order and case, lack none and come before those with some.",
            in: ["The quick brown fox", "A brown bear", "Quick thinking", "foxes sleep"],
            [("brown", [0, 1]), ("BROWN fox", [0]), ("fox quick", [0]), ("quick bear", []), ("unicorn", [])]),
        finding(
            "search.prefixes", "A query word matches the beginning of a word.",
            in: ["configuration of the server", "we configured it", "a confident answer"],
            [("config", [0, 1]), ("conf", [0, 1, 2]), ("configuratio", [0]), ("serv config", [0])]),
        HistoryStoreCheck(
            "search.someWords", "A message with some of the words is found, and its missing words are reported."
        ) { store in
            try await store.append(messages(["The quick brown fox", "A brown bear", "Quick thinking"]), to: .plain)
            let hits = try await store.search(SearchQuery(userId: Scope.plain.userId, text: "quick brown bear"))
            try expectEqual(
                Set(hits.elements.map(\.messageId)), ["m0", "m1", "m2"], "all messages with one of the words")
            let missing = Dictionary(hits.elements.map { ($0.messageId, Set($0.missingWords)) }) { first, _ in first }
            let matched = Dictionary(hits.elements.map { ($0.messageId, Set($0.matchedWords)) }) { first, _ in first }
            try expectEqual(
                matched, ["m0": ["quick", "brown"], "m1": ["brown", "bear"], "m2": ["quick"]],
                "the matched words of each message")
            try expectEqual(
                missing, ["m0": ["bear"], "m1": ["quick"], "m2": ["brown", "bear"]], "the missing words of each message"
            )
        },
        finding(
            "search.requirements",
            "A message must have a quoted phrase and a word after +, and must not have a word or phrase after -.",
            in: ["red green blue", "green red", "blue sky over red roofs", "nothing"],
            [
                ("\"red green\"", [0]), ("\"red green\" sky", [0]), ("+green sky", [0, 1]), ("red -sky", [0, 1]),
                ("red -\"green blue\"", [1, 2]), ("+green +sky", []), ("-red", []),
            ], isComplete: false),
        HistoryStoreCheck(
            "search.fields",
            "A session, an agent, a role, and dates in the query are filters; a field with an unknown value is text."
        ) { store in
            let other = Scope(userId: Scope.plain.userId, sessionId: "my other trip", agentId: "travel")
            try await store.append(
                [
                    SampleData.message(.user, "m0", "the ferry to Naxos", at: 0),
                    SampleData.message(.assistant, "m1", "a ferry, role:admin", at: 1000),
                ], to: .plain)
            try await store.append([SampleData.message(.user, "m2", "ferry tickets", at: 400 * 86_400_000)], to: other)
            let year = SampleData.message(.user, "", "", at: 0).timestamp.formatted(.iso8601.year())
            for (query, expected) in [
                ("ferry session:\"my other\"", ["m2"]), ("agent:travel ferry", ["m2"]),
                ("ferry role:assistant", ["m1"]),
                ("role:user ferry role:assistant", ["m0", "m1", "m2"]), ("role:user agent:travel naxos", []),
                ("role:admin", ["m1"]), ("agent:none ferry", []), ("ferry AFTER:\(year)", ["m0", "m1", "m2"]),
                ("ferry before:1969-12-31", []), ("ferry after:2500-02", []), ("ferry before:2500-02-30", []),
                ("ferry before:\(Int(year).map { $0 + 3 } ?? 0)-01-01", ["m0", "m1", "m2"]),
                ("\"ferry session:my\"", []), ("session: ferry", []),
            ] {
                let hits = try await store.everyHit(SearchQuery(userId: Scope.plain.userId, text: query))
                try expectEqual(
                    hits.filter(\.missingWords.isEmpty).map(\.messageId).sorted(), expected,
                    "a search for \(query.debugDescription)")
            }
            var filtered = SearchQuery(
                userId: Scope.plain.userId, text: "ferry agent:travel", agentId: Scope.plain.agentId)
            try await expectEqual(store.everyHit(filtered).count, 0, "filters that exclude each other")
            filtered = SearchQuery(userId: "stranger", text: "ferry agent:travel")
            try await expectEqual(store.everyHit(filtered).count, 0, "a search of another user")
        },
        HistoryStoreCheck(
            "search.namedTimes",
            "A time in the query counts as found in messages of that time, after messages with all words."
        ) { store in
            let now = Date()
            let today = Calendar.current.startOfDay(for: now)
            for (id, text, date) in [
                ("old", "the ferry timetable", today.addingTimeInterval(-40 * 86_400)),
                ("yesterday", "the ferry timetable changed", today.addingTimeInterval(-6 * 3600)),
                ("today", "a ferry timetable", now),
                ("said", "a ferry timetable of yesterday", today.addingTimeInterval(-20 * 86_400)),
            ] {
                let message = ConversationMessage(id: id, role: .user, text: text, timestamp: date)
                try await store.append([message], to: .plain)
            }
            for (query, expected) in [
                ("ferry timetable yesterday", ["said", "yesterday"]),
                ("What about yesterday's ferry timetable?", ["yesterday"]), ("1 day ago ferry", ["yesterday"]),
            ] {
                let hits = try await store.everyHit(SearchQuery(userId: Scope.plain.userId, text: query))
                try expectEqual(
                    Array(hits.map(\.messageId).prefix(expected.count)), expected, "the first hits of \(query)")
                try expectEqual(
                    hits[expected.count - 1].missingWords, [], "the missing words of the message of that day")
            }
            let quoted = try await store.everyHit(SearchQuery(userId: Scope.plain.userId, text: "ferry \"yesterday\""))
            try expectEqual(quoted.map(\.messageId), ["said"], "the hits of a quoted word")
        },
        HistoryStoreCheck(
            "search.corrections",
            "A misspelled word finds the right word of the user's messages, and the hit names both; a known word finds itself."
        ) { store in
            try await store.append(messages(["the ferry timetable", "a table"]), to: .plain)
            for (query, found, corrected) in [
                ("timetabel", ["m0"], ["timetabel": "timetable"]),
                ("ferry tiemtable", ["m0"], ["tiemtable": "timetable"]),
                ("table", ["m1"], [:]), ("\"timetabel\"", [], [:]),
            ] {
                let hits = try await store.search(SearchQuery(userId: Scope.plain.userId, text: query)).elements
                try expectEqual(hits.map(\.messageId), found, "a search for \(query)")
                try expectEqual(hits.first?.correctedWords ?? [:], corrected, "the corrected words of \(query)")
            }
        },
        finding(
            "search.partsOfIdentifiers",
            "A part of an identifier matches it: save_messages, WebSocketTask, HTTPServer2.",
            in: [
                "call save_messages here", "a WebSocketTask failed", "HTTPServer2 listens", "nothing of it",
                "see src/db/main.swift",
            ],
            [
                ("messages", [0]), ("save_messages", [0]), ("socket", [1]), ("WebSocketTask", [1]), ("websocket", [1]),
                ("server", [2]), ("main", [4]), ("main.swift", [4]), ("task", [1]),
            ]),
        finding(
            "search.foldsAccents",
            "Matching ignores accents, case and Unicode normalization in the query and the text.",
            in: ["Müller aß in Zürich", "muller again", "cafe\u{301}", "CAF\u{C9}", "nothing"],
            [
                ("muller", [0, 1]), ("MÜLLER", [0, 1]), ("mu\u{308}ller", [0, 1]), ("café", [2, 3]), ("cafe", [2, 3]),
                ("zurich", [0]),
            ]),
        finding(
            "search.chineseAndJapanese", "Chinese and Japanese text is found by any two adjacent characters.",
            in: ["我们今天讨论数据库的设计", "今日は天気がいいです", "天今", "数据很多,仓库很大", "カタカナとひらがな"],
            [
                ("数据", [0, 3]), ("据库", [0]), ("数据库", [0]), ("今天", [0]), ("天気", [1]), ("がいい", [1]), ("カナ", [4]),
                ("设计 讨论", [0]), ("据仓", []),
            ]),
        HistoryStoreCheck(
            "search.acceptsAnyText",
            "Any text is a valid query: operators, quotes, parentheses, U+0000, emoji, the empty string."
        ) { store, random in
            try await store.append(Self.messages(["plain words OR NOT (other) \"words\""]), to: .plain)
            var random = random
            let pieces = [
                "\"", "'", "(", ")", "*", "^", ":", "-", "+", "{", "}", "AND", "OR", "NOT", "NEAR", "NEAR(a, 2)",
                "text:", ";", "--",
                "words", " ", "\u{0}", "👩‍👩‍👧‍👦", "数", "é", "\\", "%", "_", ",", "a", "\u{301}", "\u{202E}", "\n",
            ]
            var queries =
                pieces + ["", "   ", "\"unclosed", "words AND", "OR words", "a*b*", "{text} : words", "^words + plain"]
            for _ in 0..<100 {
                queries.append(
                    (0..<Int.random(in: 1...6, using: &random)).compactMap { _ in pieces.randomElement(using: &random) }
                        .joined())
            }
            queries.append(String(repeating: "word ", count: 2000))
            for query in queries {
                do {
                    _ = try await store.search(SearchQuery(userId: "user", text: query))
                } catch {
                    throw BrokenPromise(
                        expected: "no error for \(query.prefix(80).debugDescription) (seed \(random.seed))",
                        actual: "\(error)")
                }
            }
            try await expectEqual(store.found("\"words\" (plain"), ["m0"], "a search with stray quotes")
        },
        HistoryStoreCheck(
            "search.marksMatches", "A snippet is a part of the message with the matched words marked."
        ) { store in
            let filler = String(repeating: "lorem ipsum dolor ", count: 400)
            try await store.append(Self.messages([filler + "the Needle is here " + filler, "needle"]), to: .plain)
            for hit in try await store.everyHit(SearchQuery(userId: "user", text: "needle")) {
                let marked = hit.snippet.runs.filter(\.isMatch).map { $0.text.lowercased() }
                try expect(
                    marked.contains { $0.contains("needle") }, "a marked range with the word",
                    actual: hit.snippet.marked())
                try expect(
                    hit.snippet.text.count < 1000, "a snippet shorter than 1000 characters",
                    actual: "\(hit.snippet.text.count) characters")
            }
        },
        HistoryStoreCheck(
            "search.isAlwaysUpToDate", rule: 6,
            "Search finds a message right after it is saved, and no longer after it is deleted."
        ) { store in
            for number in 0..<20 {
                try await store.append(
                    [SampleData.message(.user, "m\(number)", "token\(number)x and more")], to: .plain)
                try await expectEqual(store.found("token\(number)x"), ["m\(number)"], "a search right after a save")
                guard number.isMultiple(of: 3) else { continue }
                try await store.deleteMessages(["m\(number)"], in: Scope.plain.session)
                try await expectEqual(store.found("token\(number)x"), [], "a search right after a deletion")
            }
        },
    ]

    /// Returns a check: saves texts, and expects each query to find the texts at the given indices.
    /// - Parameter isComplete: Whether only texts with all words of a query count.
    private static func finding(
        _ name: String, _ promise: String, in texts: [String], _ queries: [(String, [Int])], isComplete: Bool = true
    ) -> HistoryStoreCheck {
        HistoryStoreCheck(name, promise) { store in
            try await store.append(messages(texts), to: .plain)
            for (query, numbers) in queries {
                let hits = try await store.everyHit(SearchQuery(userId: Scope.plain.userId, text: query))
                let found = hits.filter { !isComplete || $0.missingWords.isEmpty }.map(\.messageId).sorted()
                try expectEqual(found, numbers.map { "m\($0)" }, "a search for \(query.debugDescription)")
            }
        }
    }

    private static func messages(_ texts: [String]) -> [ConversationMessage] {
        texts.enumerated().map { SampleData.message(.user, "m\($0)", $1, at: Int64($0)) }
    }
}
