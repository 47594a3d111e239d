import Foundation
import RecollectCore

/// Converts a history to the messages of a chat-completions request, in an order accepted by servers.
///
/// A message with text, calls, results and more text becomes several messages. Consecutive calls are in one
/// message, directly followed by their results, wherever these are in the history. Incomplete tool exchanges,
/// reasoning, unknown parts and empty messages are omitted.
struct ChatCompletionsMessages {
    /// The text at the end of an interrupted reply, for the model.
    static let interruption = "[This reply was interrupted.]"
    /// The text in place of an interrupted reply without content. Another process may still be writing the reply.
    static let missingReply = "[No reply.]"

    private(set) var messages: [JSONValue] = []

    private let results: [PartPosition: JSONValue]
    private var role = Role.user
    /// The prefix of the next text.
    private var speaker = ""
    private var content: [Content] = []
    private var calls: [AnsweredToolCall] = []
    private var usedIds: Set<String> = [""]

    private enum Content {
        case text(String)
        case image(url: String)
    }

    /// Returns the messages for a history, after a system message if there is one.
    static func map(_ history: [ConversationMessage], system: String? = nil) -> [JSONValue] {
        let whole = history.wholeExchanges()
        var mapping = ChatCompletionsMessages(results: ToolResultPairs.results(of: whole))
        if let system, !system.isEmpty {
            mapping.messages.append(["role": "system", "content": .string(system)])
        }
        for (index, message) in whole.enumerated() { mapping.add(message, at: index) }
        return mapping.messages
    }

    private init(results: [PartPosition: JSONValue]) {
        self.results = results
    }

    private mutating func add(_ message: ConversationMessage, at index: Int) {
        begin(message.role)
        for (partIndex, part) in message.parts.enumerated() {
            switch part {
            case .text(let text), .audioTranscript(let text):
                if !calls.isEmpty { flush() }
                add(text: text)
            case .attachment(let attachment):
                if !calls.isEmpty { flush() }
                add(attachment)
            case .toolCall(let id, let name, let arguments):
                if role != .assistant, !content.isEmpty { flush() }
                let position = PartPosition(message: index, part: partIndex)
                guard let result = results[position] else { continue }
                calls.append(AnsweredToolCall(id: unused(id), name: name, arguments: arguments, result: result))
            case .toolResult:
                // The result is already placed after its call.
                flush()
            case .thinking, .unknown:
                continue
            }
        }
        if message.isInterrupted, message.role == .assistant {
            if !calls.isEmpty { flush() }
            let note = message.parts.isEmpty ? Self.missingReply : Self.interruption
            content.append(.text(content.isEmpty ? note : "\n\n" + note))
        }
        flush()
    }

    /// Begins a message. Servers support four roles, and `tool` only for results. A message with another role
    /// is sent as a user's, with its role as a prefix.
    private mutating func begin(_ role: Role) {
        switch role {
        case .user, .assistant, .system: self.role = role
        default: self.role = .user
        }
        speaker = self.role == role || role.rawValue.isEmpty ? "" : "[\(role.rawValue)] "
    }

    private mutating func add(text: String) {
        guard !text.isEmpty else { return }
        content.append(.text(speaker + text))
        speaker = ""
    }

    private mutating func add(_ attachment: Attachment) {
        if role == .user, attachment.mediaType.lowercased().hasPrefix("image/") {
            switch attachment.content {
            case .inline(let bytes):
                let url = "data:\(attachment.mediaType);base64,\(bytes.base64EncodedString())"
                return content.append(.image(url: url))
            case .remote(let url):
                return content.append(.image(url: url))
            case .stored: break
            }
        }
        let name = attachment.name.map { "\($0), " } ?? ""
        add(text: "[Attachment not shown: \(name)\(attachment.mediaType)]")
    }

    /// Returns an ID not used by another call of the request: the given one if it is free.
    private mutating func unused(_ id: String) -> String {
        var candidate = id
        var number = usedIds.count
        while !usedIds.insert(candidate).inserted {
            candidate = "call_\(number)"
            number += 1
        }
        return candidate
    }

    /// Ends the current message: appends its content, its calls and their results.
    private mutating func flush() {
        defer {
            content = []
            calls = []
        }
        guard !calls.isEmpty else {
            guard !content.isEmpty else { return }
            return messages.append(["role": .string(role.rawValue), "content": contentValue])
        }
        let isAssistant = role == .assistant
        if !isAssistant, !content.isEmpty {
            messages.append(["role": .string(role.rawValue), "content": contentValue])
        }
        messages.append([
            "role": "assistant",
            "content": isAssistant && !content.isEmpty ? contentValue : .null,
            "tool_calls": .array(calls.map(\.json)),
        ])
        messages += calls.map(\.resultMessage)
    }

    /// The content: a string, or an array if there are images. Not every server accepts an array.
    private var contentValue: JSONValue {
        let texts = content.compactMap { content in
            if case .text(let text) = content { return text }
            return nil
        }
        guard texts.count < content.count else { return .string(texts.joined()) }
        return .array(
            content.map { content in
                switch content {
                case .text(let text): ["type": "text", "text": .string(text)]
                case .image(let url): ["type": "image_url", "image_url": ["url": .string(url)]]
                }
            })
    }
}
