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

/// `turns PLACE COUNT…`: turns of user `u` in session `s` with an agent that counts as far as told, a turn for each; says `piece N` for every
/// number and `kept TEXT` after each turn.
func turns(_ arguments: [String]) async throws {
    let orchestrator = Orchestrator(agents: [Counter()], store: store(at: arguments[0], sameRole: .drop))
    for count in arguments.dropFirst() {
        for try await event in orchestrator.route(.text(count), userId: "u", sessionId: "s") {
            switch event {
            case .textDelta(let piece): say("piece \(piece)")
            case .final(let reply): say("kept \(reply.text)")
            default: break
            }
        }
    }
}
