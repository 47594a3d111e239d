import Foundation
import RecollectCore

/// Checks of session lists in every order, with every condition.
enum ListChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "lists.everyOrder",
            "Lists in every order and direction, in pages of any size, contain every session once."
        ) { store in
            try await Self.fillForOrders(store)
            for order in SessionQuery.Order.allCases {
                let listed = try await store.list(SessionQuery(userId: "user", order: order))
                try expectEqual(Set(listed.map(\.id)).count, 14, "the number of different sessions by \(order)")
                for (before, after) in zip(listed, listed.dropFirst()) {
                    try expect(
                        !Self.precedes(after, before, by: order),
                        "\(order): \(before.id.sessionId) not before \(after.id.sessionId)",
                        actual: "\(before.id.sessionId) before \(after.id.sessionId)")
                }
                let ties = zip(listed, listed.dropFirst()).filter { pair in
                    !Self.precedes(pair.0, pair.1, by: order) && !Self.precedes(pair.1, pair.0, by: order)
                }
                let ascending = ties.filter { $0.0.id.sessionId < $0.1.id.sessionId }.count
                try expect(
                    ascending == 0 || ascending == ties.count, "ties sorted by session ID, \(order)",
                    actual: "\(ties.map { [$0.0.id.sessionId, $0.1.id.sessionId] })")
                let reversed = SessionQuery(userId: "user", order: order, isReversed: true)
                for (query, expected) in [
                    (SessionQuery(userId: "user", order: order), listed), (reversed, Array(listed.reversed())),
                ] {
                    for limit in [1, 3, 13, 14, 15] {
                        let what = "\(order)\(query.isReversed ? " reversed" : ""), pages of \(limit)"
                        let forward = try await store.list(query, limit: limit)
                        try expectEqual(forward.map(\.id.sessionId), expected.map(\.id.sessionId), what)
                        let backward = try await store.listBackward(query, limit: limit)
                        try expectEqual(backward.map(\.id.sessionId), expected.map(\.id.sessionId), what + " backward")
                    }
                }
            }
        },
        HistoryStoreCheck(
            "lists.conditions",
            "A list with a condition has exactly the matching sessions; several conditions must all match."
        ) { store in
            for number in 0..<16 { try await Self.fill(store, number) }
            func date(_ number: Int) -> Date { Date(millisecondsSince1970: SampleData.start + Int64(number) * 1000) }
            typealias Change = (inout SessionQuery) -> Void
            let conditions: [(String, Change, (Int) -> Bool)] = [
                ("none", { _ in }, { _ in true }),
                ("pinned", { $0.isPinned = true }, { $0 & 1 != 0 }),
                ("not pinned", { $0.isPinned = false }, { $0 & 1 == 0 }),
                ("archived", { $0.isArchived = true }, { $0 & 2 != 0 }),
                ("not archived", { $0.isArchived = false }, { $0 & 2 == 0 }),
                ("unread", { $0.isUnread = true }, { $0 & 4 != 0 }), ("read", { $0.isUnread = false }, { $0 & 4 == 0 }),
                ("an agent", { $0.agentId = "b" }, { $0 & 8 != 0 }),
                ("unknown agent", { $0.agentId = "B" }, { _ in false }),
                ("a tag", { $0.tags = ["even"] }, { $0 % 2 == 0 }),
                ("two tags", { $0.tags = ["third", "even"] }, { $0 % 6 == 0 }),
                ("unknown tag", { $0.tags = ["even", "Third"] }, { _ in false }),
                ("from", { $0.from = date(5) }, { $0 >= 5 }), ("until", { $0.until = date(5) }, { $0 < 5 }),
            ]
            for (name, change, holds) in conditions {
                for (otherName, otherChange, otherHolds) in conditions {
                    var query = SessionQuery(userId: "user", order: .creation, isReversed: true)
                    change(&query)
                    otherChange(&query)
                    // A second condition on the same property replaces the first.
                    var first = SessionQuery(userId: "user")
                    change(&first)
                    var second = SessionQuery(userId: "user")
                    otherChange(&second)
                    guard Self.areApart(first, second) else { continue }
                    let expected = (0..<16).filter { holds($0) && otherHolds($0) }.map { "s\($0)" }
                    let listed = try await store.list(query, limit: 5).map(\.id.sessionId)
                    try expectEqual(listed, expected, "sessions by \(name) and \(otherName)")
                }
            }
        },
        HistoryStoreCheck(
            "lists.byText",
            "A text filter matches any part of titles and previews, and messages, ignoring ASCII case."
        ) { store in
            let texts = ["What is new?", "the 100% Needle_case", "something else", "日本語の話"]
            for (number, text) in texts.enumerated() {
                let scope = Scope.plain.session("s\(number)")
                try await store.append(
                    [
                        SampleData.message(.user, "u", text, at: Int64(number)),
                        SampleData.message(
                            .assistant, "a", "answer \(["zebra", "lion"][number % 2]) words", at: Int64(number)),
                    ], to: scope)
            }
            try await store.update(
                Scope.plain.session("s2").session, with: SessionDetails(title: "A Titled needle"))
            try await store.append(SampleData.dialogue(1), to: Scope.plain.session("s0").user("other"))
            for (text, expected) in [
                ("", [0, 1, 2, 3]), ("eedle", [1, 2]), ("NEEDLE", [1, 2]), ("100%", [1]), ("%", [1]), ("e_c", [1]),
                ("titled", [2]), ("ew?", [0]), ("本語", [3]), ("zebra", [0, 2]), ("lion words", [1, 3]), ("nowhere", []),
            ] {
                let query = SessionQuery(userId: "user", order: .creation, isReversed: true, text: text)
                let listed = try await store.list(query, limit: 2).map(\.id.sessionId)
                try expectEqual(listed, expected.map { "s\($0)" }, "sessions with \(text.debugDescription)")
            }
        },
    ]

    /// Saves fourteen sessions with ties in every order, and with no two orders alike.
    private static func fillForOrders(_ store: any HistoryStore) async throws {
        let titles = ["banana", "Apple", "apple", "_x", "Zoo", "\u{E9}clair", "", "[y"]
        let opened = Date().addingTimeInterval(86_400).wholeMilliseconds
        for number in 0..<14 {
            let scope = Scope.plain.session("session \((number * 5 + 3) % 14)")
            try await store.append(
                (0...(number % 3)).map {
                    SampleData.message(
                        $0 == 0 ? .user : .assistant, "m\($0)", at: Int64(number * 4 % 7 + $0 * 60) * 1000)
                }, to: scope)
            var details = SessionDetails(lastAccessedAt: opened.addingTimeInterval(Double(number * 3 % 5)))
            if number % 4 != 3 { details.title = titles[number % titles.count] }
            try await store.update(scope.session, with: details)
            try await expectEqual(
                store.session(scope.session)?.lastAccessedAt, details.lastAccessedAt,
                "the date set for the session")
        }
        try await store.append(SampleData.dialogue(1), to: Scope.plain.user("other"))
    }

    /// Whether one session must come before another.
    private static func precedes(_ one: Session, _ other: Session, by order: SessionQuery.Order) -> Bool {
        switch order {
        case .lastActivity: one.lastActivityAt > other.lastActivityAt
        case .lastAccess: one.lastAccessedAt > other.lastAccessedAt
        case .creation: one.createdAt > other.createdAt
        case .messageCount: one.messageCount > other.messageCount
        case .title: folded(one.displayTitle).lexicographicallyPrecedes(folded(other.displayTitle))
        }
    }

    private static func folded(_ title: String) -> [UInt8] {
        title.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
    }

    /// Saves a session with the properties given by its number's bits and factors.
    private static func fill(_ store: any HistoryStore, _ number: Int) async throws {
        let scope = Scope.plain.session("s\(number)").agent(number & 8 == 0 ? "a" : "b")
        try await store.append([SampleData.message(.user, "m", at: Int64(number) * 1000)], to: scope)
        try await store.update(
            scope.session,
            with: SessionDetails(
                isPinned: number & 1 != 0, isArchived: number & 2 != 0, isRead: number & 4 == 0,
                addedTags: (number % 2 == 0 ? ["even"] : []) + (number % 3 == 0 ? ["third"] : [])))
    }

    /// Whether two queries of one condition each concern different properties.
    private static func areApart(_ one: SessionQuery, _ other: SessionQuery) -> Bool {
        !(one.isPinned != nil && other.isPinned != nil || one.isArchived != nil && other.isArchived != nil
            || one.isUnread != nil && other.isUnread != nil || one.agentId != nil && other.agentId != nil
            || !one.tags.isEmpty && !other.tags.isEmpty)
    }
}

extension HistoryStore {
    /// Returns all sessions of a list, read forward in pages of `limit`.
    func list(_ query: SessionQuery, limit: Int = 1000) async throws -> [Session] {
        try await walk(limit) { try await sessions(query, page: PageRequest(limit: limit, after: $0)) }
    }

    /// Returns all sessions of a list, read backward.
    func listBackward(_ query: SessionQuery, limit: Int) async throws -> [Session] {
        var all: [Session] = []
        var cursor: SessionCursor?
        repeat {
            let page = try await sessions(query, page: PageRequest(limit: limit, before: cursor))
            all = page.elements + all
            cursor = page.next
        } while cursor != nil
        return all
    }

    /// Returns the session IDs of a user's list, sorted.
    func listedSessions(isDiscarded: Bool = false) async throws -> [String] {
        try await list(SessionQuery(userId: "user", isDiscarded: isDiscarded)).map(\.id.sessionId).sorted()
    }

    /// Returns a session; throws if it is missing.
    func summary(_ session: SessionKey) async throws -> Session {
        guard let summary = try await self.session(session) else {
            throw BrokenPromise(expected: "a session \(session.sessionId.debugDescription)", actual: "nil")
        }
        return summary
    }
}
