import RecollectAgents
import RecollectCore

/// The body of a chat-completions request.
enum ChatCompletionsRequest {
    /// Returns the body.
    /// - Parameters:
    ///   - request: The request.
    ///   - model: The model's name.
    ///   - asksForUsage: Whether to request the token usage at the end of the stream.
    ///   - extra: Members to add or replace; `null` removes one.
    static func body(
        _ request: LLMRequest, model: String, asksForUsage: Bool, extra: [String: JSONValue]
    ) -> [String: JSONValue] {
        var body: [String: JSONValue] = [
            "model": .string(model), "stream": true,
            "messages": .array(ChatCompletionsMessages.map(request.messages, system: request.system)),
        ]
        if asksForUsage { body["stream_options"] = ["include_usage": true] }
        if !request.tools.isEmpty {
            body["tools"] = .array(request.tools.map(\.json))
            body["tool_choice"] = request.toolChoice.json
        }
        for (name, value) in extra { body[name] = value == .null ? nil : value }
        return body
    }
}

extension AgentTool {
    fileprivate var json: JSONValue {
        [
            "type": "function",
            "function": [
                "name": .string(name), "description": .string(description), "parameters": inputSchema,
            ],
        ]
    }
}

extension LLMRequest.ToolChoice {
    /// The value of `tool_choice`; `nil` for the server's default.
    fileprivate var json: JSONValue? {
        switch self {
        case .automatic: nil
        case .none: "none"
        case .required: "required"
        case .tool(let name): ["type": "function", "function": ["name": .string(name)]]
        }
    }
}
