import RecollectCore

/// Checks of compactions: a summary for a model in place of messages, which stay unchanged.
enum CompactionChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "compaction.shortensWindows", rule: 2,
            "A window by tokens has the instructions, the summary, the pinned turns covered, and the newest turns after it."
        ) { store in
            var messages = [SampleData.message(.system, "s")] + SampleData.dialogue(8)
            messages[3].isPinned = true
            try await store.add(messages, to: .plain)
            let compaction = try await store.compact(messages[...4], "so far", in: .plain)
            let summary = compaction.message.id
            let all = ["s", summary, "m2", "m3", "m4", "m5", "m6", "m7"]
            let expected: [(tokens: Int, ids: [String])] = [
                (0, []), (1, ["s"]), (2, ["s", summary]), (4, ["s", summary, "m2", "m3"]),
                (6, ["s", summary, "m2", "m3", "m6", "m7"]), (8, all), (1000, all),
            ]
            for (tokens, ids) in expected {
                let window = try await store.window(
                    userId: Scope.plain.userId, sessionId: Scope.plain.sessionId, agentId: Scope.plain.agentId,
                    tokens: tokens, counter: TokenCounter { _ in 1 })
                try expectIDs(window, ids, "the window of \(tokens) tokens")
                try expectEqual(window.dropFirst().first.map(\.text) ?? "so far", "so far", "the summary")
            }
            let long = try await store.window(
                userId: Scope.plain.userId, sessionId: Scope.plain.sessionId, agentId: Scope.plain.agentId,
                tokens: 7, counter: TokenCounter { $0.id == summary ? 7 : 1 })
            try expectIDs(long, ["s", "m2", "m3", "m4", "m5", "m6", "m7"], "the window without room for the summary")
        },
        ChatStorageCheck(
            "compaction.keepsMessages", rule: 2, "A compaction changes neither fetch nor the messages after it."
        ) { store in
            let messages = SampleData.dialogue(8)
            try await store.add(messages, to: .plain)
            try await store.compact(messages[..<4], "first", in: .plain)
            try await expectMessages(store.messages(in: .plain), messages, "the messages after a compaction")
            try await store.add(SampleData.dialogue(2, from: 8), to: .plain)
            try await expectMessages(
                store.messages(in: .plain), SampleData.dialogue(10), "the messages after a compaction and a save")
            try await expectMessages(
                store.compacted(in: .plain).messages, SampleData.dialogue(6, from: 4), "the messages not covered")
        },
        ChatStorageCheck(
            "compaction.refusesChanges", rule: 2,
            "A compaction of other messages than the first ones not covered, or after another one, saves nothing."
        ) { store in
            let messages =
                SampleData.dialogue(4) + [
                    SampleData.message(.user, "u"), SampleData.call("c", of: "1"), SampleData.result("r", of: "1"),
                ]
            try await store.add(messages, to: .plain)
            try await expectRefusal(.notFound) {
                try await store.compact([SampleData.message(.user, "unknown")], "s", in: .plain)
            }
            try await expectRefusal(.conflict) { try await store.compact(messages[1..<4], "s", in: .plain) }
            try await expectRefusal(.conflict) {
                try await store.compact(
                    [messages[0], SampleData.message(.assistant, "m1", "changed")], "s", in: .plain)
            }
            try await expectRefusal(.conflict) { try await store.compact(messages[..<2], "s", after: "x", in: .plain) }
            try await expectRefusal(.invalidArgument) { try await store.compact(messages[..<2], " \n", in: .plain) }
            try await expectRefusal(.invalidArgument) { try await store.compact([], "s", in: .plain) }
            try await expectRefusal(.invalidArgument) { try await store.compact(messages[..<6], "s", in: .plain) }
            try await expectEqual(store.compactions(in: .plain), [], "the compactions")
            let first = try await store.compact(messages[..<2], "s", in: .plain)
            try await expectRefusal(.conflict) { try await store.compact(messages[2..<4], "s", in: .plain) }
            try await expectEqual(store.compactions(in: .plain), [first], "the compactions after one")
        },
        ChatStorageCheck(
            "compaction.canBeRemoved", rule: 2,
            "Compactions are listed with their origin, the oldest first; removing the last one restores the one before."
        ) { store in
            let messages = SampleData.dialogue(8)
            try await store.add(messages, to: .plain)
            let first = try await store.compact(messages[..<2], "one", in: .plain)
            let second = try await store.compact(messages[2..<6], "two", after: first.id, in: .plain)
            try expectEqual(
                [first.lastMessageId, second.lastMessageId, first.author, second.previousId ?? "", second.summary],
                ["m1", "m5", "writer", first.id, "two"], "the values of the compactions")
            try expectEqual([first.messageCount, second.messageCount], [2, 6], "the numbers of messages")
            try await expectEqual(store.compactions(in: .plain), [first, second], "the compactions")
            try await expectEqual(store.compacted(in: .plain).compaction, second, "the compaction in effect")
            try await expectEqual(store.remove("unknown", in: .plain), false, "removing an unknown compaction")
            try await expectEqual(store.remove(second.id, in: .plain), true, "removing the second compaction")
            try await expectEqual(store.compacted(in: .plain).compaction, first, "the compaction in effect after it")
            try await expectMessages(
                store.compacted(in: .plain).messages, Array(messages[2...]), "the messages not covered after it")
            try await expectEqual(store.remove(first.id, in: .plain), true, "removing the first compaction")
            try await expectEqual(
                store.compacted(in: .plain), CompactedMessages(messages: messages), "the messages without a compaction")
            try await expectEqual(store.compactions(in: .plain.agent("other")), [], "the compactions of another agent")
        },
    ]
}

/// Throws unless the work throws an error with this code.
func expectRefusal(_ code: RecollectError.Code, _ work: () async throws -> Void) async throws {
    do {
        try await work()
    } catch let error as RecollectError where error.code == code {
        return
    } catch {
        throw BrokenPromise(expected: "an error with the code \(code)", actual: "\(error)")
    }
    throw BrokenPromise(expected: "an error with the code \(code)", actual: "no error")
}

/// The methods of compactions with a scope in place of the three IDs.
extension ChatStorage {
    @discardableResult
    func compact(
        _ messages: some Sequence<ConversationMessage>, _ summary: String, after previousId: String? = nil,
        in scope: Scope
    ) async throws -> Compaction {
        try await compact(
            Array(messages), into: summary, by: "writer", after: previousId, userId: scope.userId,
            sessionId: scope.sessionId, agentId: scope.agentId)
    }

    func compacted(in scope: Scope) async throws -> CompactedMessages {
        try await compactedMessages(userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId)
    }

    func compactions(in scope: Scope) async throws -> [Compaction] {
        try await compactions(userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId)
    }

    func remove(_ id: String, in scope: Scope) async throws -> Bool {
        try await removeCompaction(id, userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId)
    }
}
