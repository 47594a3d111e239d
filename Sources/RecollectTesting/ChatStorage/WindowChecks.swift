import RecollectCore

/// Checks of rule 2: a budget counts messages and is rounded down to even; a save with a budget trims.
enum WindowChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "window.givesTheLast", rule: 2, "An even budget gives that many messages, the last ones, in order."
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
            "An odd budget gives one message less, so that a question stays with its answer."
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
            "window.oneOrLessGivesNone", rule: 2, "A budget of 1, 0 or less gives nothing."
        ) { store in
            try await store.add(SampleData.dialogue(4), to: .plain)
            for budget in [1, 0, -1, -2, Int.min] {
                try await expectMessages(store.messages(in: .plain, last: budget), [], "fetch of \(budget)")
            }
        },
        ChatStorageCheck(
            "window.nilKeepsAll", rule: 2, "Without a budget everything is kept and given, past any default."
        ) { store in
            let messages = SampleData.dialogue(ChatStorageDefaults.maxMessages * 3)
            for start in stride(from: 0, to: messages.count, by: 10) {
                try await store.add(Array(messages[start..<(start + 10)]), to: .plain)
            }
            try await expectMessages(store.messages(in: .plain), messages, "fetch without a budget")
        },
        ChatStorageCheck(
            "window.saveTrims", rule: 2, "After a save with a budget, a fetch without one gives that many messages."
        ) { store in
            let messages = SampleData.dialogue(12)
            try await store.add(Array(messages[..<8]), to: .plain)
            try await store.add(Array(messages[8..<10]), to: .plain, keeping: 4)
            try await expectMessages(store.messages(in: .plain), Array(messages[6..<10]), "after a budget of 4")
            try await store.add(messages[10], to: .plain, keeping: 3)
            try await expectMessages(store.messages(in: .plain), [messages[9], messages[10]], "after a budget of 3")
            try await store.add(messages[11], to: .plain)
            try await expectMessages(store.messages(in: .plain), messages.suffix(3), "after a save without a budget")
        },
        ChatStorageCheck(
            "window.trimsInsideABatch", rule: 2, "A batch larger than its budget leaves the batch's own last messages."
        ) { store in
            let messages = SampleData.dialogue(20)
            try await store.add(Array(messages[..<2]), to: .plain)
            try await store.add(Array(messages[2...]), to: .plain, keeping: 7)
            try await expectMessages(store.messages(in: .plain), messages.suffix(6), "20 messages under a budget of 7")
        },
        ChatStorageCheck(
            "window.trimsToNothing", rule: 2, "A save with a budget of 1 or less leaves nothing, and the scope goes on."
        ) { store in
            for (number, budget) in [1, 0, -5].enumerated() {
                let scope = Scope.plain.session("session \(number)")
                try await store.add(SampleData.dialogue(4), to: scope)
                try await store.add(SampleData.dialogue(2, from: 4), to: scope, keeping: budget)
                try await expectMessages(store.messages(in: scope), [], "after a budget of \(budget)")
                let next = SampleData.dialogue(2, from: 6)
                try await store.add(next, to: scope)
                try await expectMessages(store.messages(in: scope), next, "after the next save")
            }
        },
        ChatStorageCheck(
            "window.trimsItsScopeAlone", rule: 2, "A trim leaves the other agents, sessions and users as they were."
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
            "window.mergedViewObeysTheTrim", rule: 2, "fetchAllChats gives what each scope's last trim has left."
        ) { store in
            try await store.add(SampleData.dialogue(6), to: .plain, keeping: 2)
            let merged = try await store.merged(Scope.plain.session)
            try expectIDs(merged, ["m4", "m5"], "fetchAllChats after a budget of 2")
        },
    ]
}
