import Foundation
import RecollectAgents
import RecollectCore
import RecollectTestSupport

/// An agent that runs a script of the test.
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

    /// Repeats the input.
    static func echo(_ name: String = "Agent") -> ScriptedAgent {
        ScriptedAgent(name: name) { input, _, say in
            say(.textDelta("You said: "))
            say(.textDelta(input.text))
        }
    }

    /// Emits some pieces, opens the gate `reached`, and continues only when it is canceled.
    static func hanging(after pieces: [AgentEvent], reached: Gate, name: String = "Agent") -> ScriptedAgent {
        ScriptedAgent(name: name) { _, _, say in
            pieces.forEach(say)
            reached.open()
            try await Gate().wait()
        }
    }
}

struct Failure: Error, Equatable {}

extension Orchestrator {
    /// Runs a turn, and returns the ID of the replying agent.
    func answerer(of input: AgentInput) async throws -> String? {
        try await say(input).announced?.agentId
    }
}

extension [AgentEvent] {
    var announced: AgentReply? {
        for case .began(let reply) in self { return reply }
        return nil
    }
}
