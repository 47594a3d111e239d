import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Compactions in a SQLite history") struct CompactionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Appends turns and compacts the first messages, with a word in each summary.
    private func fill(
        _ history: SQLiteHistoryStore, count: Int = 8, covering counts: [Int] = [2, 6]
    ) async throws -> [Compaction] {
        let all = messages(0..<count)
        try await history.append(all, to: scope)
        var made: [Compaction] = []
        for (number, end) in counts.enumerated() {
            let start = number == 0 ? 0 : counts[number - 1]
            made.append(
                try await history.compact(
                    Array(all[start..<end]), of: scope, into: "about quetzalcoatl\(number)", by: "writer",
                    after: made.last?.id))
        }
        return made
    }

    @Test("Compactions are durable, and no view of the session shows them as messages or agents")
    func reopening() async throws {
        let history = folder.history()
        let made = try await fill(history)
        await history.close()
        let reopened = folder.history()
        #expect(try await reopened.compactions(of: scope) == made)
        #expect(try await reopened.compactedMessages(of: scope).messages == messages(6..<8))
        #expect(try await reopened.window(of: scope, maxMessages: nil) == messages(0..<8))
        #expect(try await reopened.session(scope.session)?.agentIds == ["a"])
        #expect(try await reopened.session(scope.session)?.messageCount == 8)
        #expect(try await reopened.search(SearchQuery(userId: "ann", text: "quetzalcoatl1")).elements.isEmpty)
        let storage = DeviceChatStorage(history: reopened, userId: "ann")
        #expect(try await storage.fetchAllChats(userId: "ann", sessionId: "s").map(\.id) == (0..<8).map { "m\($0)" })
        #expect(try await reopened.check().problems.isEmpty)
    }

    @Test("A compaction and its removal change the session's version, so a cache reads a summarized window again")
    func versions() async throws {
        let history = memory()
        let storage = DeviceChatStorage(history: history, userId: "ann")
        try await history.append(messages(0..<4), to: scope)
        var versions = [try await storage.version(userId: "ann", sessionId: "s")]
        let made = try await history.compact(messages(0..<2), of: scope, into: "one", by: "writer", after: nil)
        versions.append(try await storage.version(userId: "ann", sessionId: "s"))
        try await history.removeCompaction(made.id, of: scope)
        versions.append(try await storage.version(userId: "ann", sessionId: "s"))
        #expect(Set(versions).count == 3)
    }

    @Test("A summarizing wrapper saves its summaries as compactions, and makes none of messages edited meanwhile")
    func wrapper() async throws {
        let history = memory()
        let all = messages(0..<12)
        try await history.append(all, to: scope)
        let calls = Locked(0)
        let storage = SummarizingChatStorage(
            wrapping: DeviceChatStorage(history: history, userId: "ann"), triggerAt: 4, keepLast: 2, author: "model"
        ) { summary, messages in
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            if call == 1 {
                try await history.edit([ConversationMessage(id: "m0", role: .user, text: "edited")], in: scope.session)
            }
            return messages.map(\.text).joined(separator: ",")
        }
        // The first summary is refused, and the next fetch makes another one.
        for _ in 0..<2 {
            _ = try await storage.fetch(userId: "ann", sessionId: "s", agentId: "a", maxMessages: nil)
        }
        let given = try await storage.fetch(userId: "ann", sessionId: "s", agentId: "a", maxMessages: nil)
        #expect(given.first?.text.hasPrefix("edited,text 1") == true)
        #expect(given.dropFirst() == all[8...])
        #expect(calls.withLock { $0 } == 2)
        #expect(try await history.compactions(of: scope).map(\.author) == ["model"])
        #expect(try await history.session(scope.session)?.agentIds == ["a"])
    }

    @Test("A message inserted by a UI before the boundary is not covered, and the next compaction covers it")
    func inserted() async throws {
        let history = memory()
        let ids = (0..<6).map { _ in UUID().uuidString }
        let all = ids.enumerated().map { number, id in
            ConversationMessage(id: id, role: number.isMultiple(of: 2) ? .user : .assistant, text: "text \(number)")
        }
        let scope = Scope(userId: "ann", sessionId: "s", agentId: "")
        try await history.append(all, to: scope)
        let first = try await history.compact(Array(all[..<4]), of: scope, into: "one", by: "w", after: nil)
        let library = SQLiteSessionStorage(history: history, userId: "ann")
        var entries = try #require(try await library.getSession(id: "s")).messages
        entries.insert(ChatMessage(role: .user, content: "inserted"), at: 2)
        try await library.updateSessionMessages(id: "s", messages: entries)
        #expect(
            try await history.compactedMessages(of: scope).messages.map(\.text) == ["inserted", "text 4", "text 5"])
        #expect(try await history.compactedMessages(of: scope).compaction == first)
        let inserted = try await history.compactedMessages(of: scope).messages[0]
        let second = try await history.compact([inserted], of: scope, into: "two", by: "w", after: first.id)
        #expect(second.lastMessageId == first.lastMessageId && second.messageCount == 5)
        #expect(try await history.compactedMessages(of: scope).messages == Array(all[4...]))
        try await history.fork(scope.session, at: ids[5], into: "fork")
        #expect(try await history.compactions(of: Scope(userId: "ann", sessionId: "fork", agentId: "")) == [second])
    }

    @Test(
        "A trim keeps a compaction, also if it deletes the covered messages",
        arguments: [Retention.everything, .window])
    func trim(retention: Retention) async throws {
        let history = folder.history(retention: retention)
        let made = try await fill(history)
        try await history.append(messages(8..<10), to: scope, options: AppendOptions(maxMessages: 4))
        #expect(try await history.compactedMessages(of: scope).compaction == made[1])
        #expect(try await history.compactedMessages(of: scope).messages == messages(6..<10))
        try await history.append(messages(10..<12), to: scope, options: AppendOptions(maxMessages: 2))
        #expect(try await history.compactedMessages(of: scope).compaction == made[1])
        #expect(try await history.compactedMessages(of: scope).messages == messages(10..<12))
        #expect(try await history.moveSession(scope.session, to: "moved"))
        let moved = Scope(userId: "ann", sessionId: "moved", agentId: "a")
        #expect(try await history.compactions(of: moved) == made)
    }

    @Test("An expiry of covered messages removes their compactions")
    func expiry() async throws {
        let history = folder.history()
        let made = try await fill(history)
        let date = Date(timeIntervalSince1970: 1_700_000_000 + 2.5)
        #expect(made.count == 2)
        #expect(try await history.deleteMessages(olderThan: date) == 3)
        #expect(try await history.compactions(of: scope).isEmpty)
        #expect(try await history.traces(of: "quetzalcoatl").allSatisfy { !$0.isLive || $0.kind == .bytes })
    }

    @Test(
        "No bytes of a summary stay in the files after its removal, an edit, or a deletion of its messages or session")
    func erased() async throws {
        let removals: [(String, (SQLiteHistoryStore, [Compaction]) async throws -> Void)] = [
            (
                "removal",
                { history, made in
                    for compaction in made { try await history.removeCompaction(compaction.id, of: scope) }
                }
            ),
            (
                "edit",
                { history, _ in
                    try await history.edit([ConversationMessage(id: "m0", role: .user, text: "!")], in: scope.session)
                }
            ),
            ("deletion", { history, _ in try await history.deleteMessages(["m1"], in: scope.session) }),
            (
                "merge",
                { history, _ in
                    try await history.append(
                        messages(0..<2, prefix: "o"), to: Scope(userId: "ann", sessionId: "other", agentId: "a"))
                    try await history.moveSession(scope.session, to: "other")
                }
            ),
            ("deletion of the session", { history, _ in try await history.deleteSession(scope.session) }),
            ("deletion of the user", { history, _ in try await history.deleteUser("ann") }),
        ]
        for (name, remove) in removals {
            let folder = try TemporaryFolder()
            let history = folder.history()
            let made = try await fill(history)
            let traces = try await history.traces(of: "quetzalcoatl")
            #expect(traces.filter { $0.kind == .compaction }.count == 2, "\(name)")
            #expect(traces.first { $0.kind == .compaction }?.sessionId == "s", "\(name)")
            try await remove(history, made)
            #expect(try await history.erasesAll(), "\(name)")
            #expect(try await history.traces(of: "quetzalcoatl") == [], "\(name)")
            #expect(try await history.check().problems.isEmpty, "\(name)")
        }
    }

    @Test("A window by tokens equals the window of all messages with the same compaction")
    func windows() async throws {
        await Seeds.run(20) { seed in
            var random = SeededGenerator(seed: seed)
            let history = memory()
            var all = messages(0..<random.size(upTo: 300))
            if let first = all.indices.first, Bool.random(using: &random) { all[first].role = .system }
            for index in all.indices where Int.random(in: 0..<40, using: &random) == 0 { all[index].isPinned = true }
            try await history.append(all, to: scope)
            var made: Compaction?
            var end = 0
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let chat = try await history.compactedMessages(of: scope)
                guard !chat.messages.isEmpty else { break }
                let covered = Array(chat.messages.prefix(Int.random(in: 1...chat.messages.count, using: &random)))
                made = try await history.compact(covered, of: scope, into: "so far", by: "w", after: made?.id)
                end = try #require(all.firstIndex(of: covered[covered.count - 1])) + 1
            }
            let counter = TokenCounter { 1 + $0.text.utf8.count }
            let expected = CompactedMessages(all, compaction: made) { $0 < end }
            #expect(try await history.compactedMessages(of: scope) == expected)
            for tokens in [0, 5, 9, 30, 200, 1500, 1_000_000] {
                let window = try await history.window(of: scope, tokens: tokens, counter: counter)
                let whole = all.window(tokens: tokens, counter: counter)
                #expect(window == expected.window(tokens: tokens, counter: counter) ?? whole, "\(tokens) tokens")
            }
        }
    }

    @Test("Of two processes compacting one scope, each compaction continues the one before", .needs(.processes))
    func twoProcesses() async throws {
        let user = Scope(userId: "u", sessionId: "s", agentId: "a")
        try await folder.history().append(messages(0..<100), to: user)
        let workers = try ["x", "y"].map { try Worker(["compact", "history:\(folder.url.path)", "a", $0, "100"]) }
        var saved = 0
        for worker in workers {
            saved += await worker.finish().count { $0.hasPrefix("saved ") }
            #expect(worker.endedWell)
        }
        let made = try await folder.history().compactions(of: user)
        #expect(saved == 50 && made.count == 50)
        #expect(made.map(\.previousId) == [nil] + made.dropLast().map(\.id))
        #expect(made.map(\.messageCount) == (1...50).map { 2 * $0 })
        #expect(try await folder.history().compactedMessages(of: user).messages.isEmpty)
    }

    @Test("After a kill at any time, all acknowledged compactions are there, and checks pass", .needs(.processes))
    func killed() async throws {
        let user = Scope(userId: "u", sessionId: "s", agentId: "a")
        try await folder.history().append(messages(0..<400), to: user)
        var acknowledged: [String] = []
        for round in 0..<8 {
            let worker = try Worker(["compact", "history:\(folder.url.path)", "a", "w\(round)", "1000"])
            _ = await worker.wait(forLines: 1 + round)
            worker.kill()
            acknowledged += await worker.finish().filter { $0.hasPrefix("saved ") }.map { String($0.dropFirst(6)) }
        }
        let made = try await folder.history().compactions(of: user)
        #expect(Set(acknowledged).isSubset(of: Set(made.map(\.summary))))
        #expect(made.count <= acknowledged.count + 8)
        #expect(made.map(\.messageCount) == (0..<made.count).map { 2 * $0 + 2 })
        #expect(try await folder.history().compactedMessages(of: user).messages == messages(2 * made.count..<400))
        #expect(try await folder.history().check().problems.isEmpty)
    }
}
