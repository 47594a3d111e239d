import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("Summarizing chat storage")
struct SummarizingChatStorageTests {
    private let summarizer = Summarizer()

    private func wrap(
        _ storage: any ChatStorage, triggerAt: Int = 4, keepLast: Int = 2,
        pause: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(3600)) }
    ) -> SummarizingChatStorage {
        SummarizingChatStorage(
            wrapping: storage, triggerAt: triggerAt, keepLast: keepLast, pause: pause,
            summarizer: summarizer.summarize)
    }

    /// Stores that save a summary differently: with and without the rule of roles, in files, with only four methods.
    private static func stores(_ folder: TemporaryFolder, _ defaults: DefaultsSuite) -> [any ChatStorage] {
        [
            InMemoryChatStorage(), InMemoryChatStorage(sameRole: .keep), FileChatStorage(baseURL: folder.url),
            UserDefaultsChatStorage(suiteName: defaults.name),
            WatchedChatStorage(InMemoryChatStorage()),
        ]
    }

    @Test("Beyond the trigger, an agent receives a summary and the last pairs, repeatedly, over any store")
    func summarizes() async throws {
        let (folder, defaults) = (try TemporaryFolder(), DefaultsSuite())
        for below in Self.stores(folder, defaults) {
            let storage = wrap(below)
            try await storage.save(turns(0..<4))
            #expect(try await storage.load() == turns(0..<4))
            for number in 4..<20 {
                try await storage.save(turn(number))
                let given = try await storage.load()
                #expect(given.givenIDs == turns(0...number).map(\.id))
                let pairs = number < 4 ? number : 2 + (number - 4) % 3
                #expect(given.dropFirst() == turns((number - pairs + 1)...number)[...])
                #expect(given.first?.role == .system)
            }
            let raw = try await storage.fetchAllChats(userId: "u", sessionId: "s")
            #expect(raw.map(\.id) == turns(0..<20).map(\.id))
            #expect(try await below.load() == turns(0..<20))
            let compactions = try await storage.compactions(userId: "u", sessionId: "s", agentId: "a")
            #expect(compactions.map(\.previousId) == [nil] + compactions.dropLast().map(\.id))
            #expect(compactions.last?.summary == turns(0..<18).map(\.id).joined(separator: " "))
            #expect(compactions.allSatisfy { $0.author == "SummarizingChatStorage" })
        }
    }

    @Test("Messages inserted between covered ones, and moved behind them, are not covered")
    func inserted() throws {
        func stored(
            _ covered: ArraySlice<ConversationMessage>, after previous: StoredCompaction? = nil,
            _ rest: ArraySlice<ConversationMessage>
        ) throws -> StoredCompaction {
            let compaction = Compaction(
                id: "c", summary: "s", author: "a", createdAt: Date(), lastMessageId: covered.last?.id ?? "",
                messageCount: covered.count, previousId: nil)
            let new = StoredCompaction(compaction, after: previous, covering: covered, leaving: rest)
            return try #require(StoredCompaction(new.batch[1]))
        }
        func uncovered(_ compaction: StoredCompaction, _ messages: [ConversationMessage]) throws
            -> [ConversationMessage]
        {
            let coverage = try #require(compaction.coverage(of: messages))
            return zip(messages, coverage).filter { !$1 }.map(\.0)
        }
        let all = turns(0..<200)
        let summary = try stored(all[300..<390], after: stored(all[..<300], all[300...]), all[390...])
        #expect(try uncovered(summary, all) == Array(all[390...]))
        #expect(try uncovered(summary, Array(all[200...])) == Array(all[390...]))
        var inserted = all
        let new = ConversationMessage(role: .user, text: "inserted")
        inserted.insert(new, at: 250)
        #expect(try uncovered(summary, inserted) == [new] + all[390...])
        let short = try stored(all[..<10], all[10...])
        #expect(try uncovered(short, [new] + all) == [new] + all[10...])
        #expect(try uncovered(short, Array(all[4...])) == Array(all[10...]))
        var moved = all
        moved.append(moved.remove(at: 389))
        #expect(try uncovered(summary, moved) == Array(all[390...]))
    }

    @Test("A restart reuses the stored summary")
    func restart() async throws {
        let folder = try TemporaryFolder()
        let storage = wrap(FileChatStorage(baseURL: folder.url))
        try await storage.save(turns(0..<5))
        let given = try await storage.load()
        #expect(summarizer.all.count == 1)
        #expect(try await wrap(FileChatStorage(baseURL: folder.url)).load() == given)
        #expect(summarizer.all.count == 1)
    }

    @Test("A summary of messages deleted while it was made is not saved")
    func deletedMeanwhile() async throws {
        let below = InMemoryChatStorage()
        let storage = wrap(below)
        summarizer.beforeAnswering { try await below.save([], budget: 0) }
        try await storage.save(turns(0..<6))
        #expect(try await storage.load().isEmpty)
        #expect(summarizer.all.count == 1)
        #expect(try await storage.compactions(userId: "u", sessionId: "s", agentId: "a").isEmpty)
    }

    @Test("Concurrent calls summarize once, and canceling one of them leaves the summary to the others")
    func once() async throws {
        let storage = wrap(InMemoryChatStorage())
        try await storage.save(turns(0..<6))
        let (reached, gate) = (Latch(), Latch())
        summarizer.beforeAnswering {
            reached.open()
            try await gate.wait()
        }
        let first = Task { try await storage.load() }
        try await reached.wait()
        let others = (0..<50).map { _ in Task { try await storage.load() } }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        for other in others { #expect(try await other.value.dropFirst() == turns(4..<6)[...]) }
        #expect(summarizer.all.count == 1)
    }

    @Test("While a reply is pending, the summary is made in the background, and no fetch waits for it")
    func inTheBackground() async throws {
        let storage = wrap(InMemoryChatStorage())
        try await storage.save(turns(0..<4))
        _ = try await storage.load()
        let (reached, gate) = (Latch(), Latch())
        summarizer.beforeAnswering {
            reached.open()
            try await gate.wait()
        }
        try await storage.save([turn(4)[0]])
        try await reached.wait()
        #expect(try await storage.load() == turns(0..<4) + [turn(4)[0]])
        gate.open()
        try await storage.save([turn(4)[1]])
        #expect(try await storage.load().dropFirst() == turns(3..<5)[...])
        #expect(summarizer.all.count == 1)
    }

    @Test("A failing summarizer hides no messages, posts an event and is retried in the next turn")
    func failing() async throws {
        let log = LogLines()
        let storage = SummarizingChatStorage(
            wrapping: InMemoryChatStorage(), triggerAt: 4, keepLast: 2, logger: log.logger,
            summarizer: summarizer.summarize)
        summarizer.beforeAnswering { throw RecollectError(.busy, "SECRET") }
        try await storage.save(turns(0..<5))
        var events = storage.events.stream().makeAsyncIterator()
        for _ in 0..<3 { #expect(try await storage.load() == turns(0..<5)) }
        let event = await events.next()
        #expect(event?.kind == .summaryFailed)
        #expect((event?.failure as? RecollectError)?.code == .busy)
        #expect(summarizer.all.count == 1)
        #expect(log.all.count == 1 && log.all[0].contains("error=busy") && !log.all[0].contains("SECRET"))

        try await storage.save(turn(5))
        #expect(await events.next()?.kind == .summaryFailed)
        #expect(try await storage.load() == turns(0..<6))
        summarizer.beforeAnswering(nil)
        try await storage.save(turn(6))
        while try await storage.load().count > 5 { await Task.yield() }
        #expect(try await storage.load().givenIDs == turns(0..<7).map(\.id))
        #expect(summarizer.all.count == 3)
    }

    @Test("A slow summarizer delays no fetch beyond a time limit, and its late summary is used")
    func slow() async throws {
        let (maxWait, gate) = (Latch(), Latch())
        let storage = wrap(InMemoryChatStorage(), pause: { try await maxWait.wait() })
        summarizer.beforeAnswering { try await gate.wait() }
        try await storage.save(turns(0..<5))
        async let given = storage.load()
        maxWait.open()
        #expect(try await given == turns(0..<5))
        #expect(try await storage.load() == turns(0..<5))
        gate.open()
        while try await storage.load().count > 5 { await Task.yield() }
        #expect(summarizer.all.count == 1)
    }

    @Test("A summary that is empty or not saved is a failure")
    func uselessSummaries() async throws {
        let storages = [
            SummarizingChatStorage(wrapping: InMemoryChatStorage(), triggerAt: 1, keepLast: 1) { _, _ in " \n" },
            wrap(
                TransformingChatStorage(wrapping: InMemoryChatStorage()) { $0.role == .system ? nil : $0 },
                triggerAt: 1, keepLast: 1),
        ]
        for (storage, code) in zip(storages, [RecollectError.Code.unreadable, .verificationFailed]) {
            try await storage.save(turns(0..<2))
            #expect(try await storage.load() == turns(0..<2))
            let event = storage.events.takeUndelivered().first
            #expect((event?.failure as? RecollectError)?.code == code)
        }
    }

    @Test("The budget does not count the summary, which comes before the messages")
    func budgets() async throws {
        let storage = wrap(InMemoryChatStorage())
        try await storage.save(turns(0..<7))
        for (budget, count) in [(0, 0), (1, 0), (2, 2), (3, 2), (4, 4), (100, 4)] {
            let given = try await storage.load(budget: budget)
            #expect(given.dropFirst() == turns(0..<7).suffix(count)[...], "\(budget)")
            #expect(given.isEmpty == (count == 0) && (given.first?.role ?? .system) == .system)
        }
    }

    @Test("In a window by tokens, the summary comes before the newest turns")
    func tokenWindow() async throws {
        let storage = wrap(InMemoryChatStorage())
        try await storage.save(turns(0..<7))
        let window = try await storage.window(
            userId: "u", sessionId: "s", agentId: "a", tokens: 4, counter: TokenCounter { _ in 1 })
        #expect(window.map(\.role) == [.system, .user, .assistant])
        #expect(window.dropFirst() == turns(0..<7).suffix(2)[...])
    }

    @Test("A long history is summarized a hundred pairs at a time, and each step is saved")
    func longHistories() async throws {
        let below = InMemoryChatStorage()
        try await below.save(turns(0..<250))
        let storage = wrap(below)
        let steps = Locked(0)
        summarizer.beforeAnswering {
            let step = steps.withLock { steps in
                steps += 1
                return steps
            }
            if step == 3 { throw RecollectError(.busy, "try again") }
        }
        #expect(try await storage.load().count == 1 + 100)
        #expect(try await wrap(below).load().givenIDs == turns(0..<250).map(\.id))
        #expect(summarizer.all.map(\.ids.count) == [200, 200, 96, 96])
    }

    @Test("A summary survives a trim, but not the deletion of its messages")
    func changedHistories() async throws {
        let below = InMemoryChatStorage()
        let storage = wrap(below)
        try await storage.save(turns(0..<5))
        _ = try await storage.load()
        // First no message covered by the summary is left, then not even all of the messages after it.
        for budget in [6, 4] {
            try await storage.save(turn(5), budget: budget)
            let given = try await storage.load()
            #expect(given.first?.text == turns(0..<3).map(\.id).joined(separator: " "))
            #expect(given.dropFirst() == turns(0...5).suffix(budget)[...])
        }

        // Other messages replace the history.
        try await below.save([], budget: 0)
        try await below.save(turns(10..<12))
        #expect(try await storage.load() == turns(10..<12))
        try await storage.save(turns(12..<15))
        #expect(try await storage.load().givenIDs == turns(10..<15).map(\.id))
        #expect(summarizer.all.last?.summary == nil)
    }

    @Test("IDs reserved for summaries throw")
    func reservedIds() async throws {
        let storage = wrap(InMemoryChatStorage())
        let reserved = SummarizingChatStorage.reservedPrefix + "a"
        func expectRefusal(_ work: () async throws -> Void) async {
            await #expect { try await work() } throws: { ($0 as? RecollectError)?.code == .invalidArgument }
        }
        await expectRefusal { _ = try await storage.load(agent: reserved) }
        await expectRefusal { try await storage.save(turn(0), agent: reserved) }
        await expectRefusal { try await storage.save([ConversationMessage(id: reserved, role: .user, text: "")]) }
        await expectRefusal {
            _ = try await storage.beginReply(
                turn(0)[1], userId: "u", sessionId: "s", agentId: reserved, maxMessages: nil)
        }
        await expectRefusal {
            _ = try await storage.beginReply(
                ConversationMessage(id: reserved, role: .assistant, text: ""), userId: "u", sessionId: "s",
                agentId: "a",
                maxMessages: nil)
        }
    }

    @Test("Many concurrent turns through two wrappers of one store lose and repeat nothing")
    func twoAtOnce() async throws {
        let below = InMemoryChatStorage(sameRole: .keep)
        let storages = [wrap(below), wrap(below)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, storage) in storages.enumerated() {
                group.addTask {
                    for number in 0..<60 {
                        try await storage.save(turn(index * 1000 + number))
                        _ = try await storage.load()
                    }
                }
            }
            try await group.waitForAll()
        }
        let raw = try await storages[0].fetchAllChats(userId: "u", sessionId: "s").count
        #expect(raw == 240)
        let said = try await below.load().map(\.id)
        for storage in storages { #expect(try await storage.load().givenIDs == said) }
    }

    @Test("For any history, nothing is lost, no exchange is split, and the last message stays last")
    func randomHistories() async {
        await Seeds.run(40) { seed in
            var random = SeededGenerator(seed: seed)
            let summarizer = Summarizer()
            let below = InMemoryChatStorage(sameRole: .keep)
            let storage = SummarizingChatStorage(
                wrapping: below, triggerAt: .random(in: 1...5, using: &random),
                keepLast: .random(in: 1...3, using: &random),
                summarizer: summarizer.summarize)
            for step in 0..<30 {
                try await storage.save(RandomTurn.messages(step, &random))
                if Bool.random(using: &random) { continue }
                let raw = try await below.load()
                let given = try await storage.load()
                #expect(given.givenIDs == raw.map(\.id), "step \(step)")
                #expect(given.last == raw.last, "step \(step)")
                let visible = given.filter { !StoredCompaction.isReserved($0.id) }
                #expect(visible.wholeExchanges() == visible, "step \(step)")
            }
            let folded = Set(summarizer.all.map { $0.ids.last ?? "" })
            #expect(!folded.contains { $0.hasSuffix("q") }, "an input is summarized without its reply")
        }
    }
}

/// Turns as agents produce them: with a plain reply, with tool exchanges before it, or with a repeated input.
private enum RandomTurn {
    static func messages(_ number: Int, _ random: inout SeededGenerator) -> [ConversationMessage] {
        var messages = [ConversationMessage(id: "\(number)-q", role: .user, text: "?")]
        if Int.random(in: 0..<5, using: &random) == 0 {
            messages.append(ConversationMessage(id: "\(number)-qq", role: .user, text: "??"))
        }
        let calls = Int.random(in: 0...3, using: &random)
        for call in 0..<calls {
            messages.append(
                ConversationMessage(
                    id: "\(number)-c\(call)", role: .assistant,
                    parts: [.toolCall(id: "\(number).\(call)", name: "x", arguments: [:])]))
        }
        for call in (0..<calls).shuffled(using: &random) {
            let role = Bool.random(using: &random) ? Role.tool : .user
            messages.append(
                ConversationMessage(
                    id: "\(number)-r\(call)", role: role, parts: [.toolResult(id: "\(number).\(call)", content: "y")]))
        }
        messages.append(ConversationMessage(id: "\(number)-a", role: .assistant, text: "!"))
        return messages
    }
}
