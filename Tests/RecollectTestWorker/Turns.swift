import Foundation
import RecollectAgents
import RecollectCore

/// Streams numbers up to its input, one every 5 milliseconds.
private struct Counter: AgentProtocol {
    let name = "Agent"
    let description = "Counts."

    func process(
        _ input: AgentInput, history: [ConversationMessage], context: AgentContext
    ) -> AsyncThrowingStream<AgentEvent, any Error> {
        AsyncThrowingStream { stream in
            let task = Task {
                stream.yield(.toolCall(id: "call", name: "count", arguments: [:]))
                stream.yield(.toolResult(id: "call", content: "begin"))
                for number in 0..<(Int(input.text) ?? 0) {
                    stream.yield(.textDelta("\(number) "))
                    try await Task.sleep(for: .milliseconds(5))
                }
                stream.finish()
            }
            stream.onTermination = { _ in task.cancel() }
        }
    }
}

/// `turns STORE ROLES COUNT…`: runs a turn of user `u` in session `s` for each COUNT, with an agent that counts up to
/// it, over a store that drops or keeps repeated roles (`drop`, `keep`). Prints `piece N` for each number and `kept
/// TEXT` after each turn.
func turns(_ arguments: [String]) async throws {
    let store = store(at: arguments[0], sameRole: SameRolePolicy(rawValue: arguments[1]))
    let orchestrator = Orchestrator(agents: [Counter()], store: store, maxMessages: nil)
    for count in arguments.dropFirst(2) {
        for try await event in orchestrator.route(.text(count), userId: "u", sessionId: "s") {
            switch event {
            case .textDelta(let piece): say("piece \(piece)")
            case .final(let reply): say("kept \(reply.text)")
            default: break
            }
        }
    }
}
