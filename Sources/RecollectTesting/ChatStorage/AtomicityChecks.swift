import RecollectCore

/// Checks of rule 6: a batch is saved completely or not at all.
enum AtomicityChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "atomicity.emptyBatch", rule: 6, "Saving an empty batch succeeds and changes nothing."
        ) { store in
            try await store.add([], to: .plain)
            try await expectMessages(store.messages(in: .plain), [], "a scope without messages")
            let messages = SampleData.dialogue(2)
            try await store.add(messages, to: .plain)
            try await store.add([], to: .plain)
            try await expectMessages(store.messages(in: .plain), messages, "messages after an empty batch")
        },
        ChatStorageCheck(
            "atomicity.largeBatch", rule: 6, "A batch of 10,000 messages is saved completely and in order.",
            isLong: true
        ) { store in
            let messages = SampleData.dialogue(10_000)
            try await store.add(messages, to: .plain)
            try await expectMessages(store.messages(in: .plain), messages, "10,000 messages")
            try await expectMessages(
                store.messages(in: .plain, last: 100), messages.suffix(100), "the last 100 messages")
            try await store.add(SampleData.dialogue(2, from: 10_000), to: .plain, keeping: 50)
            try await expectIDs(
                store.messages(in: .plain), (9_952..<10_002).map { "m\($0)" },
                "messages after a save with a budget of 50")
        },
        ChatStorageCheck(
            "atomicity.failedBatchSavesNothing", rule: 6,
            "A batch with a number JSON cannot represent (infinity) is saved completely or not at all."
        ) { store in
            let before = SampleData.dialogue(2)
            try await store.add(before, to: .plain)
            let impossible = ConversationMessage(
                id: "impossible", role: .assistant,
                parts: [.toolCall(id: "1", name: "measure", arguments: ["value": .number(.infinity)])])
            let batch = [SampleData.message(.user, "first"), impossible, SampleData.message(.user, "last")]
            let error = await failure { try await store.add(batch, to: .plain) }
            let expected = before.map(\.id) + (error == nil ? batch.map(\.id) : [])
            try await expectIDs(
                store.messages(in: .plain), expected,
                error.map { "messages after a save that failed with \($0)" } ?? "messages after the save")
            let next = [SampleData.message(.user, "next"), SampleData.message(.assistant, "after")]
            try await store.add(next, to: .plain.agent("other"))
            try await expectMessages(store.messages(in: .plain.agent("other")), next, "the next save")
            try await expectIDs(
                store.messages(in: .plain), expected, "messages in the scope of the failed batch after the next save")
        },
        ChatStorageCheck(
            "atomicity.canceledBeforeSaveIsAllOrNothing", rule: 6,
            "A save in a task already canceled throws and saves nothing, or saves the whole batch."
        ) { store in
            for number in 0..<8 {
                let scope = Scope.plain.session("session \(number)")
                let batch = SampleData.dialogue(6)
                let task = Task {
                    while !Task.isCancelled { await Task.yield() }
                    try await store.add(batch, to: scope)
                }
                task.cancel()
                try await expectWholeOrNothing(batch, of: task, in: scope, of: store)
            }
        },
        ChatStorageCheck(
            "atomicity.canceledDuringSaveReturnsActualResult", rule: 6,
            "A save canceled while it runs returns with the whole batch saved, or throws with nothing saved.",
            needs: .concurrent
        ) { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        let scope = Scope.plain.agent("agent \(number % 4)").session("session \(number)")
                        let batch = SampleData.dialogue(8)
                        let task = Task { try await store.add(batch, to: scope) }
                        // Different delays cancel the save at different points.
                        for _ in 0..<(number * 3) { await Task.yield() }
                        task.cancel()
                        try await expectWholeOrNothing(batch, of: task, in: scope, of: store)
                    }
                }
                try await group.waitForAll()
            }
        },
    ]

    /// Expects a batch to be present if its save returned, and absent if it threw.
    private static func expectWholeOrNothing(
        _ batch: [ConversationMessage], of task: Task<Void, any Error>, in scope: Scope, of store: any ChatStorage
    ) async throws {
        let error = await failure { try await task.value }
        let what =
            error.map { "messages after a canceled save that failed with \($0)" }
            ?? "messages after a canceled save that returned"
        try await expectMessages(store.messages(in: scope), error == nil ? batch : [], what)
    }

    /// Returns the error thrown by `work`, if any.
    private static func failure(of work: () async throws -> Void) async -> (any Error)? {
        do {
            try await work()
            return nil
        } catch {
            return error
        }
    }
}
