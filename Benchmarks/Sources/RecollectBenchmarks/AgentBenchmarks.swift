import ArgumentParser
import Foundation
import Recollect

/// An agent with a fixed answer, in one piece or in several.
private struct Speaker: AgentProtocol {
    let name = "Agent"
    let description = "Answers at once."
    let pieces: Int
    /// Created once: the cost of an answer is the agent's, not the orchestrator's.
    private let answer = AgentEvent.final(ConversationMessage(role: .assistant, text: Turn.answer))

    init(pieces: Int) { self.pieces = pieces }

    func process(
        _ input: AgentInput, history: [ConversationMessage], context: AgentContext
    ) -> AsyncThrowingStream<AgentEvent, any Error> {
        AsyncThrowingStream { stream in
            for _ in 0..<pieces { stream.yield(.textDelta("piece ")) }
            if pieces == 0 { stream.yield(answer) }
            stream.finish()
        }
    }
}

/// A turn with an agent that answers immediately. The baseline makes the turn's calls of the store: window, question, reply.
func agentLines(rounds: Int, sessions: Int) async throws -> [Line] {
    let folder = try Folder()
    func history(_ name: String, _ durability: Durability) -> DeviceChatStorage {
        let configuration = HistoryConfiguration(durability: durability)
        return DeviceChatStorage(
            history: SQLiteHistoryStore(
                directory: folder.url.appendingPathComponent(name), configuration: configuration), userId: "bench")
    }
    let stores: [(String, any ChatStorage)] = [
        ("DeviceChatStorage, `.full`", history("full", .full)),
        ("DeviceChatStorage, `.relaxed`", history("relaxed", .relaxed)),
        ("FileChatStorage, `.full`", FileChatStorage(baseURL: folder.url.appendingPathComponent("files"))),
        ("InMemoryChatStorage", InMemoryChatStorage()),
    ]
    var lines: [Line] = []
    for (name, store) in stores {
        let (ours, baseline) = try await turns(over: store, pieces: 0, rounds: rounds)
        lines.append(
            Line(
                "a turn with an agent that answers immediately, \(name); the baseline is its calls of the store", ours,
                baseline,
                stretches: rounds, atMost: 2))
    }
    let (ours, baseline) = try await turns(over: history("streamed", .full), pieces: 20, rounds: rounds)
    lines.append(
        Line(
            "the same, streamed in 20 pieces and saved while streaming, DeviceChatStorage, `.full`", ours, baseline,
            stretches: rounds, atMost: 2))
    return lines + [try streamingLine(sessions: sessions)]
}

private func turns(
    over store: any ChatStorage, pieces: Int, rounds: Int
) async throws -> (ours: Samples, baseline: Samples) {
    let orchestrator = Orchestrator(agents: [Speaker(pieces: pieces)], store: store)
    let budget = ChatStorageDefaults.maxMessages
    func turn() async throws {
        for try await _ in orchestrator.route(.text(Turn.question), userId: "bench", sessionId: "ours") {}
    }
    func calls() async throws {
        let scope = Scope(userId: "bench", sessionId: "baseline", agentId: "agent")
        func save(_ message: ConversationMessage, _ maxMessages: Int?) async throws {
            try await store.save(
                message, userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId,
                maxMessages: maxMessages)
        }
        let window = try await store.fetch(
            userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: budget)
        // The agent keeps its window during the turn, so a store that shares the window must copy it to save.
        defer { withExtendedLifetime(window) {} }
        try await save(ConversationMessage(role: .user, text: Turn.question), nil)
        if pieces > 0 {
            let reply = try await store.beginReply(
                ConversationMessage(role: .assistant, parts: []), userId: scope.userId, sessionId: scope.sessionId,
                agentId: scope.agentId, maxMessages: budget)
            if let reply {
                for _ in 0..<pieces { reply.append("piece ") }
                return try await reply.finish()
            }
        }
        try await save(ConversationMessage(role: .assistant, text: Turn.answer), budget)
    }
    // Both have a full window before the measurement.
    for _ in 0..<budget {
        try await turn()
        try await calls()
    }
    var (ours, baseline) = (Samples(), Samples())
    for _ in 0..<rounds {
        for _ in 0..<25 { ours.add(try await time(turn)) }
        for _ in 0..<25 { baseline.add(try await time(calls)) }
    }
    return (ours, baseline)
}

/// Many sessions streaming at the same time, in several waves and a process of their own: the memory after all waves,
/// compared with the memory after the waves that filled the windows of the sessions.
private func streamingLine(sessions: Int) throws -> Line {
    let folder = try Folder()
    let run = try ChildProcess.run(
        CommandLine.arguments[0], ["stream-once", "--sessions", "\(sessions)", folder.path("history")])
    let reported = run.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    guard reported.count == 3 else { throw ChildProcess.Failure(description: run.output) }
    let growth = Double(reported[1]) / Double(reported[0])
    return Line(
        work:
            "\(sessions) sessions stream a reply of one second concurrently, resident memory after 30 waves; "
            + "the baseline is the memory after 10, p99 the slowest wave",
        ours: megabytes(reported[1]), worst: Line.text(Double(reported[2])), baseline: megabytes(reported[0]),
        ratio: growth,
        target: "≤ 1.1", isMet: growth <= 1.1)
}

/// Waves of sessions streaming at the same time, for a process of its own.
struct StreamOnce: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stream-once",
        abstract:
            "Streams replies in many sessions at once, and prints the memory after the tenth and the last wave, in bytes, and "
            + "the slowest wave's microseconds.",
        shouldDisplay: false)

    /// The number of waves to fill the windows of the sessions and SQLite's caches.
    private static let warming = 10
    private static let budget = 10

    @Option var sessions = 1_000
    @Option var waves = 30
    @Argument var path: String

    func run() async throws {
        let configuration = HistoryConfiguration(durability: .relaxed)
        let history = SQLiteHistoryStore(directory: URL(fileURLWithPath: path), configuration: configuration)
        let orchestrator = Orchestrator(
            agents: [SlowSpeaker()], store: DeviceChatStorage(history: history, userId: "bench"),
            // The agents' input must not grow from wave to wave.
            maxMessages: Self.budget)
        var memory: [Int] = []
        var slowest: UInt64 = 0
        for _ in 0..<max(waves, Self.warming) {
            slowest = max(slowest, try await time { try await wave(of: orchestrator) })
            memory.append(ChildProcess.memory)
        }
        print(memory[Self.warming - 1], memory[memory.count - 1], slowest / 1000)
    }

    private func wave(of orchestrator: Orchestrator) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for session in 0..<sessions {
                group.addTask {
                    for try await _ in orchestrator.route("Go on.", userId: "bench", sessionId: "\(session)") {}
                }
            }
            try await group.waitForAll()
        }
    }
}

/// An agent that sends 50 pieces in a second.
private struct SlowSpeaker: AgentProtocol {
    let name = "Agent"
    let description = "Takes its time."

    func process(
        _ input: AgentInput, history: [ConversationMessage], context: AgentContext
    ) -> AsyncThrowingStream<AgentEvent, any Error> {
        AsyncThrowingStream { stream in
            let task = Task {
                for _ in 0..<50 {
                    stream.yield(.textDelta("a piece of a reply, "))
                    try await Task.sleep(for: .milliseconds(20))
                }
                stream.finish()
            }
            stream.onTermination = { _ in task.cancel() }
        }
    }
}
