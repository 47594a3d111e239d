import RecollectCore

/// Checks of reading a session's messages, in pages and one at a time.
enum PageChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "pages.forward", rule: 5,
            "Pages of any size, read forward, contain every message once, in order."
        ) { store in
            let saved = try await Self.fill(store)
            for limit in [1, 2, 3, 5, 7, saved.count - 1, saved.count, saved.count + 1, 1000] {
                let pages = try await store.everything(in: Scope.plain.session, limit: limit)
                try expectStored(pages, saved, "pages of \(limit)")
            }
        },
        HistoryStoreCheck(
            "pages.backward", rule: 5,
            "Pages read backward contain the same messages, with each page in order."
        ) { store in
            let saved = try await Self.fill(store)
            for limit in [1, 2, 3, 5, 7, saved.count - 1, saved.count, saved.count + 1] {
                var all: [StoredMessage] = []
                var cursor: MessageCursor?
                repeat {
                    let page = try await store.messages(
                        of: Scope.plain.session, agentId: nil, page: PageRequest(limit: limit, before: cursor))
                    try expect(
                        page.elements.count <= limit, "a page of at most \(limit) messages",
                        actual: "\(page.elements.count) messages")
                    all = page.elements + all
                    cursor = page.next
                } while cursor != nil
                try expectStored(all, saved, "backward pages of \(limit)")
            }
        },
        HistoryStoreCheck(
            "pages.mergeAgentsByTimestamp", rule: 5,
            "The agents of a session are merged by timestamp, in whatever order they were saved, and none is reordered."
        ) { store in
            let agents: [(String, [Int64])] = [
                ("b", [10, 30, 20, 50]), ("a", [20, 40, 45]), ("c", [1, 60]), ("\u{E9}", [30]), ("e\u{301}", [30]),
            ]
            let order = [
                "c1", "b10", "a20", "b30", "b20", "e\u{301}30", "\u{E9}30", "a40", "a45", "b50", "c60",
            ]
            for (number, agents) in [agents, agents.reversed()].enumerated() {
                let session = Scope.plain.session("order \(number)")
                for half in 0..<2 {
                    for (name, times) in agents {
                        let messages = times.map { SampleData.message(.user, "\(name)\($0)", at: $0 * 1000) }
                        let part = half == 0 ? messages.prefix(1) : messages.dropFirst()
                        try await store.append(Array(part), to: session.agent(name))
                    }
                }
                let stored = try await store.everything(in: session.session)
                try expectIDs(stored.map(\.message), order, "the session saved in order \(agents.map(\.0))")
                try await expectEqual(
                    store.summary(session.session).agentIds, ["c", "b", "a", "e\u{301}", "\u{E9}"], "the agents")
                try await expectIDs(
                    store.window(of: session.agent("b"), maxMessages: nil), ["b10", "b30", "b20", "b50"], "a window")
            }
        },
        HistoryStoreCheck(
            "pages.ofOneAgent", rule: 5, "Pages of one agent contain only its messages, in order."
        ) { store in
            let saved = try await Self.fill(store)
            for agent in ["a", "b", "c", "nobody"] {
                for limit in [1, 3, 1000] {
                    let pages = try await store.everything(in: Scope.plain.session, agentId: agent, limit: limit)
                    try expectStored(pages, saved.filter { $0.0 == agent }, "pages of \(limit) of agent \(agent)")
                }
            }
        },
        HistoryStoreCheck(
            "pages.lastHasNoNextCursor", rule: 5,
            "The last page has no next cursor, even if it is full, in both directions."
        ) { store in
            try await store.append(SampleData.dialogue(6), to: .plain)
            for request in [PageRequest<MessageCursor>(limit: 6), PageRequest(limit: 6, before: nil)] {
                let page = try await store.messages(of: Scope.plain.session, agentId: nil, page: request)
                try expectEqual(page.elements.count, 6, "the number of messages in a full page")
                try expect(page.next == nil, "no next page", actual: "\(page.next.debugDescription)")
            }
            let unknown = try await store.messages(
                of: Scope.plain.session("unknown").session, agentId: nil, page: PageRequest(limit: 6))
            try expect(unknown.elements.isEmpty && unknown.next == nil, "an empty page", actual: "\(unknown)")
        },
        HistoryStoreCheck(
            "pages.continueFromAnyMessage", rule: 5,
            "Reading continues after or before the cursor of any message, without that message."
        ) { store in
            let saved = try await Self.fill(store)
            let session = Scope.plain.session
            for (index, stored) in try await store.everything(in: session).enumerated() {
                let after = try await store.messages(
                    of: session, agentId: nil, page: PageRequest(limit: 1000, after: stored.cursor))
                let before = try await store.messages(
                    of: session, agentId: nil, page: PageRequest(limit: 1000, before: stored.cursor))
                try expectStored(after.elements, Array(saved[(index + 1)...]), "messages after message \(index)")
                try expectStored(before.elements, Array(saved[..<index]), "messages before message \(index)")
            }
        },
        HistoryStoreCheck(
            "pages.stayStableDuringWrites", rule: 5,
            "Paging continues at its position after messages are added or the message at the cursor is deleted."
        ) { store in
            let session = Scope.plain.session
            try await store.append(SampleData.dialogue(10), to: .plain)
            let first = try await store.messages(of: session, agentId: nil, page: PageRequest(limit: 4))
            try await store.append(SampleData.dialogue(2, "other ", at: 100_000), to: Scope.plain.agent("other"))
            try await store.deleteMessages(["m3", "m5"], in: session)
            let rest = try await store.messages(
                of: session, agentId: nil, page: PageRequest(limit: 100, after: first.next))
            try expectIDs(
                rest.elements.map(\.message), ["m4", "m6", "m7", "m8", "m9", "other 0", "other 1"],
                "messages of the remaining pages")
        },
        HistoryStoreCheck(
            "messages.lookUp", rule: 4,
            "message(_:in:) returns the same message as the pages, and only for its own session."
        ) { store in
            try await Self.fill(store)
            let session = Scope.plain.session
            for stored in try await store.everything(in: session) {
                let found = try await store.message(stored.message.id, in: session)
                try expectEqual(found, stored, "message \(stored.message.id)")
            }
            for (id, session) in [
                ("unknown", session), ("A0", session), ("a0", Scope.plain.session("b").session),
                ("a0", Scope.plain.user("b").session),
            ] {
                let found = try await store.message(id, in: session)
                try expect(found == nil, "no message \(id) in \(session)", actual: "\(found.debugDescription)")
            }
        },
    ]

    /// Saves messages of three agents in turn, each earlier than the ones of the agent before. Returns the saved messages
    /// in the order of the session.
    @discardableResult
    private static func fill(_ store: any HistoryStore) async throws -> [(String, ConversationMessage)] {
        var saved: [(String, ConversationMessage)] = []
        for round in 0..<5 {
            for agent in ["b", "a", "c"] {
                let number = ["c": 0, "a": 1, "b": 2][agent] ?? 0
                let messages = SampleData.dialogue(
                    round.isMultiple(of: 2) ? 2 : 1, agent, from: round * 2, at: Int64(round * 10 + number * 2) * 1000)
                try await store.append(messages, to: Scope.plain.agent(agent))
                saved += messages.map { (agent, $0) }
            }
        }
        return saved.sorted { $0.1.timestamp < $1.1.timestamp }
    }
}

/// Throws unless the messages and their agents are as expected, in order, with ascending cursors.
func expectStored(_ actual: [StoredMessage], _ expected: [(String, ConversationMessage)], _ what: String) throws {
    try expectMessages(actual.map(\.message), expected.map(\.1), what)
    try expectEqual(actual.map(\.agentId), expected.map(\.0), "\(what): agents")
    let ascends = zip(actual, actual.dropFirst()).allSatisfy { $0.cursor < $1.cursor }
    try expect(ascends, "\(what): ascending cursors", actual: "\(actual.map(\.cursor.position))")
}
