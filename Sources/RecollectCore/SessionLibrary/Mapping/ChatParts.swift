import Foundation

/// The conversion between an entry of a transcript and its head part.
extension ContentPart {
    /// Creates a part from an entry. The ID of a call or result is taken from the metadata, for a result otherwise
    /// from the answered call, else from the entry.
    init(_ kind: ChatMessageGroup.Kind, of chat: ChatMessage, answering callId: String? = nil) {
        let id = chat.metadata[ChatMessageGroup.toolCallId]?.stringValue
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

    /// Returns the part after an edit of its entry from `old` to `new`, both of the same kind. Fields without a
    /// visible change stay.
    func edited(from old: ChatMessage, to new: ChatMessage) -> ContentPart {
        let hasSameText = new.content.hasSameBytes(as: old.content)
        switch self {
        case .text: return hasSameText ? self : .text(new.content)
        case .audioTranscript: return hasSameText ? self : .audioTranscript(new.content)
        // A signature is valid only for its original text.
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
        let (old, new) = (old.metadata[ChatMessageGroup.toolCallId], new.metadata[ChatMessageGroup.toolCallId])
        if let old, let new, old.hasSameBytes(as: new) { return id }
        return new?.stringValue ?? id
    }

    /// The attachment, if this part is one.
    var attachment: Attachment? {
        if case .attachment(let attachment) = self { return attachment }
        return nil
    }

    /// Whether the part can be an edit of another one.
    fileprivate func isEdit(of other: ContentPart) -> Bool {
        switch (self, other) {
        case (.toolCall(let id, _, _), .toolCall(let former, _, _)),
            (.toolResult(let id, _), .toolResult(let former, _)):
            id.hasSameBytes(as: former)
        case (.text, .text), (.audioTranscript, .audioTranscript), (.thinking, .thinking), (.unknown, .unknown): true
        default: false
        }
    }
}

extension [ContentPart] {
    /// Returns the former index of each part, before an edit of the list: that of an equal part or, among the remaining
    /// ones, of the first of its kind.
    func order(from old: [ContentPart]) -> [Int?] {
        let start = zip(self, old).prefix { $0 == $1 }.count
        let end = zip(dropFirst(start).reversed(), old.dropFirst(start).reversed()).prefix { $0 == $1 }.count
        var order = indices.map { index -> Int? in
            index < start ? index : index >= count - end ? index - count + old.count : nil
        }
        var rest = [Int](start..<old.count - end)
        for isSame: (ContentPart, ContentPart) -> Bool in [(==), { $0.isEdit(of: $1) }] {
            for index in start..<count - end where order[index] == nil {
                guard let former = rest.firstIndex(where: { isSame(self[index], old[$0]) }) else { continue }
                order[index] = rest.remove(at: former)
            }
        }
        return order
    }
}

extension JSONValue {
    /// The arguments of a tool as shown by a chat UI: strings unchanged, other values as JSON. Arguments other than
    /// an object are shown as one argument named `arguments`.
    var parameters: [String: String] {
        switch self {
        case .object(let members): members.mapValues(\.parameterText)
        case .null: [:]
        default: ["arguments": parameterText]
        }
    }

    /// Returns the arguments after an edit of the shown ones from `old` to `new`. Arguments without a visible
    /// change stay.
    ///
    /// A value other than a string is replaced by parsed JSON.
    func edited(from old: [String: String], to new: [String: String]) -> JSONValue {
        guard !old.hasSameBytes(as: new) else { return self }
        let members = objectValue ?? [:]
        return .object(
            Dictionary(
                uniqueKeysWithValues: new.map { name, text in
                    guard let value = members[name], value.stringValue == nil else { return (name, .string(text)) }
                    if old[name].hasSameBytes(as: text) { return (name, value) }
                    // Text other than valid JSON becomes a string.
                    return (name, (try? JSONValue(parsing: text)) ?? .string(text))
                }))
    }

    private var parameterText: String {
        stringValue ?? jsonString
    }

    /// The text of a tool result: a string unchanged, a list of text and image blocks as its text, other values as
    /// JSON.
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
