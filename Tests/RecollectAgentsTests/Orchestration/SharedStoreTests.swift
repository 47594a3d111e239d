import Foundation
import RecollectAgents
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@Suite("Processes with turns in one session")
struct SharedStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")

    @Test(
        "A store that keeps repeated roles loses and duplicates no reported turn, though one process is killed",
        .needs(.processes),
        arguments: ["history:", ""])
    func together(kind: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        // Each number belongs to one turn only, so that an input identifies its turn.
        let counts = (0..<3).map { worker in (1...8).map { "\($0 * 3 + worker)" } }
        let workers = try counts.map { try Worker(["turns", kind + folder.path, "keep"] + $0) }
        _ = await workers[2].wait(forLines: 30)
        workers[2].kill()
        var reported: [String] = []
        for worker in workers {
            reported += await worker.finish().filter { $0.hasPrefix("kept ") }.map { String($0.dropFirst(5)) }
        }
        #expect(workers[0].endedWell && workers[1].endedWell)
        let store: any ChatStorage =
            kind.isEmpty
            ? FileChatStorage(baseURL: folder, sameRole: .keep)
            : DeviceChatStorage(history: SQLiteHistoryStore(directory: folder), userId: "u", sameRole: .keep)
        let given = Locked<[ConversationMessage]>([])
        let agent = ScriptedAgent { _, history, say in
            given.withLock { $0 = history }
            say(.textDelta("still here"))
        }
        let orchestrator = Orchestrator(agents: [agent], store: store, maxMessages: nil)
        for try await _ in orchestrator.route("and?", userId: "u", sessionId: "s") {}

        let saved = try await store.fetch(userId: "u", sessionId: "s", agentId: "agent", maxMessages: nil)
        #expect(Set(saved.map(\.id)).count == saved.count)
        #expect(given.withLock { $0 } == saved.dropLast(2).wholeExchanges())
        #expect(saved.suffix(2).map(\.text) == ["and?", "still here"])
        let questions = saved.filter { $0.role == .user }.map(\.text)
        #expect(Set(questions).count == questions.count)
        #expect(Set(counts[0] + counts[1]).isSubset(of: questions))
        let replies = saved.filter { $0.role == .assistant && !$0.isInterrupted }.map(\.text)
        #expect(replies.sorted() == (reported + ["still here"]).sorted() || replies.count == reported.count + 2)
        #expect(Set(reported).isSubset(of: replies))
    }

    @Test(
        "Concurrent processes mark no pending reply as interrupted", .needs(.processes),
        arguments: ["keep", "drop"])
    func noPhantoms(roles: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let workers = try (0..<4).map { try Worker(["turns", "history:" + folder.path, roles, "1\($0)", "2\($0)"]) }
        for worker in workers { _ = await worker.finish() }
        #expect(workers.allSatisfy { $0.endedWell })
        let store = DeviceChatStorage(history: SQLiteHistoryStore(directory: folder), userId: "u")
        let saved = try await store.fetch(userId: "u", sessionId: "s", agentId: "agent", maxMessages: nil)
        #expect(saved.count == 16)
        #expect(!saved.contains { $0.isInterrupted })
        let questions = saved.filter { $0.role == .user }.map(\.text)
        #expect(questions.sorted() == (1...2).flatMap { ten in (0..<4).map { "\(ten)\($0)" } })
    }

    @Test(
        "Two orchestrators of one history answer in turns, in the order of their questions", arguments: [true, false])
    func leases(isWrapped: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        func makeStore() -> any ChatStorage {
            let store = DeviceChatStorage(history: SQLiteHistoryStore(directory: folder), userId: "user")
            return isWrapped ? CachingChatStorage(wrapping: store) : store
        }
        let (hasBegun, finish) = (Gate(), Gate())
        let waiting = ScriptedAgent { input, _, say in
            hasBegun.open()
            try await finish.wait()
            say(.textDelta("re \(input.text)"))
        }
        let first = Orchestrator(agents: [waiting], store: makeStore())
        let given = Locked<[String]>([])
        let echo = ScriptedAgent { input, history, say in
            given.withLock { $0 = history.map(\.text) }
            say(.textDelta("re \(input.text)"))
        }
        let second = Orchestrator(agents: [echo], store: makeStore())
        let stopped = Orchestrator(agents: [echo], store: makeStore())
        func route(_ input: AgentInput, to orchestrator: Orchestrator) -> AsyncThrowingStream<AgentEvent, any Error> {
            orchestrator.route(input, userId: "user", sessionId: "session")
        }
        let one = route(.text("one", id: "1"), to: first)
        try await hasBegun.wait()
        let canceled = route("three", to: stopped)
        let two = route("two", to: second)
        // It waits for the reply that streams, and the agent is not asked again.
        let again = route(.text("one", id: "1"), to: second)
        await stopped.stop(userId: "user", sessionId: "session")
        finish.open()
        for (stream, reply) in [(one, "re one"), (two, "re two"), (again, "re one")] {
            var events: [AgentEvent] = []
            for try await event in stream { events.append(event) }
            #expect(events.reply?.text == reply)
        }
        await #expect(throws: CancellationError.self) { for try await _ in canceled {} }
        let saved = try await makeStore().all()
        #expect(saved.map(\.text) == ["one", "re one", "two", "re two"])
        #expect(!saved.contains { $0.isInterrupted })
        #expect(given.withLock { $0 } == ["one", "re one"])
    }

    @Test("The turns of several agents that have waited for each other are shown one after the other")
    func agentsInOrder() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = DeviceChatStorage(history: SQLiteHistoryStore(directory: folder), userId: "user")
        let (hasBegun, finish) = (Gate(), Gate())
        let waiting = ScriptedAgent(name: "Waiting") { input, _, say in
            hasBegun.open()
            try await finish.wait()
            say(.textDelta("re \(input.text)"))
        }
        let one = Orchestrator(agents: [waiting], store: store)
            .route("one", userId: "user", sessionId: "session")
        try await hasBegun.wait()
        let others = ["Echo", "Second", "Alpha"].map { name in
            Orchestrator(agents: [ScriptedAgent.echo(name)], store: store)
                .route(.text("to \(name)"), userId: "user", sessionId: "session")
        }
        finish.open()
        for stream in [one] + others { for try await _ in stream {} }
        let shown = try await store.fetchAllChats(userId: "user", sessionId: "session")
        #expect(shown.map(\.role) == (0..<4).flatMap { _ in [Role.user, .assistant] })
    }

    @Test(
        "A full disk throws and keeps the reported turns, and turns continue when space is available",
        .needs(.tinyDisk), .serialized, arguments: [true, false])
    func fullDisk(isHistory: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let disk = try TinyDisk(at: folder, kilobytes: isHistory ? 1024 : 512)
        let store: any ChatStorage =
            isHistory
            ? DeviceChatStorage(history: SQLiteHistoryStore(directory: disk.url), userId: "user")
            : FileChatStorage(baseURL: disk.url)
        let agent = ScriptedAgent { input, _, say in
            for _ in 0..<100 { say(.textDelta("\(input.text) ")) }
        }
        let orchestrator = Orchestrator(agents: [agent], store: store, maxMessages: nil)
        let padding = String(repeating: "x", count: 100)
        var reported: [ConversationMessage] = []
        var failure: (any Error)?
        for number in 0..<200 where failure == nil {
            do {
                let events = try await orchestrator.say(.text("\(number) \(padding)"))
                reported.append(try #require(events.reply))
            } catch {
                failure = error
            }
        }
        #expect((failure as? RecollectError)?.code == .diskFull)
        #expect(reported.count > 2)
        // The part of the reply that arrived while the disk was full may be there, interrupted.
        let before = try await store.all()
        #expect(before.filter { $0.role == .assistant && !$0.isInterrupted } == reported)

        try disk.resize(kilobytes: 4096)
        let next = try #require(try await orchestrator.say("again").reply)
        let saved = try await store.all()
        #expect(saved.filter { $0.role == .assistant && !$0.isInterrupted } == reported + [next])
        #expect(saved.suffix(2).map(\.role) == [.user, .assistant])
        #expect(saved.suffix(2).first?.text == "again")
    }
}
