import RecollectCore

/// Checks of rule 6: concurrent saves neither interleave nor lose a message.
enum ConcurrencyChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "concurrency.losesNoMessagesInOneScope", rule: 6,
            "64 concurrent tasks saving to one scope lose no message.",
            needs: .concurrent
        ) { store in
            // Use tool messages: the same-role rule may drop others.
            try await together(taskCount) { task in
                for number in 0..<4 {
                    let id = "\(task).\(number)"
                    try await store.add(SampleData.result(id, of: id), to: .plain)
                }
            }
            let came = try await store.messages(in: .plain).map(\.id)
            let wanted = (0..<taskCount).flatMap { task in (0..<4).map { "\(task).\($0)" } }
            try expectEqual(came.sorted(), wanted.sorted(), "IDs saved by \(taskCount) tasks, sorted")
            for task in 0..<taskCount {
                let own = came.filter { $0.hasPrefix("\(task).") }
                try expectEqual(own, (0..<4).map { "\(task).\($0)" }, "the messages of one task in order")
            }
        },
        ChatStorageCheck(
            "concurrency.losesNoMessagesInManyScopes", rule: 6,
            "64 concurrent tasks saving to separate scopes lose no message.",
            needs: .concurrent
        ) { store in
            try await together(taskCount) { task in
                let scope = Self.scope(of: task)
                for start in stride(from: 0, to: 8, by: 2) {
                    try await store.add(SampleData.dialogue(2, "\(task).", from: start), to: scope)
                }
            }
            for task in 0..<taskCount {
                let messages = try await store.messages(in: Self.scope(of: task))
                try expectMessages(messages, SampleData.dialogue(8, "\(task)."), "the scope of task \(task)")
            }
        },
        ChatStorageCheck(
            "concurrency.batchesDoNotInterleave", rule: 6,
            "Batches saved concurrently by 64 tasks do not interleave.",
            needs: .concurrent
        ) { store in
            try await together(taskCount) { task in
                try await store.add(SampleData.dialogue(4, "\(task)."), to: .plain)
            }
            let came = try await store.messages(in: .plain).map(\.id)
            try expectEqual(came.count, taskCount * 4, "the number of messages in \(taskCount) batches of 4")
            for start in stride(from: 0, to: came.count, by: 4) {
                let task = came[start].prefix { $0 != "." }
                try expectEqual(
                    Array(came[start..<(start + 4)]), (0..<4).map { "\(task).\($0)" }, "a contiguous batch")
            }
        },
        ChatStorageCheck(
            "concurrency.readersSeeCompleteBatches", rule: 6,
            "A read during concurrent saves returns each batch completely or not at all.",
            needs: .concurrent
        ) { store in
            try await together(16) { task in
                guard task.isMultiple(of: 2) else {
                    return try await store.add(SampleData.dialogue(6, "\(task)."), to: .plain)
                }
                for _ in 0..<8 {
                    let came = try await store.messages(in: .plain).map(\.id)
                    let counts = Dictionary(came.map { ($0.prefix { $0 != "." }, 1) }, uniquingKeysWith: +)
                    try expect(
                        counts.values.allSatisfy { $0 == 6 }, "complete batches of 6 messages",
                        actual: counts.map { "\($0.value) of batch \($0.key)" }.sorted().joined(separator: ", "))
                    let merged = try await store.merged(Scope.plain.session)
                    try expectEqual(
                        merged.count % 6, 0, "the number of messages in incomplete batches in fetchAllChats")
                }
            }
        },
        ChatStorageCheck(
            "concurrency.concurrentRetriesAddNothing", rule: 6,
            "The same batch saved concurrently by 16 tasks is stored once.",
            needs: .concurrent
        ) { store in
            let batch = SampleData.dialogue(6)
            try await together(16) { _ in try await store.add(batch, to: .plain) }
            try await expectMessages(store.messages(in: .plain), batch, "one batch saved by 16 tasks")
        },
        ChatStorageCheck(
            "concurrency.savesRespectBudget", rule: 6,
            "Concurrent saves with a budget leave a full window of complete turns.",
            needs: .concurrent
        ) { store in
            try await together(32) { task in
                try await store.add(SampleData.dialogue(2, "\(task)."), to: .plain, keeping: 10)
            }
            let came = try await store.messages(in: .plain).map(\.id)
            try expectEqual(came.count, 10, "the number of messages with a budget of 10")
            for start in stride(from: 0, to: came.count, by: 2) {
                let task = came[start].prefix { $0 != "." }
                try expectEqual([came[start], came[start + 1]], ["\(task).0", "\(task).1"], "a contiguous turn")
            }
        },
    ]

    private static let taskCount = 64

    private static func scope(of task: Int) -> Scope {
        Scope(userId: "user \(task % 4)", sessionId: "session \(task % 16)", agentId: "agent \(task)")
    }
}

/// Runs `work` in `count` tasks at the same time. After all have ended, throws the first error, if any.
func together(_ count: Int, _ work: @escaping @Sendable (Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<count {
            group.addTask { try await work(task) }
        }
        try await group.waitForAll()
    }
}
