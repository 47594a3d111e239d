import RecollectCore

/// Chooses the agent that answers a turn.
public protocol Classifier: Sendable {
    /// Chooses one of `agents`, or none: then the first of them answers.
    /// - Parameters:
    ///   - input: what the user says now.
    ///   - history: the session so far with all its agents, as `ChatStorage.fetchAllChats` gives it: what an agent said begins
    ///     with `[agentId] `.
    ///   - agents: those there are to choose from, the default one first.
    /// - Throws: what keeps it from choosing; the turn fails with it.
    func classify(
        _ input: String, history: [ConversationMessage], agents: [any AgentProtocol]
    ) async throws -> ClassifierResult
}

/// What a classifier chose.
public struct ClassifierResult: Sendable {
    /// One of the agents that it was given; `nil` if none fits.
    public let selectedAgent: (any AgentProtocol)?
    /// How sure it is, from 0 to 1. The orchestrator does not ask; a classifier that wants a threshold keeps it itself.
    public let confidence: Double

    /// Makes a result.
    public init(selectedAgent: (any AgentProtocol)?, confidence: Double) {
        self.selectedAgent = selectedAgent
        self.confidence = confidence
    }
}
