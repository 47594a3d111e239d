import Foundation

/// Some parts of a message and the one entry of a transcript that they are shown as: a part and the files beside it.
struct ChatEntry {
    /// The parts that belong together, by their indices: at most one that is no attachment, the head.
    struct Group {
        var indices: Range<Int>
        var head: Int?
    }

    /// The parts with their indices.
    private let parts: [(part: ContentPart, index: Int)]
    private let head: Int?
    /// What a UI shows.
    var chat: ChatMessage
    /// Notes of a newer version.
    private(set) var unknownNotes: [String: JSONValue] = [:]

    /// The index that the entry is known by: that of its head.
    var index: Int { head ?? 0 }

    /// Shows some parts of a message, by what they tell themselves.
    init(_ group: Group, of message: ConversationMessage, isAlone: Bool, metadata: [String: JSONValue]) {
        parts = group.indices.map { (message.parts[$0], $0) }
        head = group.head
        // A UUID in mixed case is a name like any other: who saves an entry must find its message by the entry's id.
        let own = UUID(uuidString: message.id).flatMap { id in
            isAlone && [id.uuidString, id.uuidString.lowercased()].contains(message.id) ? id : nil
        }
        chat = ChatMessage(
            id: own ?? Self.id(of: message.id, at: group.head ?? 0),
            role: MessageRole(rawValue: message.role.rawValue), content: "", timestamp: message.timestamp,
            attachments: parts.compactMap(\.part.attachment), metadata: metadata)
        if let head { show(message.parts[head]) }
    }

    /// Adds what was noted of the entry.
    mutating func note(_ note: [String: JSONValue]) {
        unknownNotes = ChatNote.apply(note, to: &chat)
    }

    /// Shows a tool's result as a failure.
    mutating func tellOfError() {
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

extension ChatEntry {
    /// Where an entry's metadata names the call that it is or answers.
    static let toolCallId = "toolCallId"

    /// The id of an entry that does not have its message's.
    static func id(of messageId: String, at index: Int) -> UUID {
        UUID(name: Array("\(messageId)\u{0}\(index)".utf8), in: entries)
    }

    private static let entries = UUID(
        uuid: (0x1D, 0x7C, 0x9B, 0x32, 0xE4, 0x05, 0x4F, 0x8A, 0xB6, 0x1E, 0x70, 0x3F, 0x58, 0xC2, 0x2A, 0x94))

    /// Which parts are shown together: each part with the attachments after it, and the first one with those before it too.
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

    /// The parts that show `chat` instead of what the entry showed, each with the index that it had before, if it was there.
    ///
    /// Only the first entry of a message may have files before its head: after another one they would become that one's.
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

extension ChatEntry {
    /// What kind of part an entry of a transcript is at heart.
    enum Kind {
        case text
        case thinking
        case toolCall
        case toolResult

        /// By the type, and where that says nothing, by the role.
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

        /// Who speaks in a message that is this entry alone.
        func role(of chat: ChatMessage) -> Role {
            switch self {
            case .text: Role(rawValue: chat.role.rawValue)
            case .thinking, .toolCall: .assistant
            case .toolResult: .tool
            }
        }
    }
}
