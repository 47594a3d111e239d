import RecollectCore

/// The request of `LLMClassifier` to its model, and the parsing of the answer.
struct ClassifierRequest {
    static let toolName = "select_agent"

    private let input: String
    private let history: [ConversationMessage]
    private let choices: [(name: String, agent: any AgentProtocol)]

    init(input: String, history: [ConversationMessage], agents: [any AgentProtocol]) {
        self.input = input
        self.history = history
        // Servers refuse empty or repeated choices.
        var taken = Set(agents.map(\.id))
        var offered: Set<String> = []
        choices = agents.enumerated().map { index, agent in
            var name = agent.id
            if name.isEmpty || offered.contains(name) {
                name = "agent-\(index + 1)"
                while taken.contains(name) { name += "-" }
                taken.insert(name)
            }
            offered.insert(name)
            return (name, agent)
        }
    }

    func request(instructions: String) -> LLMRequest {
        let list = choices.map { "- \($0.name): \($0.agent.name). \($0.agent.description)" }.joined(separator: "\n")
        return LLMRequest(
            system: "\(instructions)\n\nThe agents:\n\(list)",
            messages: [ConversationMessage(role: .user, text: session)],
            tools: [tool], toolChoice: .tool(Self.toolName))
    }

    /// Returns the choice in the arguments of the tool call; `nil` without a valid one.
    func answer(_ arguments: JSONValue) -> ClassifierResult? {
        guard let name = arguments["agent"]?.stringValue,
            let choice = choices.first(where: { $0.name == name })
        else { return nil }
        // A missing confidence counts as 0.5.
        let confidence = arguments["confidence"]?.doubleValue ?? 0.5
        return ClassifierResult(selectedAgent: choice.agent, confidence: min(1, max(0, confidence)))
    }

    private var tool: AgentTool {
        AgentTool(
            name: Self.toolName, description: "Selects the agent to answer the user's new message.",
            inputSchema: [
                "type": "object",
                "properties": [
                    "agent": [
                        "type": "string", "enum": .array(choices.map { .string($0.name) }),
                        "description": "The agent. Omit it if no agent fits.",
                    ],
                    "confidence": [
                        "type": "number", "minimum": 0, "maximum": 1, "description": "Your confidence, from 0 to 1.",
                    ],
                ],
                "required": ["confidence"],
            ]
        ) { _, _ in .text("") }
    }

    /// The messages of the session, as one message of the role `user`: the model must choose an agent, not continue
    /// the session.
    private var session: String {
        let lines = history.suffix(LLMClassifier.messageLimit).compactMap { message -> String? in
            let text = message.text.firstBytes(LLMClassifier.messageByteLimit)
            switch message.role {
            case .user: return text.isEmpty ? nil : "User: \(text)"
            case .assistant: return text.isEmpty ? nil : text
            default: return nil
            }
        }
        let before = lines.isEmpty ? "" : "The conversation so far:\n\(lines.joined(separator: "\n"))\n\n"
        return "\(before)The user's new message:\n\(input.firstBytes(LLMClassifier.inputByteLimit))"
    }
}
