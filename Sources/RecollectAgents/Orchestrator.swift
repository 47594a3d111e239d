import RecollectCore

/// Placeholder until the turn is written.
public final class Orchestrator: Sendable {
    /// Makes an orchestrator.
    public init(
        agents: [any AgentProtocol], classifier: (any Classifier)? = nil, store: (any ChatStorage)?,
        maxMessages: Int? = ChatStorageDefaults.maxMessages
    ) {}

    /// Runs a turn.
    public func route(
        _ input: AgentInput, userId: String, sessionId: String, params: [String: JSONValue] = [:]
    ) -> AsyncThrowingStream<AgentEvent, any Error> {
        AsyncThrowingStream { $0.finish() }
    }

    /// Stops a session's turn and returns when what was said is kept.
    public func stop(userId: String, sessionId: String) async {}

    /// Waits until no turn runs.
    public func waitUntilIdle() async {}
}
