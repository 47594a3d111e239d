import Foundation
import RecollectCore

/// Checks of filters, order and pages of a search.
enum SearchPageChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "search.spansSessionsAndAgents", rule: 1,
            "A search covers all sessions and agents of its user and of no other user."
        ) { store in
            try await Self.fill(store)
            let hits = try await store.everyHit(SearchQuery(userId: "user", text: "shared"))
            let scopes = hits.map { "\($0.session.sessionId)/\($0.agentId)/\($0.messageId)" }.sorted()
            try expectEqual(scopes, Self.everyMessage, "the messages of the hits, sorted")
            try expect(
                hits.allSatisfy { $0.session.userId == "user" }, "hits of one user",
                actual: "\(hits.map(\.session))")
            try await expectEqual(store.found("shared", of: "nobody"), [], "a search of a user without messages")
            try await expectEqual(store.found("shared", of: "User"), [], "a search of a user ID in another case")
        },
        HistoryStoreCheck(
            "search.sameIDInSeveralSessions", rule: 4,
            "Search finds messages with the same ID in several sessions, each by its own words."
        ) { store in
            for session in ["one", "two"] {
                let message = SampleData.message(.user, "m", "shared and \(session)")
                try await store.append([message], to: Scope.plain.session(session))
            }
            try await expectEqual(store.found("shared"), ["m", "m"], "a search for a word of both messages")
            let hits = try await store.everyHit(SearchQuery(userId: "user", text: "two"))
            try expectEqual(
                hits.map(\.session.sessionId), ["two"], "the sessions of the hits for a word of one message")
        },
        HistoryStoreCheck(
            "search.filters",
            "Session, agent, roles and dates restrict a search; from is inclusive, until is exclusive."
        ) { store in
            try await Self.fill(store)
            func date(_ offset: Int64) -> Date { Date(millisecondsSince1970: SampleData.start + offset) }
            func query(_ change: (inout SearchQuery) -> Void) -> SearchQuery {
                var query = SearchQuery(userId: "user", text: "shared")
                change(&query)
                return query
            }
            let filters: [(String, SearchQuery, @Sendable (String) -> Bool)] = [
                ("session", query { $0.sessionId = "s1" }, { $0.hasPrefix("s1/") }),
                ("agent", query { $0.agentId = "b" }, { $0.contains("/b/") }),
                ("empty agent", query { $0.agentId = "" }, { $0.contains("//") }),
                ("role", query { $0.roles = [.assistant] }, { $0.hasSuffix("1") }),
                ("roles", query { $0.roles = [.user, .assistant] }, { !$0.hasSuffix("2") }),
                ("from", query { $0.from = date(1000) }, { !$0.hasSuffix("0") }),
                ("until", query { $0.until = date(1000) }, { $0.hasSuffix("0") }),
                ("from and until", query { ($0.from, $0.until) = (date(1000), date(2000)) }, { $0.hasSuffix("1") }),
                (
                    "all filters together",
                    query { ($0.sessionId, $0.agentId, $0.roles, $0.from) = ("s2", "a", [.system], date(0)) },
                    { $0.hasPrefix("s2/a/") && $0.hasSuffix("2") }
                ),
                ("unknown session", query { $0.sessionId = "S1" }, { _ in false }),
            ]
            for (name, query, isWanted) in filters {
                let scopes = try await store.everyHit(query).map {
                    "\($0.session.sessionId)/\($0.agentId)/\($0.messageId)"
                }
                try expectEqual(scopes.sorted(), Self.everyMessage.filter(isWanted), "messages filtered by \(name)")
            }
        },
        HistoryStoreCheck(
            "search.hitsIdentifyMessage", "A hit has the session, agent, ID, role and date of its message."
        ) { store in
            try await Self.fill(store)
            for hit in try await store.everyHit(SearchQuery(userId: "user", text: "shared")) {
                let stored = try await store.message(hit.messageId, in: hit.session)
                try expectEqual(stored?.agentId, hit.agentId, "the agent of \(hit.messageId)")
                try expectEqual(stored?.message.role, hit.role, "the role of \(hit.messageId)")
                try expectEqual(stored?.message.timestamp, hit.timestamp, "the date of \(hit.messageId)")
            }
        },
        HistoryStoreCheck(
            "search.bestFirst",
            "Hits are sorted by descending score, and a short message about the query ranks above a long one."
        ) { store in
            let filler = String(repeating: "words about something else entirely ", count: 30)
            try await store.append(
                [
                    SampleData.message(.user, "long", filler + "zebra " + filler),
                    SampleData.message(.assistant, "short", "zebra zebra"),
                    SampleData.message(.user, "none", filler),
                ], to: .plain)
            let hits = try await store.everyHit(SearchQuery(userId: "user", text: "zebra"))
            try expectEqual(hits.map(\.messageId), ["short", "long"], "the hits")
            try expect(hits[0].score > hits[1].score, "descending scores", actual: "\(hits.map(\.score))")
        },
        HistoryStoreCheck(
            "search.pages", "Pages of any size contain every hit once, in the order of one large page."
        ) { store in
            for number in 0..<23 {
                let text = "common" + String(repeating: " and more", count: number % 5)
                try await store.append(
                    [SampleData.message(.user, "m\(number)", text)], to: Scope.plain.session("s\(number % 4)"))
            }
            let all = try await store.everyHit(SearchQuery(userId: "user", text: "common", limit: 100)).map(\.messageId)
            try expectEqual(Set(all).count, 23, "the number of different messages")
            for limit in [1, 2, 5, 22, 23, 24] {
                let paged = try await store.everyHit(SearchQuery(userId: "user", text: "common", limit: limit)).map(
                    \.messageId)
                try expectEqual(paged, all, "pages of \(limit)")
            }
        },
        HistoryStoreCheck(
            "search.pagesAfterDeletion", "A page is complete if hits of earlier pages were deleted meanwhile."
        ) { store in
            for number in 0..<6 {
                try await store.append(
                    [SampleData.message(.user, "m\(number)", "common" + String(repeating: " more", count: number))],
                    to: .plain)
            }
            for order in SearchOrder.allCases {
                var query = SearchQuery(userId: "user", text: "common", order: order)
                let all = try await store.everyHit(query).map(\.messageId)
                query.limit = 2
                let first = try await store.search(query)
                try await store.deleteMessages([all[1]], in: Scope.plain.session)
                query.cursor = first.next
                let rest = try await store.everyHit(query, from: first.next).map(\.messageId)
                try expectEqual(rest, Array(all[2...]), "the pages after the first one by \(order)")
            }
        },
        HistoryStoreCheck(
            "search.byDate",
            "By date, the hits are the messages with all words, in order of their dates and then of saving, on pages of any size."
        ) { store in
            let days: [Int64] = [40, 3, 400, 3, 0, 41, 3]
            for (number, day) in days.enumerated() {
                try await store.append(
                    [SampleData.message(.user, "m\(number)", "ferry timetable \(number)", at: day * 86_400_000)],
                    to: Scope.plain.session("s\(number % 2)"))
            }
            try await store.append([SampleData.message(.user, "other", "ferry", at: 86_400_000)], to: .plain)
            let oldest = ["m4", "m1", "m3", "m6", "m0", "m5", "m2"]
            for limit in [1, 2, 3, 7, 20] {
                var query = SearchQuery(userId: "user", text: "timetable ferry", order: .oldestFirst, limit: limit)
                try await expectEqual(
                    store.everyHit(query).map(\.messageId), oldest, "the oldest hits first, in pages of \(limit)")
                query.order = .newestFirst
                try await expectEqual(
                    store.everyHit(query).map(\.messageId), oldest.reversed(),
                    "the newest hits first, in pages of \(limit)")
            }
            let some = SearchQuery(userId: "user", text: "ferry unicorn", order: .newestFirst)
            try await expectEqual(
                store.everyHit(some).map(\.messageId), oldest.suffix(6).reversed() + ["other", "m4"],
                "the hits if no message has all words, the newest first")
        },
        HistoryStoreCheck(
            "search.hitsPerSession", "A search returns at most the given number of hits in each session, on all pages."
        ) { store in
            for number in 0..<12 {
                try await store.append(
                    [SampleData.message(.user, "m\(number)", "ferry" + String(repeating: " more", count: number))],
                    to: Scope.plain.session("s\(number % 3)"))
            }
            for order in SearchOrder.allCases {
                let all = try await store.everyHit(SearchQuery(userId: "user", text: "ferry", order: order))
                for most in 1...2 {
                    var counts: [SessionKey: Int] = [:]
                    let expected = all.filter { hit in
                        counts[hit.session, default: 0] += 1
                        return counts[hit.session, default: 0] <= most
                    }.map(\.messageId)
                    for limit in [1, 4, 20] {
                        let query = SearchQuery(
                            userId: "user", text: "ferry", order: order, maxHitsPerSession: most, limit: limit)
                        try await expectEqual(
                            store.everyHit(query).map(\.messageId), expected,
                            "\(most) hits of each session by \(order), in pages of \(limit)")
                    }
                }
            }
        },
    ]

    private static let scopes = ["s1", "s2"].flatMap { session in
        ["", "a", "b"].map { Scope.plain.session(session).agent($0) }
    }
    private static let everyMessage = scopes.flatMap { scope in
        (0..<3).map { "\(scope.sessionId)/\(scope.agentId)/\(scope.sessionId)\(scope.agentId)\($0)" }
    }.sorted()

    /// Saves messages of three roles, a second apart, in two sessions of three agents, and the same for another user.
    private static func fill(_ store: any HistoryStore) async throws {
        for scope in scopes {
            let messages = [Role.user, .assistant, .system].enumerated().map { index, role in
                SampleData.message(
                    role, "\(scope.sessionId)\(scope.agentId)\(index)", "shared words", at: Int64(index) * 1000)
            }
            try await store.append(messages, to: scope)
            try await store.append(messages, to: scope.user("other"))
        }
    }
}
