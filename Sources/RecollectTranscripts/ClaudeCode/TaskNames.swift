import RecollectCore

/// The names of sub-agents: the descriptions of the tasks given to them, from the calls that started them.
struct TaskNames {
    /// The names by agent ID.
    private(set) var agentNames: [String: String] = [:]
    /// The descriptions by the ID of the call.
    private var descriptions: [String: String] = [:]
    private static let tools: Set<String> = ["Task", "Agent"]

    /// Adds a message of an agent. The result of a call names the sub-agent, and so does each line about its progress.
    mutating func note(_ message: ConversationMessage, of agentId: String) {
        for part in message.parts {
            switch part {
            case .toolCall(let id, let name, let arguments) where Self.tools.contains(name):
                let description = [arguments["description"], arguments["subagent_type"]].lazy
                    .compactMap { $0?.stringValue?.singleLine }.first { !$0.isEmpty }
                descriptions[id] = description.map { String($0.prefix(200)) }
            case .toolResult(let id, _):
                let result = message.metadata[ClaudeCodeLine.Name.others]?["toolUseResult"]
                set(result?["agentId"]?.stringValue, from: id)
            default: break
            }
        }
        set(agentId, from: message.metadata[ClaudeCodeLine.Name.taskCallId]?.stringValue)
    }

    /// Adds the name of a sub-agent from the call that started it. The first one stays.
    mutating func set(_ agentId: String?, from call: String?) {
        guard let agentId, agentNames[agentId] == nil, let name = call.flatMap({ descriptions[$0] }) else { return }
        agentNames[agentId] = name
    }
}
