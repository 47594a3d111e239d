import RecollectCore

/// Checks of rule 2: a budget counts messages and is rounded down to even; a save with a budget trims.
enum WindowChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "window.returnsLastMessages", rule: 2,
            "With an even budget, fetch returns that many of the last messages, in order."
        ) { store in
            let messages = SampleData.dialogue(10)
            try await store.add(messages, to: .plain)
            for budget in [2, 4, 8, 10, 12, 1000, Int.max - 1] {
                try await expectMessages(
                    store.messages(in: .plain, last: budget), messages.suffix(budget), "fetch of \(budget) out of 10")
            }
        },
        ChatStorageCheck(
            "window.roundsDownToEven", rule: 2,
            "With an odd budget, fetch returns one message fewer, so an input stays with its reply."
        ) { store in
            let messages = SampleData.dialogue(10)
            try await store.add(messages, to: .plain)
            for budget in [3, 5, 7, 9, 11] {
                try await expectMessages(
                    store.messages(in: .plain, last: budget), messages.suffix(budget - 1),
                    "fetch of \(budget) out of 10")
            }
        },
        ChatStorageCheck(
            "window.oneOrLessIsEmpty", rule: 2, "With a budget of 1 or less, fetch returns nothing."
        ) { store in
            try await store.add(SampleData.dialogue(4), to: .plain)
            for budget in [1, 0, -1, -2, Int.min] {
                try await expectMessages(
                    store.messages(in: .plain, last: budget), [], "fetch with a budget of \(budget)")
            }
        },
        ChatStorageCheck(
            "window.nilKeepsAll", rule: 2,
            "Without a budget, all messages are saved and returned, beyond any default limit."
        ) { store in
            let messages = SampleData.dialogue(ChatStorageDefaults.maxMessages * 3)
            for start in stride(from: 0, to: messages.count, by: 10) {
                try await store.add(Array(messages[start..<(start + 10)]), to: .plain)
            }
            try await expectMessages(store.messages(in: .plain), messages, "fetch without a budget")
        },
        ChatStorageCheck(
            "window.saveTrims", rule: 2,
            "A save with a budget trims the scope; a later fetch without a budget returns the rest."
        ) { store in
            let messages = SampleData.dialogue(12)
            try await store.add(Array(messages[..<8]), to: .plain)
            try await store.add(Array(messages[8..<10]), to: .plain, keeping: 4)
            try await expectMessages(
                store.messages(in: .plain), Array(messages[6..<10]), "messages after a save with a budget of 4")
            try await store.add(messages[10], to: .plain, keeping: 3)
            try await expectMessages(
                store.messages(in: .plain), [messages[9], messages[10]], "messages after a save with a budget of 3")
            try await store.add(messages[11], to: .plain)
            try await expectMessages(
                store.messages(in: .plain), messages.suffix(3), "messages after a save without a budget")
        },
        ChatStorageCheck(
            "window.trimsWithinBatch", rule: 2, "A batch larger than its budget leaves only its own last messages."
        ) { store in
            let messages = SampleData.dialogue(20)
            try await store.add(Array(messages[..<2]), to: .plain)
            try await store.add(Array(messages[2...]), to: .plain, keeping: 7)
            try await expectMessages(
                store.messages(in: .plain), messages.suffix(6), "20 messages saved with a budget of 7")
        },
        ChatStorageCheck(
            "window.trimsToEmpty", rule: 2,
            "A save with a budget of 1 or less empties the window, and later saves succeed."
        ) { store in
            for (number, budget) in [1, 0, -5].enumerated() {
                let scope = Scope.plain.session("session \(number)")
                try await store.add(SampleData.dialogue(4), to: scope)
                try await store.add(SampleData.dialogue(2, from: 4), to: scope, keeping: budget)
                try await expectMessages(
                    store.messages(in: scope), [], "messages after a save with a budget of \(budget)")
                let next = SampleData.dialogue(2, from: 6)
                try await store.add(next, to: scope)
                try await expectMessages(store.messages(in: scope), next, "messages after the next save")
            }
        },
        ChatStorageCheck(
            "window.trimsOnlyItsScope", rule: 2, "A trim does not affect other agents, sessions or users."
        ) { store in
            let others = [Scope.plain.agent("b"), Scope.plain.session("b"), Scope.plain.user("b")]
            for (number, scope) in others.enumerated() {
                try await store.add(SampleData.dialogue(6, "\(number)."), to: scope)
            }
            try await store.add(SampleData.dialogue(6), to: .plain, keeping: 2)
            for (number, scope) in others.enumerated() {
                try await expectMessages(store.messages(in: scope), SampleData.dialogue(6, "\(number)."), scope.shown)
            }
        },
        ChatStorageCheck(
            "window.mergedViewExcludesTrimmedMessages", rule: 2,
            "fetchAllChats returns only the messages left by the last trim of each scope."
        ) { store in
            try await store.add(SampleData.dialogue(6), to: .plain, keeping: 2)
            let merged = try await store.merged(Scope.plain.session)
            try expectIDs(merged, ["m4", "m5"], "fetchAllChats after a save with a budget of 2")
        },
        ChatStorageCheck(
            "window.countsTokens", rule: 2,
            "A window by tokens has the instructions, the pinned turns and the newest turns within its budget."
        ) { store in
            try await store.add(tokenHistory, to: .plain)
            try await expectTokenWindows { tokens, counter in
                try await store.window(
                    userId: Scope.plain.userId, sessionId: Scope.plain.sessionId, agentId: Scope.plain.agentId,
                    tokens: tokens, counter: counter)
            }
        },
    ]

    /// Instructions, 300 messages with a pinned one, and a last turn with two tool exchanges.
    static let tokenHistory: [ConversationMessage] = {
        var messages = [SampleData.message(.system, "s")] + SampleData.dialogue(300)
        messages[5].isPinned = true
        return messages + [
            SampleData.message(.user, "u"), SampleData.call("c1", of: "1"), SampleData.result("r1", of: "1"),
            SampleData.call("c2", of: "2"), SampleData.result("r2", of: "2"), SampleData.message(.assistant, "a"),
        ]
    }()

    /// Expects the windows of `tokenHistory`, with one token for each message.
    static func expectTokenWindows(
        _ window: (_ tokens: Int, _ counter: TokenCounter) async throws -> [ConversationMessage]
    ) async throws {
        let last = ["u", "c1", "r1", "c2", "r2", "a"]
        let pinned = ["s", "m4", "m5"]
        let expected: [(tokens: Int, ids: [String])] = [
            (Int.min, []), (0, []), (1, ["s"]), (2, ["s"]), (3, pinned), (4, pinned), (5, pinned + ["u", "a"]),
            (6, pinned + ["u", "a"]), (7, pinned + ["u", "c2", "r2", "a"]), (9, pinned + last), (10, pinned + last),
            (11, pinned + ["m298", "m299"] + last),
            (211, pinned + (98..<300).map { "m\($0)" } + last), (307, tokenHistory.map(\.id)),
            (Int.max, tokenHistory.map(\.id)),
        ]
        for (tokens, ids) in expected {
            try await expectIDs(window(tokens, TokenCounter { _ in 1 }), ids, "the window of \(tokens) tokens")
        }
    }
}
