import Foundation
import RecollectCore
import RecollectFileSystem

/// The reply of a turn: one message, growing over the rounds.
struct AgentTurnReply {
    var message = ConversationMessage(role: .assistant, parts: [])
    private var callIds: Set<String>

    /// Creates an empty reply.
    /// - Parameter history: The history. Call IDs in it are not used again in the reply.
    init(history: [ConversationMessage]) {
        callIds = []
        for message in history {
            for case .toolCall(let id, _, _) in message.parts { callIds.insert(id) }
        }
    }

    // A growing part is first removed from the array: with two owners, its text would be copied for each piece.

    mutating func think(_ text: String) {
        if case .thinking? = message.parts.last, case .thinking(var begun, let signature)? = message.parts.popLast() {
            begun += text
            message.parts.append(.thinking(begun, signature: signature))
        } else {
            message.parts.append(.thinking(text, signature: nil))
        }
    }

    mutating func say(_ text: String) {
        if case .text? = message.parts.last, case .text(var begun)? = message.parts.popLast() {
            begun += text
            message.parts.append(.text(begun))
        } else {
            message.parts.append(.text(text))
        }
    }

    /// Adds a call. It gets a new ID if its own is empty or already used.
    mutating func call(id: String, name: String, arguments: JSONValue) -> ToolCall {
        var id = id
        if id.isEmpty || !callIds.insert(id).inserted {
            id = "call_" + UUID.random().uuidString.filter { $0 != "-" }.lowercased()
            callIds.insert(id)
        }
        let call = ToolCall(id: id, name: name, arguments: arguments.fromOutside)
        message.parts.append(.toolCall(id: id, name: name, arguments: call.arguments))
        return call
    }

    mutating func add(result: JSONValue, of call: ToolCall) {
        message.parts.append(.toolResult(id: call.id, content: result))
    }

    /// Adds the usage of a round, and the model's name.
    mutating func add(_ completion: LLMCompletion) {
        message.model = completion.model ?? message.model
        if let usage = completion.usage {
            message.usage = (message.usage ?? TokenUsage()) + usage
        }
    }
}
