import RecollectAgents
import RecollectCore

extension AgentProtocol {
    /// All events of the agent in a turn.
    func run(_ input: AgentInput, history: [ConversationMessage] = []) async throws -> [AgentEvent] {
        var events: [AgentEvent] = []
        for try await event in process(input, history: history, context: .test) { events.append(event) }
        return events
    }
}

extension AgentContext {
    static let test = AgentContext(userId: "ada", sessionId: "today")
}

extension [AgentEvent] {
    /// The messages of the error events.
    var errors: [String] {
        compactMap { if case .error(let message) = $0 { message } else { nil } }
    }

    /// The contents of the tools' results.
    var results: [JSONValue] {
        compactMap { if case .toolResult(_, let content) = $0 { content } else { nil } }
    }

    /// The parts that the pieces make, before pieces of one kind are joined.
    var pieces: [ContentPart] {
        compactMap { event in
            switch event {
            case .thinking(let text): .thinking(text, signature: nil)
            case .textDelta(let text): .text(text)
            case .toolCall(let id, let name, let arguments): .toolCall(id: id, name: name, arguments: arguments)
            case .toolResult(let id, let content): .toolResult(id: id, content: content)
            case .began, .final, .error: nil
            }
        }
    }
}
