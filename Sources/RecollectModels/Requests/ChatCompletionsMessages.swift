#if Models
    import Foundation
    import RecollectCore

    /// Turns a history into the messages of a chat-completions request, in an order that servers accept.
    ///
    /// A message whose parts are prose, calls, results and prose again becomes several. Calls that follow each other stand in one
    /// message, and right behind it stand their results, wherever the history has them. Halves of exchanges, reasoning, parts
    /// that nobody knows and messages that say nothing are left out.
    struct ChatCompletionsMessages {
        /// What an interrupted reply ends with, for the model.
        static let interruption = "[This reply was interrupted.]"

        private(set) var messages: [JSONValue] = []

        private let results: [PartPlace: JSONValue]
        private var role = Role.user
        /// What stands before the next prose.
        private var speaker = ""
        private var content: [Content] = []
        private var calls: [Call] = []
        private var usedIds: Set<String> = [""]

        private enum Content {
            case text(String)
            case image(url: String)
        }

        private struct Call {
            let id: String
            let name: String
            let arguments: JSONValue
            let result: JSONValue
        }

        /// Maps a history.
        static func map(_ history: [ConversationMessage], system: String? = nil) -> [JSONValue] {
            let whole = history.wholeExchanges()
            var mapping = ChatCompletionsMessages(results: ToolResultPairs.results(of: whole))
            if let system, !system.isEmpty {
                mapping.messages.append(["role": "system", "content": .string(system)])
            }
            for (index, message) in whole.enumerated() { mapping.add(message, at: index) }
            return mapping.messages
        }

        private init(results: [PartPlace: JSONValue]) {
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
                    let place = PartPlace(message: index, part: partIndex)
                    guard let result = results[place] else { continue }
                    calls.append(Call(id: unused(id), name: name, arguments: arguments, result: result))
                case .toolResult:
                    // It stands behind its call already.
                    flush()
                case .thinking, .unknown:
                    continue
                }
            }
            if message.isInterrupted, message.role == .assistant {
                if !calls.isEmpty { flush() }
                content.append(.text(content.isEmpty ? Self.interruption : "\n\n" + Self.interruption))
            }
            flush()
        }

        /// Servers know four roles, and `tool` only for results: whoever else speaks does so as a user who says who it is.
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

        /// An id that no other call of the request has.
        private mutating func unused(_ id: String) -> String {
            var candidate = id
            var number = usedIds.count
            while !usedIds.insert(candidate).inserted {
                candidate = "call_\(number)"
                number += 1
            }
            return candidate
        }

        /// Ends the message under way: what was said, the calls, and their results.
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
            messages += calls.map { call in
                let text = call.result.stringValue ?? call.result.jsonString
                return ["role": "tool", "tool_call_id": .string(call.id), "content": .string(text)]
            }
        }

        /// A string, unless there are images: not every server takes a list.
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

    extension ChatCompletionsMessages.Call {
        /// The call as servers take it. They refuse names with other characters, and arguments that are no object, whoever wrote
        /// them: a call that once went wrong must not keep the conversation from going on.
        fileprivate var json: JSONValue {
            let wireName = String(
                name.map { $0.isASCII && ($0.isLetter || $0.isNumber) || "_-".contains($0) ? $0 : "_" })
            let wireArguments: JSONValue =
                switch arguments {
                case .object: arguments
                case .null: [:]
                default: ["arguments": arguments]
                }
            return [
                "id": .string(id), "type": "function",
                "function": [
                    "name": .string(wireName.isEmpty ? "unnamed" : String(wireName.prefix(64))),
                    "arguments": .string(wireArguments.jsonString),
                ],
            ]
        }
    }
#endif
