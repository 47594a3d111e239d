import Foundation
import RecollectCore

/// Checks of appends, and of windows given to agents.
enum AppendChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "append.reportsOutcome", rule: 4,
            "The outcome of an append counts added, already stored and dropped messages."
        ) { store in
            let messages = SampleData.dialogue(4)
            let first = try await store.append(messages, to: .plain)
            try expectEqual(first, AppendOutcome(added: 4), "a new batch")
            let again = try await store.append(messages + SampleData.dialogue(1, from: 4), to: .plain)
            try expectEqual(again, AppendOutcome(added: 1, alreadyStored: 4), "a batch with four stored messages")
            let repeated = [SampleData.message(.user, "x"), SampleData.message(.assistant, "y")]
            let dropping = try await store.append(repeated, to: .plain, options: AppendOptions(sameRole: .drop))
            try expectEqual(dropping, AppendOutcome(added: 1, dropped: 1), "a batch with a repeated role")
        },
        HistoryStoreCheck(
            "append.keepsRepeatedRoles", rule: 3,
            "By default, append saves messages with repeated roles."
        ) { store in
            let messages = (0..<6).map { SampleData.message(.user, "m\($0)") }
            try await store.append(messages, to: .plain)
            try await expectMessages(store.window(of: .plain, maxMessages: nil), messages, "six messages of one role")
        },
        HistoryStoreCheck(
            "append.keepsSessionRead",
            "With keepsSessionRead, an append leaves a read session read and an unread session unread."
        ) { store in
            let (id, options) = (Scope.plain.session, AppendOptions(keepsSessionRead: true))
            for (round, isUnread) in [false, false, true, true, false].enumerated() {
                if round == 2 {
                    try await store.append(SampleData.dialogue(1, "news"), to: Scope.plain.agent("other"))
                } else if round == 4 {
                    try await store.update(id, with: SessionDetails(isRead: true))
                }
                try await store.append(SampleData.dialogue(2, from: round), to: .plain, options: options)
                try await expectEqual(store.summary(id).isUnread, isUnread, "isUnread after batch \(round)")
            }
            try await store.append(SampleData.dialogue(1, "end"), to: .plain)
            try await expectEqual(store.summary(id).isUnread, true, "isUnread after a batch without keepsSessionRead")
        },
        HistoryStoreCheck(
            "append.claimsUnassigned", rule: 4,
            "With claimsUnassigned, a known message moves from the empty agent ID, and only from it, to the agent."
        ) { store in
            let adopting = AppendOptions(sameRole: .drop, claimsUnassigned: true)
            let (nobody, id) = (Scope.plain.agent(""), Scope.plain.session)
            let question = SampleData.message(.user, "question", "lighthouse?")
            try await store.append([question, SampleData.message(.assistant, "left", "alone")], to: nobody)
            try await store.append([SampleData.message(.assistant, "other", "hers")], to: Scope.plain.agent("other"))
            let before = try await store.latestChangeCursor()
            let batch = [SampleData.message(.user, "question", "changed"), SampleData.message(.user, "again", "?")]
            try await expectEqual(
                store.append(batch, to: .plain, options: adopting), AppendOutcome(alreadyStored: 1, dropped: 1),
                "the outcome of a batch with a known message and a repeated role")
            try await expectMessages(store.window(of: .plain, maxMessages: nil), [question], "the agent's window")
            try await expectIDs(
                store.window(of: nobody, maxMessages: nil), ["left"], "the window of the empty agent ID")
            try await expectIDs(
                store.everything(in: id).map(\.message), ["question", "left", "other"], "the pages")
            try await expectEqual(store.summary(id).messageCount, 3, "the message count")
            let found = try await store.search(SearchQuery(userId: "user", text: "lighthouse", agentId: "agent"))
            try expectEqual(found.elements.map(\.messageId), ["question"], "a search of the agent's messages")
            let changes = try await store.everyChange(after: before)
            try expectEqual(changes.map(\.messageId), ["question"], "messages reported by the feed")
            try expectEqual(changes.map(\.agentId), ["agent"], "agents reported by the feed")
            let mine = SampleData.message(.assistant, "other", "mine")
            try await expectEqual(
                store.append([mine], to: .plain, options: adopting), AppendOutcome(added: 1),
                "the outcome for an ID of another agent")
            try await expectIDs(
                store.window(of: Scope.plain.agent("other"), maxMessages: nil), ["other"], "the other agent's window")
        },
        HistoryStoreCheck(
            "append.isAllOrNothing", rule: 6,
            "An append with a number JSON cannot represent, or in a canceled task, saves all or nothing."
        ) { store in
            let impossible = ConversationMessage(
                id: "impossible", role: .assistant,
                parts: [.toolCall(id: "1", name: "measure", arguments: ["value": .number(.infinity)])])
            let batch = [SampleData.message(.user, "first"), impossible, SampleData.message(.user, "last")]
            try await expectWholeOrNothing(batch, in: .plain, of: store) { try await store.append(batch, to: .plain) }

            let (scope, dialogue) = (Scope.plain.session("cancelled"), SampleData.dialogue(6))
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                try await store.append(dialogue, to: scope)
            }
            task.cancel()
            try await expectWholeOrNothing(dialogue, in: scope, of: store) { try await task.value }
        },
        HistoryStoreCheck(
            "window.trimDoesNotAffectLibrary", rule: 2,
            "A trim moves only the window of an agent: pages, lookups and search include all messages.",
            needs: .retainsTrimmedMessages
        ) { store in
            let messages = SampleData.dialogue(10)
            try await store.append(messages, to: .plain, options: AppendOptions(maxMessages: 4))
            try await expectMessages(store.window(of: .plain, maxMessages: nil), messages.suffix(4), "the window")
            let pages = try await store.everything(in: Scope.plain.session).map(\.message)
            try expectMessages(pages, messages, "the pages")
            try expectEqual(
                try await store.message("m0", in: Scope.plain.session)?.message.id, "m0", "a trimmed message")
            try expectEqual(try await store.found("m1"), ["m1"], "a search for a trimmed message")
            try expectEqual(try await store.session(Scope.plain.session)?.messageCount, 10, "the message count")
        },
        HistoryStoreCheck(
            "window.separatePerAgent", rule: 2, "windows(of:) returns a separate window for each agent of a session."
        ) { store in
            for agent in ["b", "a", ""] {
                let scope = Scope.plain.agent(agent)
                try await store.append(SampleData.dialogue(6, agent), to: scope, options: AppendOptions(maxMessages: 4))
            }
            let windows = try await store.windows(of: Scope.plain.session).sorted { $0.agentId < $1.agentId }
            try expectEqual(windows.map(\.agentId), ["", "a", "b"], "the agents, sorted")
            for window in windows {
                let expected = Array(SampleData.dialogue(6, window.agentId).suffix(4))
                try expectMessages(window.messages, expected, "the window of \(window.agentId.debugDescription)")
            }
        },
        HistoryStoreCheck(
            "window.byTokens", rule: 2,
            "A window by tokens has the instructions, the pinned turns and the newest turns within its budget."
        ) { store in
            try await store.append(WindowChecks.tokenHistory, to: .plain)
            try await WindowChecks.expectTokenWindows { tokens, counter in
                try await store.window(of: .plain, tokens: tokens, counter: counter)
            }
        },
        HistoryStoreCheck(
            "exchanges.wholeWindowOmitsIncompleteExchanges", rule: 10,
            "For every budget, wholeWindow omits only calls without a result and results without a call."
        ) { store, random in
            var random = random
            let history = Self.exchanges(&random)
            try await store.append(history, to: .plain)
            for budget in [nil] + (0...(history.count + 1)).map(Optional.some) {
                let what = "seed \(random.seed), budget \(budget.map(String.init) ?? "nil")"
                let window = try await store.window(of: .plain, maxMessages: budget)
                let whole = try await store.windowOfWholeExchanges(of: .plain, maxMessages: budget)
                try expectNoHalf(whole, what)
                try expectMessages(whole, window.wholeExchanges(), what)
            }
        },
        HistoryStoreCheck(
            "attachments.byHash", rule: 9,
            "attachment(sha256:userId:) returns the bytes of a saved attachment and throws for an unknown hash."
        ) { store in
            let bytes = Data((0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let attachment = Attachment(mediaType: "image/png", content: .inline(bytes))
            try await store.append(
                [ConversationMessage(id: "m", role: .user, parts: [.attachment(attachment)])], to: .plain)
            let hash = Attachment.sha256(of: bytes)
            try expectEqual(try await store.attachment(sha256: hash, userId: "user"), bytes, "the bytes of \(hash)")
            let missing = Attachment.sha256(of: Data("never saved".utf8))
            try await expectError(.notFound, "an unknown hash") {
                _ = try await store.attachment(sha256: missing, userId: "user")
            }
        },
        HistoryStoreCheck(
            "attachments.usersAreIsolated", rule: 9,
            "The hash of another user's attachment is as unknown as any other, until the user saves the same bytes."
        ) { store in
            let bytes = Data((0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 29) })
            let hash = Attachment.sha256(of: bytes)
            let message = ConversationMessage(
                id: "m", role: .user,
                parts: [.attachment(Attachment(mediaType: "image/png", content: .inline(bytes)))])
            try await store.append([message], to: .plain)
            try await expectEqual(store.attachment(sha256: hash, userId: "user"), bytes, "the bytes of \(hash)")
            for other in ["other", "User", ""] {
                try await expectError(.notFound, "the attachment of another user") {
                    _ = try await store.attachment(sha256: hash, userId: other)
                }
            }
            try await store.append([message], to: Scope.plain.user("other"))
            try await expectEqual(
                store.attachment(sha256: hash, userId: "other"), bytes, "the bytes saved by both users")
            try await store.deleteMessages(["m"], in: Scope.plain.session)
            try await expectError(.notFound, "the attachment of a deleted message") {
                _ = try await store.attachment(sha256: hash, userId: "user")
            }
            try await expectEqual(
                store.attachment(sha256: hash, userId: "other"), bytes, "the bytes after a deletion by one of two users"
            )
        },
    ]

    /// Expects pages, count and feed to have the whole batch if `work` returns, and none of it if `work` throws.
    private static func expectWholeOrNothing(
        _ batch: [ConversationMessage], in scope: Scope, of store: any HistoryStore, _ work: () async throws -> Void
    ) async throws {
        var expected = batch.map(\.id)
        do { try await work() } catch { expected = [] }
        try await expectIDs(
            store.everything(in: scope.session).map(\.message), expected, "messages after the batch")
        let count = try await store.session(scope.session)?.messageCount ?? 0
        try expectEqual(count, expected.count, "the message count of the session")
        let changes = try await store.everyChange(after: .beginning).filter { $0.session == scope.session }
        try expectEqual(changes.compactMap(\.messageId), expected, "messages in the feed")
    }

    /// Returns text and exchanges of one to three calls, in random order.
    private static func exchanges(_ random: inout SeededGenerator) -> [ConversationMessage] {
        var messages: [ConversationMessage] = []
        for turn in 0..<8 {
            messages.append(SampleData.message(.user, "u\(turn)"))
            let calls = (0..<Int.random(in: 0...3, using: &random)).map { "\(turn).\($0)" }
            messages += calls.map { SampleData.call("call \($0)", of: $0) }
            messages += calls.shuffled(using: &random).map { SampleData.result("result \($0)", of: $0) }
            messages.append(SampleData.message(.assistant, "a\(turn)"))
        }
        return messages
    }
}

/// Throws unless `work` throws a `RecollectError` with the given code.
func expectError(
    _ code: RecollectError.Code, _ what: String, _ work: () async throws -> Void
) async throws {
    do {
        try await work()
    } catch let error as RecollectError where error.code == code {
        return
    } catch {
        throw BrokenPromise(expected: "\(what): an error of code \(code.rawValue)", actual: "\(error)")
    }
    throw BrokenPromise(expected: "\(what): an error of code \(code.rawValue)", actual: "no error")
}
