import RecollectAgents
import RecollectCore

extension Orchestrator {
    /// Runs a turn of user `user` to its end, and returns its events.
    @discardableResult
    package func say(_ input: AgentInput, session: String = "session") async throws -> [AgentEvent] {
        var events: [AgentEvent] = []
        for try await event in route(input, userId: "user", sessionId: session) { events.append(event) }
        return events
    }
}

extension [AgentEvent] {
    /// The saved reply.
    package var reply: ConversationMessage? {
        for case .final(let message) in self { return message }
        return nil
    }
}

extension ChatStorage {
    /// Returns all messages of user `user` with an agent in a session.
    package func all(_ agentId: String = "agent", session: String = "session") async throws -> [ConversationMessage] {
        try await fetch(userId: "user", sessionId: session, agentId: agentId, maxMessages: nil)
    }
}
