import Foundation
import RecollectCore

/// The reply of a turn as it grows over the rounds: one message.
struct AgentTurnReply {
    var message = ConversationMessage(role: .assistant, parts: [])
    private var callIds: Set<String>

    /// - Parameter history: what the ids of the reply's calls must differ from.
    init(history: [ConversationMessage]) {
        callIds = []
        for message in history {
            for case .toolCall(let id, _, _) in message.parts { callIds.insert(id) }
        }
    }

    // A part is taken out while it grows: with two owners its text would be copied for each piece.

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

    /// Adds a call, under an id that no other call has.
    mutating func call(id: String, name: String, arguments: JSONValue) -> ToolCall {
        var id = id
        if id.isEmpty || !callIds.insert(id).inserted {
            id = "call_" + UUID().uuidString.filter { $0 != "-" }.lowercased()
            callIds.insert(id)
        }
        let call = ToolCall(id: id, name: name, arguments: arguments.fromOutside)
        message.parts.append(.toolCall(id: id, name: name, arguments: call.arguments))
        return call
    }

    mutating func add(result: JSONValue, of call: ToolCall) {
        message.parts.append(.toolResult(id: call.id, content: result))
    }

    /// Adds what a round took.
    mutating func add(_ completion: LLMCompletion) {
        message.model = completion.model ?? message.model
        if let usage = completion.usage {
            message.usage = (message.usage ?? TokenUsage()) + usage
        }
    }
}
