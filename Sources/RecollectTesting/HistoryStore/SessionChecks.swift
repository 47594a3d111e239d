import Foundation
import RecollectCore

/// Checks of the list of a user's sessions.
enum SessionChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "sessions.summary",
            "A summary has the message count, the agents by first message, the dates and the preview."
        ) { store in
            try await store.append(
                [SampleData.message(.system, "s", "Be kind.", at: 5000)], to: Scope.plain.agent("second by name"))
            try await store.append(
                [
                    SampleData.message(.user, "u", "What is new?", at: 1000),
                    SampleData.message(.assistant, "a", "A lot.", at: 90_000),
                ],
                to: Scope.plain.agent("first by name"))
            try await store.append(
                [SampleData.message(.user, "late", "And now?", at: 2000)], to: Scope.plain.agent("third"))
            let one = try await store.session(Scope.plain.session)
            guard let one else { throw BrokenPromise(expected: "a session", actual: "nil") }
            try expectEqual(one.messageCount, 4, "the message count")
            try expectEqual(one.agentIds, ["first by name", "third", "second by name"], "the agents")
            try expectEqual(one.lastActivityAt.millisecondsSince1970, SampleData.start + 90_000, "the last activity")
            try expectEqual(one.preview, "What is new?", "the preview")
            try expectEqual(one.id, Scope.plain.session, "the session ID")
            try await expectEqual(store.everySession(of: "user"), [one], "the list")
            let unknown = try await store.session(Scope.plain.session("unknown").session)
            try expect(unknown == nil, "nil for an unknown session", actual: "\(unknown.debugDescription)")
        },
        HistoryStoreCheck(
            "sessions.shortPreview",
            "A preview has at most 200 characters of the first user message; without one it is empty."
        ) { store in
            let long = String(repeating: "👩‍👩‍👧‍👦é", count: 300)
            try await store.append([SampleData.message(.user, "u", long)], to: .plain)
            try await store.append([SampleData.message(.assistant, "a", "hello")], to: Scope.plain.session("quiet"))
            let preview = try await store.session(Scope.plain.session)?.preview ?? ""
            try expect(
                (1...200).contains(preview.count) && long.hasPrefix(preview.prefix(100)),
                "a preview of 1 to 200 characters of the text",
                actual: "\(preview.count) characters")
            let quiet = try await store.session(Scope.plain.session("quiet").session)
            try expectEqual(quiet?.preview, "", "the preview of a session without a user message")
        },
        HistoryStoreCheck(
            "sessions.latestFirst",
            "Pages of any size, in both directions, contain every session once, latest activity first."
        ) { store in
            // Two sessions of each date: a store may order ties in any way, but in the same way on every page.
            for number in 0..<14 {
                let message = SampleData.message(.user, "m", at: Int64(number * 5 % 7) * 1000)
                try await store.append([message], to: Scope.plain.session("session \(number)"))
            }
            let all = try await store.everySession(of: "user")
            try expectEqual(Set(all.map(\.id)).count, 14, "the number of different sessions")
            let dates = all.map(\.lastActivityAt)
            try expectEqual(dates, dates.sorted(by: >), "descending dates of last activity")
            for limit in [1, 2, 3, 5, 13, 14, 15] {
                try await expectEqual(
                    store.everySession(of: "user", limit: limit).map(\.id.sessionId), all.map(\.id.sessionId),
                    "pages of \(limit)")
                try await expectEqual(
                    Self.backward(store, limit: limit).map(\.id.sessionId), all.map(\.id.sessionId),
                    "backward pages of \(limit)")
            }
        },
        HistoryStoreCheck(
            "sessions.pagesStayStableDuringWrites",
            "During concurrent writes and deletions, paging neither omits nor repeats an unchanged session."
        ) { store in
            let last = SampleData.message(.user, "last", at: 1_000_000)
            for limit in [1, 3, 7] {
                let user = Scope.plain.user("user \(limit)")
                for number in 0..<20 {
                    let message = SampleData.message(.user, "m", at: Int64(number) * 1000)
                    try await store.append([message], to: user.session("quiet \(number)"))
                }
                try await store.append([SampleData.message(.user, "m", at: -1)], to: user.session("busy"))
                var walked: [String] = []
                var cursor: SessionCursor?
                repeat {
                    let request = PageRequest(limit: limit, after: cursor)
                    let page = try await store.sessions(of: user.userId, page: request)
                    walked += page.elements.map(\.id.sessionId)
                    cursor = page.next
                    // After the first page, one session moves from the end to the front. After each further page,
                    // it is deleted.
                    if walked.count == limit {
                        try await store.append([last], to: user.session("busy"))
                    } else {
                        try await store.deleteSession(user.session("busy").session)
                    }
                } while cursor != nil
                let quiet = walked.filter { $0.hasPrefix("quiet") }
                try expectEqual(
                    quiet, (0..<20).reversed().map { "quiet \($0)" }, "unchanged sessions in pages of \(limit)")
            }
        },
        HistoryStoreCheck(
            "sessions.byPrefix", rule: 1,
            "Sessions are found by a prefix of their ID, compared as bytes, in order."
        ) { store in
            let sessions = ["abc", "abd", "ABC", "ab", "a%", "a_c", "\u{E9}a", "e\u{301}a", "", "b"]
            for session in sessions {
                try await store.append([SampleData.message(.user, "m")], to: Scope.plain.session(session))
            }
            try await store.append([SampleData.message(.user, "m")], to: Scope.plain.session("abc").user("other"))
            for prefix in ["", "a", "ab", "abc", "abcd", "A", "a%", "a_", "%", "_", "*", "e", "e\u{301}", "\u{E9}"] {
                let expected = sessions.filter { $0.utf8.starts(with: prefix.utf8) }
                    .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                for limit in [100, 2] {
                    let found = try await store.sessions(of: "user", sessionIdPrefix: prefix, limit: limit)
                    try expectEqual(
                        found.map { Array($0.id.sessionId.utf8) }, expected.prefix(limit).map { Array($0.utf8) },
                        "at most \(limit) sessions with the prefix \(prefix.debugDescription), as bytes")
                }
            }
        },
        HistoryStoreCheck(
            "sessions.details",
            "Details are set one at a time: nil changes nothing, null removes a member, a new session is created."
        ) { store in
            let session = Scope.plain.session
            try await store.update(session, with: SessionDetails(title: "One", metadata: ["a": 1, "b": 2]))
            try await store.append(SampleData.dialogue(2), to: .plain)
            try await store.update(
                session,
                with: SessionDetails(workingDirectory: "/w", branchName: "main", metadata: ["a": .null, "c": [3]]))
            let one = try await store.session(session)
            try expectEqual(one?.title, "One", "the title")
            try expectEqual(one?.workingDirectory, "/w", "the working directory")
            try expectEqual(one?.branchName, "main", "the name of the Git branch")
            try expectEqual(one?.metadata, ["b": 2, "c": [3]], "the metadata")
            try expectEqual(one?.messageCount, 2, "the message count")
        },
    ]

    private static func backward(_ store: any HistoryStore, limit: Int) async throws -> [Session] {
        var all: [Session] = []
        var cursor: SessionCursor?
        repeat {
            let page = try await store.sessions(of: "user", page: PageRequest(limit: limit, before: cursor))
            all = page.elements + all
            cursor = page.next
        } while cursor != nil
        return all
    }
}
