import Foundation
import RecollectAgents
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@Suite("Turns canceled during store calls")
struct CanceledTurnTests {
    private static let names = ["One", "Two"]

    /// An agent whose reply calls a tool, so that no rule drops it when it is saved twice.
    private static func orchestrator(over store: any ChatStorage) -> Orchestrator {
        let agents = names.map { name in
            ScriptedAgent(name: name) { input, _, say in
                say(.toolCall(id: "call \(input.text)", name: "tool", arguments: [:]))
                say(.toolResult(id: "call \(input.text)", content: "done"))
                say(.textDelta("to \(input.text)"))
            }
        }
        return Orchestrator(agents: agents, classifier: ByFirstWord(), store: store)
    }

    /// Runs a turn whose listener leaves at the given call of the store; returns the received events, and whether the
    /// turn reached that call.
    private func turn(
        over store: PausingStorage, canceledAt point: Int, input: AgentInput
    ) async throws -> (heard: [AgentEvent], isReached: Bool) {
        let heard = Locked<[AgentEvent]>([])
        let go = Gate()
        let orchestrator = Self.orchestrator(over: store)
        let listener = Task {
            try await go.wait()
            for try await event in orchestrator.route(input, userId: "user", sessionId: "session") {
                heard.withLock { $0.append(event) }
            }
        }
        let reached = Locked(false)
        store.pause(at: point) {
            // When the listener has ended, its stream has canceled the turn.
            listener.cancel()
            _ = await listener.result
            reached.withLock { $0 = true }
        }
        go.open()
        _ = await listener.result
        await orchestrator.waitUntilIdle()
        store.pause(at: nil) {}
        return (heard.withLock { $0 }, reached.withLock { $0 })
    }

    @Test(
        "A turn canceled at any store call saves its input and reply once or not at all, and the next turn works",
        arguments: [AnyStore.fourMethods, .memory, .file, .deviceInMemory], [true, false])
    func everywhere(_ kind: AnyStore, throwsThen: Bool) async throws {
        for hasOrphan in [true, false] {
            for point in 0... {
                var isReached = true
                try await kind.with { below, _ in
                    if hasOrphan {
                        try await below.save(
                            ConversationMessage(role: .user, text: "orphan"), userId: "user", sessionId: "session",
                            agentId: "two", maxMessages: nil)
                    }
                    let store = PausingStorage.over(below, throwsWhereCancelled: throwsThen)
                    let result = try await turn(over: store, canceledAt: point, input: .text("two first", id: "first"))
                    isReached = result.isReached
                    let saved = try await below.all("two") + below.all("one")
                    let turn = saved.drop {
                        $0.text == "orphan"
                            || ($0.isInterrupted && saved.first?.text == "orphan" && $0.id == saved[1].id)
                    }
                    let what = Comment(rawValue: "\(point): \(saved)")
                    #expect(turn.map(\.role) == (turn.isEmpty ? [] : [.user, .assistant]), what)
                    #expect(result.heard.isEmpty || turn.first?.text == "two first", what)
                    #expect(!turn.isEmpty || result.heard.isEmpty, what)

                    try await Self.orchestrator(over: below).say("two second")
                    let after = try await below.all("two")
                    #expect(after.suffix(2).map(\.text) == ["two second", "to two second"], what)
                    #expect(zip(after, after.dropFirst()).allSatisfy { $0.role != $1.role }, "\(point): \(after)")
                }
                if !isReached {
                    // Before and after each call: session, window, input, its check, reply.
                    // A streaming reply ends by itself.
                    #expect(point >= 9)
                    break
                }
            }
        }
    }

    @Test(
        "A save that succeeds but throws stores the turn once, also when the input is sent again",
        arguments: [AnyStore.fourMethods, .memory, .file, .deviceInMemory], 0..<12)
    func unknownResult(_ kind: AnyStore, point: Int) async throws {
        try await kind.with { below, _ in
            let store = PausingStorage.over(below, throwsWhereCancelled: false)
            store.pause(at: point) { throw Failure() }
            _ = try? await Self.orchestrator(over: store).say(.text("two first", id: "first"))
            store.pause(at: nil) {}
            try await Self.orchestrator(over: store).say(.text("two first", id: "first"))
            let saved = try await below.all("two")
            #expect(saved.map(\.text) == ["two first", "to two first"])
        }
    }
}

/// Wraps another store with a pause point before and after each call. A canceled call may throw at such a point, as a
/// client of a server does although the server has completed the request.
final class PausingStorage: ChatStorage {
    private struct State {
        var point: Int?
        var count = 0
        var body: @Sendable () async throws -> Void = {}
    }

    private let state = Locked(State())
    fileprivate let below: any ChatStorage
    private let throwsWhereCancelled: Bool

    static func over(_ below: any ChatStorage, throwsWhereCancelled: Bool) -> PausingStorage {
        PausingStorage(below, throwsWhereCancelled)
    }

    fileprivate init(_ below: any ChatStorage, _ throwsWhereCancelled: Bool) {
        self.below = below
        self.throwsWhereCancelled = throwsWhereCancelled
    }

    /// Runs a body at one of the pause points, counted from now.
    func pause(at point: Int?, _ body: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0 = State(point: point, body: body) }
    }

    fileprivate func call<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        try await pass()
        let value = try await work()
        try await pass()
        return value
    }

    fileprivate func pass() async throws {
        let body = state.withLock { state in
            state.count += 1
            return state.point == state.count - 1 ? state.body : nil
        }
        try await body?()
        if throwsWhereCancelled, Task.isCancelled { throw URLError(.cancelled) }
    }

    func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        try await call {
            try await below.fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }
    }

    func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await call {
            try await below.save(
                message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }
    }

    func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await call {
            try await below.saveMessages(
                messages, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }
    }

    func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await call { try await below.fetchAllChats(userId: userId, sessionId: sessionId) }
    }

    func beginReply(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> StreamingReply? {
        // A call that throws has begun no reply.
        try await pass()
        return try await below.beginReply(
            message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func streamingReplies(userId: String, sessionId: String) async throws -> [AgentMessage] {
        try await below.streamingReplies(userId: userId, sessionId: sessionId)
    }

    func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        try await below.version(userId: userId, sessionId: sessionId)
    }
}
