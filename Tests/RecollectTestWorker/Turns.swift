import Foundation
import RecollectAgents
import RecollectCore

/// Counts aloud, a number every 5 milliseconds, up to what it is asked for.
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

/// `turns PLACE ROLES COUNT…`: turns of user `u` in session `s` with an agent that counts as far as told, a turn for each, over a store that
/// drops or keeps repeated roles (`drop`, `keep`); says `piece N` for every number and `kept TEXT` after each turn.
func turns(_ arguments: [String]) async throws {
    let store = store(at: arguments[0], sameRole: SameRole(rawValue: arguments[1]))
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
