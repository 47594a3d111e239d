import RecollectCore

/// Chooses the agent for an input.
public protocol Classifier: Sendable {
    /// Chooses one of the agents, or none. With none, the first agent replies.
    /// - Parameters:
    ///   - input: The text of the user's new message.
    ///   - history: The messages of the session with all its agents, as returned by `ChatStorage.fetchAllChats`:
    ///     the text of an agent's message begins with `[agentId] `.
    ///   - agents: The available agents, the default one first.
    /// - Throws: Any error preventing the choice; the turn then throws it.
    func classify(
        _ input: String, history: [ConversationMessage], agents: [any AgentProtocol]
    ) async throws -> ClassifierResult
}

/// The choice of a classifier.
public struct ClassifierResult: Sendable {
    /// The chosen agent, one of the available ones; `nil` if none is suitable.
    public let selectedAgent: (any AgentProtocol)?
    /// The confidence in the choice, from 0 to 1. The orchestrator ignores it: a classifier with a threshold
    /// applies it itself.
    public let confidence: Double

    /// Creates a result.
    public init(selectedAgent: (any AgentProtocol)?, confidence: Double) {
        self.selectedAgent = selectedAgent
        self.confidence = confidence
    }
}
