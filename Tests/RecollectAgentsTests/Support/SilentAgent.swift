import RecollectAgents
import RecollectCore

/// An agent for classifiers to choose: it has a name and a description, and emits nothing.
struct SilentAgent: AgentProtocol {
    var id: String
    let name: String
    let description: String

    init(_ name: String, _ description: String, id: String? = nil) {
        self.id = id ?? name.slug
        self.name = name
        self.description = description
    }

    func process(
        _ input: AgentInput, history: [ConversationMessage], context: AgentContext
    ) -> AsyncThrowingStream<AgentEvent, any Error> {
        AsyncThrowingStream { $0.finish() }
    }
}
