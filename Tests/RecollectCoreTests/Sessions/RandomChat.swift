import Foundation

@testable import RecollectCore

/// Random entries of sessions: all roles with all types, including unknown ones, and every field.
extension RandomJSON {
    static let roles: [MessageRole] = [
        .user, .assistant, .system, .toolUse, .toolResult, .toolError, .toolDenied, .thinking,
        MessageRole(rawValue: "tool"), MessageRole(rawValue: "narrator"), MessageRole(rawValue: ""),
    ]
    static let types: [MessageType] = [
        .text, .toolUse, .toolResult, .toolError, .toolDenied, .thinking, .webSearch, .codeExecution,
        MessageType(rawValue: "hologram"), MessageType(rawValue: ""),
    ]

    mutating func chat(
        id: UUID = UUID(), role: MessageRole? = nil, type: MessageType? = nil
    ) -> ChatMessage {
        ChatMessage(
            id: id, role: role ?? pick(Self.roles), content: string(),
            timestamp: Date(millisecondsSince1970: Int64.random(in: -1_000_000...4_000_000_000_000, using: &generator)),
            isComplete: flag(), messageType: type ?? pick(Self.types), toolName: pick([nil, string()]),
            toolInputData: pick([nil, input()]), isError: flag(), attachments: attachments(), wasCancelled: flag(),
            taskGroupId: pick([nil, UUID()]), isTaskContainer: flag(), metadata: chatMetadata())
    }

    /// The entry with one to three of its fields changed at random.
    mutating func edited(_ chat: ChatMessage) -> ChatMessage {
        var chat = chat
        let other = self.chat()
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            switch Int.random(in: 0...12, using: &generator) {
            case 0: chat.role = other.role
            case 1: chat.content = other.content
            case 2: chat.timestamp = other.timestamp
            case 3: chat.isComplete.toggle()
            case 4: chat.messageType = other.messageType
            case 5: chat.toolName = other.toolName
            case 6: chat.toolInputData = other.toolInputData
            case 7: chat.isError.toggle()
            case 8: chat.attachments = other.attachments
            case 9: chat.wasCancelled.toggle()
            case 10: chat.taskGroupId = other.taskGroupId
            case 11: chat.isTaskContainer.toggle()
            default: chat.metadata = other.metadata
            }
        }
        return chat
    }

    /// A message of a history with the metadata that importers and engines write.
    mutating func historyMessage() -> ConversationMessage {
        let made = message()
        var message = ConversationMessage(
            id: pick([made.id, UUID().uuidString, UUID().uuidString.lowercased()]), role: made.role, parts: made.parts,
            timestamp: made.timestamp, metadata: chatMetadata(), unknownFields: made.unknownFields)
        message.isStreaming = flag()
        message.isInterrupted = flag()
        if flag() {
            let fields = message.parts.indices.map { (String($0), JSONValue.object(["is_error": .bool(flag())])) }
            message.metadata["partFields"] = .object(Dictionary(uniqueKeysWithValues: fields))
        }
        return message
    }

    private mutating func flag() -> Bool {
        Bool.random(using: &generator)
    }

    private mutating func input() -> ToolInputData {
        ToolInputData(parameters: texts(), rawParameters: pick([nil, texts()]))
    }

    private mutating func texts() -> [String: String] {
        var texts: [String: String] = [:]
        for _ in 0..<Int.random(in: 0...3, using: &generator) { texts[string()] = string() }
        return texts
    }

    private mutating func attachments() -> [Attachment] {
        (0..<pick([0, 0, 1, 3])).map { _ in
            Attachment(mediaType: string(), name: pick([nil, string()]), content: .remote(url: string()))
        }
    }

    /// Metadata that sometimes contains the names used by the mapping.
    private mutating func chatMetadata() -> [String: JSONValue] {
        var members = object()
        for name in ["chat", "interrupted", "streamingReply", "toolCallId", "partFields"]
        where pick([true, false, false]) {
            members[name] = pick([.bool(true), .bool(false), .string(string()), value()])
        }
        if pick([true, false, false, false]) {
            members["chat"] = [
                "0": ["content": "noted", "id": "not a UUID"], "1": ["isComplete": 7, "newer": value()],
            ]
        }
        return members
    }
}
