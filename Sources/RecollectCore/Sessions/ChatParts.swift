import Foundation

/// The part that an entry of a transcript is at heart: made of it, and edited by it.
extension ContentPart {
    /// Makes a part of an entry; a call that names no id, and a result that names none and answers none, have the entry's own.
    init(_ kind: ChatEntry.Kind, of chat: ChatMessage, answering callId: String? = nil) {
        let id = chat.metadata[ChatEntry.toolCallId]?.stringValue
        switch kind {
        case .text:
            self = .text(chat.content)
        case .thinking:
            self = .thinking(chat.content, signature: nil)
        case .toolCall:
            let parameters = chat.toolInputData?.parameters ?? [:]
            self = .toolCall(
                id: id ?? chat.id.uuidString, name: chat.toolName ?? "",
                arguments: .object(parameters.mapValues { .string($0) }))
        case .toolResult:
            self = .toolResult(id: id ?? callId ?? chat.id.uuidString, content: .string(chat.content))
        }
    }

    /// The part after its entry was changed from `old` to `new`, which are of one kind; what shows no difference stays.
    func edited(from old: ChatMessage, to new: ChatMessage) -> ContentPart {
        let hasSameText = new.content.hasSameBytes(as: old.content)
        switch self {
        case .text: return hasSameText ? self : .text(new.content)
        case .audioTranscript: return hasSameText ? self : .audioTranscript(new.content)
        // A signature vouches for the text that it came with.
        case .thinking: return hasSameText ? self : .thinking(new.content, signature: nil)
        case .toolCall(let id, let name, let arguments):
            let hasSameName = new.toolName.hasSameBytes(as: old.toolName)
            return .toolCall(
                id: Self.callId(id, from: old, to: new), name: hasSameName ? name : new.toolName ?? "",
                arguments: arguments.edited(
                    from: old.toolInputData?.parameters ?? [:], to: new.toolInputData?.parameters ?? [:]))
        case .toolResult(let id, let content):
            return .toolResult(
                id: Self.callId(id, from: old, to: new), content: hasSameText ? content : .string(new.content))
        case .attachment, .unknown: return self
        }
    }

    private static func callId(_ id: String, from old: ChatMessage, to new: ChatMessage) -> String {
        let (old, new) = (old.metadata[ChatEntry.toolCallId], new.metadata[ChatEntry.toolCallId])
        if let old, let new, old.hasSameBytes(as: new) { return id }
        return new?.stringValue ?? id
    }

    /// The file, if this part is one.
    var attachment: Attachment? {
        if case .attachment(let attachment) = self { return attachment }
        return nil
    }
}

extension JSONValue {
    /// A tool's arguments as a chat UI shows them: strings as they are, other values as their JSON. Arguments that have no names
    /// are shown as one of the name `arguments`.
    var parameters: [String: String] {
        switch self {
        case .object(let members): members.mapValues(\.parameterText)
        case .null: [:]
        default: ["arguments": parameterText]
        }
    }

    /// The arguments after what is shown of them was changed from `old` to `new`; what shows no difference stays.
    ///
    /// Where a value was no string, JSON that takes its place is read as such.
    func edited(from old: [String: String], to new: [String: String]) -> JSONValue {
        guard !old.hasSameBytes(as: new) else { return self }
        let members = objectValue ?? [:]
        return .object(
            Dictionary(
                uniqueKeysWithValues: new.map { name, text in
                    guard let value = members[name], value.stringValue == nil else { return (name, .string(text)) }
                    if old[name].hasSameBytes(as: text) { return (name, value) }
                    // Text that is no JSON is a string.
                    return (name, (try? JSONValue(parsing: text)) ?? .string(text))
                }))
    }

    private var parameterText: String {
        stringValue ?? jsonString
    }

    /// A tool's result as text: a string as it is, a list of text blocks and images as the text in it, other values as their JSON.
    var resultText: String {
        switch self {
        case .string(let text): return text
        case .null: return ""
        case .array(let blocks):
            let areTexts = blocks.allSatisfy { $0["type"] == "image" || $0["text"]?.stringValue != nil }
            return areTexts ? blocks.compactMap { $0["text"]?.stringValue }.joined(separator: "\n") : jsonString
        default: return jsonString
        }
    }
}
