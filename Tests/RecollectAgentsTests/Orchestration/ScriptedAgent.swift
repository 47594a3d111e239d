import Foundation
import RecollectAgents
import RecollectCore

/// An agent that does what a test tells it.
struct ScriptedAgent: AgentProtocol {
    typealias Script =
        @Sendable (
            _ input: AgentInput, _ history: [ConversationMessage], _ say: @Sendable (AgentEvent) -> Void
        ) async throws -> Void

    var name = "Agent"
    var description = ""
    var saveChat = true
    let script: Script

    func process(
        _ input: AgentInput, history: [ConversationMessage], context: AgentContext
    ) -> AsyncThrowingStream<AgentEvent, any Error> {
        AsyncThrowingStream { stream in
            let task = Task {
                do {
                    try await script(input, history) { stream.yield($0) }
                    stream.finish()
                } catch {
                    stream.finish(throwing: error)
                }
            }
            stream.onTermination = { _ in task.cancel() }
        }
    }

    /// Says what it was asked.
    static func echo(_ name: String = "Agent") -> ScriptedAgent {
        ScriptedAgent(name: name) { input, _, say in
            say(.textDelta("You said: "))
            say(.textDelta(input.text))
        }
    }

    /// Says some pieces, tells that it has, and goes on only when it is cancelled.
    static func hanging(after pieces: [AgentEvent], reached: Gate, name: String = "Agent") -> ScriptedAgent {
        ScriptedAgent(name: name) { _, _, say in
            pieces.forEach(say)
            await reached.open()
            try await Gate().wait()
        }
    }
}

/// What one part of a test waits at until another opens it; waiting ends when the task is cancelled.
actor Gate {
    private var isOpen = false
    private var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    private var count = 0

    func open() {
        isOpen = true
        waiting.values.forEach { $0.resume() }
        waiting = [:]
    }

    func wait() async throws {
        count += 1
        let number = count
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if isOpen {
                    continuation.resume()
                } else if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    waiting[number] = continuation
                }
            }
        } onCancel: {
            Task { await self.cancel(number) }
        }
    }

    private func cancel(_ number: Int) {
        waiting.removeValue(forKey: number)?.resume(throwing: CancellationError())
    }
}

struct Failure: Error, Equatable {}

extension Orchestrator {
    /// Runs a turn of the one user in the one session to its end.
    @discardableResult
    func say(_ input: AgentInput, session: String = "session") async throws -> [AgentEvent] {
        var events: [AgentEvent] = []
        for try await event in route(input, userId: "user", sessionId: session) { events.append(event) }
        return events
    }

    /// Runs a turn, and tells who answered.
    func answerer(of input: AgentInput) async throws -> String? {
        try await say(input).announced?.agentId
    }
}

extension [AgentEvent] {
    /// The reply as it was told to be kept.
    var reply: ConversationMessage? {
        for case .final(let message) in self { return message }
        return nil
    }

    var announced: AgentReply? {
        for case .began(let reply) in self { return reply }
        return nil
    }
}
