import RecollectCore

/// A tool call with its result, in the form accepted by chat-completions servers.
///
/// Servers refuse names over 64 characters or with characters other than ASCII letters, digits, `_` and `-`,
/// and arguments other than an object. Such a call in the history must not prevent further turns.
struct AnsweredToolCall {
    let id: String
    let name: String
    let arguments: JSONValue
    let result: JSONValue

    /// The call, as an element of `tool_calls`.
    var json: JSONValue {
        [
            "id": .string(id), "type": "function",
            "function": ["name": .string(acceptedName), "arguments": .string(acceptedArguments.jsonString)],
        ]
    }

    /// The message with the result.
    var resultMessage: JSONValue {
        [
            "role": "tool", "tool_call_id": .string(id),
            "content": .string(result.stringValue ?? result.jsonString),
        ]
    }

    private var acceptedName: String {
        let accepted = name.unicodeScalars.prefix(64).map { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_", "-": Character(scalar)
            default: Character("_")
            }
        }
        return accepted.isEmpty ? "unnamed" : String(accepted)
    }

    private var acceptedArguments: JSONValue {
        switch arguments {
        case .object: arguments
        case .null: [:]
        default: ["arguments": arguments]
        }
    }
}
