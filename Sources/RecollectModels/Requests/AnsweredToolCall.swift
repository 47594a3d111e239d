#if Models
    import RecollectCore

    /// A tool call with its result, as chat-completions servers take them.
    ///
    /// They refuse names with other characters than letters, digits, `_` and `-`, and arguments that are no object, whoever wrote
    /// them: a call that once went wrong must not keep the conversation from going on.
    struct AnsweredToolCall {
        let id: String
        let name: String
        let arguments: JSONValue
        let result: JSONValue

        /// The call, an element of `tool_calls`.
        var json: JSONValue {
            [
                "id": .string(id), "type": "function",
                "function": ["name": .string(acceptedName), "arguments": .string(acceptedArguments.jsonString)],
            ]
        }

        /// The message of its result.
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
#endif
