import RecollectAgents
import RecollectCore

extension AgentProtocol {
    /// Everything that the agent does in a turn.
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
    /// The whole reply, if it is last.
    var reply: ConversationMessage? {
        if case .final(let message) = last { return message }
        return nil
    }

    /// What the user is told besides.
    var errors: [String] {
        compactMap { if case .error(let message) = $0 { message } else { nil } }
    }

    /// The contents of the tools' results.
    var results: [JSONValue] {
        compactMap { if case .toolResult(_, let content) = $0 { content } else { nil } }
    }

    /// The parts that the pieces make, pieces of one kind not yet joined.
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
