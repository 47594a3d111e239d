import Foundation

/// An entry of a transcript for a group of parts of a message: one part and the attachments beside it.
struct ChatMessageGroup {
    /// The indices of parts shown together. At most one of them, the head, is not an attachment.
    struct Group {
        var indices: Range<Int>
        var head: Int?
    }

    /// The parts with their indices.
    private let parts: [(part: ContentPart, index: Int)]
    private let head: Int?
    /// The entry as shown by a UI.
    var chat: ChatMessage
    /// Notes written by a newer version.
    private(set) var unknownNotes: [String: JSONValue] = [:]

    /// The index of the head, which identifies the entry.
    var index: Int { head ?? 0 }

    /// Creates the entry for some parts of a message, from the parts alone.
    init(_ group: Group, of message: ConversationMessage, isAlone: Bool, metadata: [String: JSONValue]) {
        parts = group.indices.map { (message.parts[$0], $0) }
        head = group.head
        // A UUID in mixed case is not used as the entry's ID, because the message must be found again by that ID.
        let own = UUID(uuidString: message.id).flatMap { id in
            isAlone && [id.uuidString, id.uuidString.lowercased()].contains(message.id) ? id : nil
        }
        chat = ChatMessage(
            id: own ?? Self.id(of: message.id, at: group.head ?? 0),
            role: MessageRole(rawValue: message.role.rawValue), content: "", timestamp: message.timestamp,
            attachments: parts.compactMap(\.part.attachment), metadata: metadata)
        if let head { show(message.parts[head]) }
    }

    /// Applies the note of the entry.
    mutating func note(_ note: [String: JSONValue]) {
        unknownNotes = ChatNote.apply(note, to: &chat)
    }

    /// Marks a tool result as an error.
    mutating func describeError() {
        guard chat.messageType == .toolResult else { return }
        chat.role = .toolError
        chat.messageType = .toolError
        chat.isError = true
    }

    private mutating func show(_ head: ContentPart) {
        switch head {
        case .text(let text), .audioTranscript(let text):
            chat.content = text
        case .thinking(let text, _):
            chat.content = text
            chat.role = .thinking
            chat.messageType = .thinking
        case .toolCall(let id, let name, let arguments):
            chat.role = .toolUse
            chat.messageType = .toolUse
            chat.toolName = name.isEmpty ? nil : name
            chat.toolInputData = ToolInputData(parameters: arguments.parameters)
            show(callId: id)
        case .toolResult(let id, let content):
            chat.content = content.resultText
            chat.role = .toolResult
            chat.messageType = .toolResult
            show(callId: id)
        case .attachment, .unknown:
            break
        }
    }

    private mutating func show(callId id: String) {
        if !id.hasSameBytes(as: chat.id.uuidString) { chat.metadata[Self.toolCallId] = .string(id) }
    }
}

extension ChatMessageGroup {
    /// The metadata key of the tool call ID, in entries for calls and results.
    static let toolCallId = "toolCallId"

    /// Returns the ID of an entry with an ID different from its message's.
    static func id(of messageId: String, at index: Int) -> UUID {
        UUID(name: Array("\(messageId)\u{0}\(index)".utf8), in: entries)
    }

    private static let entries = UUID(
        uuid: (0x1D, 0x7C, 0x9B, 0x32, 0xE4, 0x05, 0x4F, 0x8A, 0xB6, 0x1E, 0x70, 0x3F, 0x58, 0xC2, 0x2A, 0x94))

    /// Groups the parts shown together: each part with the attachments after it, the first one also with those
    /// before it.
    static func groups(of parts: [ContentPart]) -> [Group] {
        var groups = [Group(indices: 0..<0, head: nil)]
        for (index, part) in parts.enumerated() {
            let last = groups.count - 1
            if part.attachment == nil, groups[last].head != nil {
                groups.append(Group(indices: index..<index + 1, head: index))
            } else {
                groups[last].indices = groups[last].indices.lowerBound..<index + 1
                if part.attachment == nil { groups[last].head = index }
            }
        }
        return groups
    }

    /// Returns the parts of the edited entry `chat`, each with its former index if it had one.
    ///
    /// Only the first entry of a message can have attachments before its head; in later entries they would become
    /// the previous entry's.
    func parts(showing chat: ChatMessage, isFirst: Bool) -> [(part: ContentPart, index: Int?)] {
        let kind = Kind(of: chat)
        let hasSameFiles = chat.attachments.hasSameBytes(as: self.chat.attachments)
        var shown: (part: ContentPart, index: Int?)?
        if let head, let part = parts.first(where: { $0.index == head })?.part {
            let isSameKind = kind == Kind(of: self.chat)
            shown = (isSameKind ? part.edited(from: self.chat, to: chat) : ContentPart(kind, of: chat), head)
        } else if kind != .text || !chat.content.isEmpty || chat.attachments.isEmpty && !hasSameFiles {
            shown = (ContentPart(kind, of: chat), nil)
        }
        guard hasSameFiles else {
            return (shown.map { [$0] } ?? []) + chat.attachments.map { (.attachment($0), nil) }
        }
        let files = parts.filter { $0.index != head }.map { (part: $0.part, index: Int?.some($0.index)) }
        let before = isFirst && head != nil ? files.filter { $0.index ?? 0 < index } : []
        return before + (shown.map { [$0] } ?? []) + files.dropFirst(before.count)
    }
}

extension ChatMessage {
    /// Returns the ID of the entry that shows a part of a message of several parts.
    package static func id(ofPart index: Int, of messageId: String) -> UUID {
        ChatMessageGroup.id(of: messageId, at: index)
    }

    /// Whether another entry stands for the same kind of part.
    package func isSameKind(as other: ChatMessage) -> Bool {
        ChatMessageGroup.Kind(of: self) == ChatMessageGroup.Kind(of: other)
    }
}

extension ChatMessageGroup {
    /// The kind of part represented by an entry.
    enum Kind {
        case text
        case thinking
        case toolCall
        case toolResult

        /// Creates the kind from the type of the entry, or from its role if the type does not decide.
        init(of chat: ChatMessage) {
            switch chat.messageType {
            case .toolUse: self = .toolCall
            case .toolResult, .toolError, .toolDenied: self = .toolResult
            case .thinking: self = .thinking
            default:
                switch chat.role {
                case .toolUse: self = .toolCall
                case .toolResult, .toolError, .toolDenied: self = .toolResult
                case .thinking: self = .thinking
                default: self = .text
                }
            }
        }

        /// Returns the role of a message with only this entry.
        func role(of chat: ChatMessage) -> Role {
            switch self {
            case .text: Role(rawValue: chat.role.rawValue)
            case .thinking, .toolCall: .assistant
            case .toolResult: .tool
            }
        }
    }
}
