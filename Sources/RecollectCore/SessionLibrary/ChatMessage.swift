import Foundation
import RecollectFileSystem

/// An entry of a transcript as shown in a chat UI: text, a tool call, a tool result or thinking.
///
/// Copies share their content until one of them changes. A second transcript therefore costs one pointer for each
/// message, and comparing unchanged messages does not compare their text.
public struct ChatMessage: Identifiable, Sendable {
    private var storage: Storage

    /// Creates a message. The timestamp is rounded to whole milliseconds.
    public init(
        id: UUID = UUID.random(), role: MessageRole, content: String, timestamp: Date = Date(), isComplete: Bool = true,
        messageType: MessageType = .text, toolName: String? = nil, toolInputData: ToolInputData? = nil,
        isError: Bool = false, attachments: [Attachment] = [], wasCancelled: Bool = false, taskGroupId: UUID? = nil,
        isTaskContainer: Bool = false, metadata: [String: JSONValue] = [:]
    ) {
        storage = Storage(
            Fields(
                id: id, role: role, content: content, timestamp: timestamp.wholeMilliseconds, isComplete: isComplete,
                messageType: messageType, toolName: toolName, toolInputData: toolInputData, isError: isError,
                attachments: attachments, wasCancelled: wasCancelled, taskGroupId: taskGroupId,
                isTaskContainer: isTaskContainer, metadata: metadata))
    }

    fileprivate struct Fields: Sendable, Equatable {
        var id: UUID
        var role: MessageRole
        var content: String
        var timestamp: Date
        var isComplete: Bool
        var messageType: MessageType
        var toolName: String?
        var toolInputData: ToolInputData?
        var isError: Bool
        var attachments: [Attachment]
        var wasCancelled: Bool
        var taskGroupId: UUID?
        var isTaskContainer: Bool
        var metadata: [String: JSONValue]

        /// Whether text fields, except for the content, have equal bytes and not only canonically equivalent text.
        func hasSameBytes(as other: Fields) -> Bool {
            role.rawValue.hasSameBytes(as: other.role.rawValue)
                && messageType.rawValue.hasSameBytes(as: other.messageType.rawValue)
                && toolName.hasSameBytes(as: other.toolName)
                && toolInputData.hasSameBytes(as: other.toolInputData)
                && attachments.hasSameBytes(as: other.attachments) && metadata.hasSameBytes(as: other.metadata)
        }
    }

    /// `@unchecked Sendable`: changed only while a single message refers to it.
    private final class Storage: @unchecked Sendable {
        var fields: Fields

        init(_ fields: Fields) {
            self.fields = fields
        }
    }

    private var fields: Fields {
        get { storage.fields }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.fields) }
            yield &storage.fields
        }
    }
}

extension ChatMessage {
    /// The ID of the message within its session. Saving a message with a known ID through a session view edits it.
    public var id: UUID {
        get { fields.id }
        _modify { yield &fields.id }
    }

    /// The author or origin of the message.
    public var role: MessageRole {
        get { fields.role }
        _modify { yield &fields.role }
    }

    /// The text.
    public var content: String {
        get { fields.content }
        _modify { yield &fields.content }
    }

    /// The date of creation, in whole milliseconds.
    public var timestamp: Date {
        get { fields.timestamp }
        set { fields.timestamp = newValue.wholeMilliseconds }
    }

    /// Whether the message is complete; `false` while it streams.
    public var isComplete: Bool {
        get { fields.isComplete }
        _modify { yield &fields.isComplete }
    }

    /// The type of the entry.
    public var messageType: MessageType {
        get { fields.messageType }
        _modify { yield &fields.messageType }
    }

    /// The name of the called tool, in calls and results.
    public var toolName: String? {
        get { fields.toolName }
        _modify { yield &fields.toolName }
    }

    /// The arguments of the tool call.
    public var toolInputData: ToolInputData? {
        get { fields.toolInputData }
        _modify { yield &fields.toolInputData }
    }

    /// Whether the message reports a failure.
    public var isError: Bool {
        get { fields.isError }
        _modify { yield &fields.isError }
    }

    /// The attachments.
    public var attachments: [Attachment] {
        get { fields.attachments }
        _modify { yield &fields.attachments }
    }

    /// Whether the message was stopped before its end.
    public var wasCancelled: Bool {
        get { fields.wasCancelled }
        _modify { yield &fields.wasCancelled }
    }

    /// The task under which a UI groups tool calls.
    public var taskGroupId: UUID? {
        get { fields.taskGroupId }
        _modify { yield &fields.taskGroupId }
    }

    /// Whether the message is the head of a group of tool calls.
    public var isTaskContainer: Bool {
        get { fields.isTaskContainer }
        _modify { yield &fields.isTaskContainer }
    }

    /// Additional data, for example the model and its usage.
    public var metadata: [String: JSONValue] {
        get { fields.metadata }
        _modify { yield &fields.metadata }
    }
}

extension ChatMessage: Hashable {
    /// Whether all fields are equal. Text is compared by its bytes; `==` of strings would also accept canonical
    /// equivalents.
    public static func == (left: ChatMessage, right: ChatMessage) -> Bool {
        if left.storage === right.storage { return true }
        let (one, other) = (left.storage.fields, right.storage.fields)
        return one.content.hasSameBytes(as: other.content) && one == other && one.hasSameBytes(as: other)
    }

    /// Hashes the ID.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

extension ChatMessage: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, role, content, timestamp, isComplete, messageType, toolName, toolInputData, isError, attachments
        case wasCancelled, taskGroupId, isTaskContainer, metadata
    }

    /// Creates a message by decoding. The timestamp is in milliseconds since 1970, independent of the decoder's
    /// date strategy. Except for the ID, role, content and timestamp, missing fields get their defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func optional<Value: Decodable>(_ key: CodingKeys) throws -> Value? {
            try container.decodeIfPresent(Value.self, forKey: key)
        }
        self.init(
            id: try container.decode(UUID.self, forKey: .id),
            role: try container.decode(MessageRole.self, forKey: .role),
            content: try container.decode(String.self, forKey: .content),
            timestamp: Date(timeIntervalSince1970: try container.decode(Double.self, forKey: .timestamp) / 1000),
            isComplete: try optional(.isComplete) ?? true, messageType: try optional(.messageType) ?? .text,
            toolName: try optional(.toolName), toolInputData: try optional(.toolInputData),
            isError: try optional(.isError) ?? false, attachments: try optional(.attachments) ?? [],
            wasCancelled: try optional(.wasCancelled) ?? false, taskGroupId: try optional(.taskGroupId),
            isTaskContainer: try optional(.isTaskContainer) ?? false, metadata: try optional(.metadata) ?? [:])
    }

    /// Encodes the message for `init(from:)`, independent of the encoder's date strategy. Fields with default
    /// values are left out, except `isComplete` and `messageType`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(role, forKey: .role)
        try container.encode(content, forKey: .content)
        try container.encode(timestamp.millisecondsSince1970, forKey: .timestamp)
        try container.encode(isComplete, forKey: .isComplete)
        try container.encode(messageType, forKey: .messageType)
        try container.encodeIfPresent(toolName, forKey: .toolName)
        try container.encodeIfPresent(toolInputData, forKey: .toolInputData)
        if isError { try container.encode(isError, forKey: .isError) }
        if !attachments.isEmpty { try container.encode(attachments, forKey: .attachments) }
        if wasCancelled { try container.encode(wasCancelled, forKey: .wasCancelled) }
        try container.encodeIfPresent(taskGroupId, forKey: .taskGroupId)
        if isTaskContainer { try container.encode(isTaskContainer, forKey: .isTaskContainer) }
        if !metadata.isEmpty { try container.encode(metadata, forKey: .metadata) }
    }
}

extension [ChatMessage] {
    /// Returns the number of entries at the beginning shared with another transcript and unchanged in both.
    ///
    /// Compares the references as machine words: retaining and releasing thousands of them would cost more than a
    /// save.
    package func sharedPrefixCount(with other: [ChatMessage]) -> Int {
        withReferences(of: other) { own, others in
            let count = Swift.min(own.count, others.count)
            var shared = 0
            while shared < count, own[shared] == others[shared] { shared += 1 }
            return shared
        }
    }

    /// Returns the number of entries at the end shared with another transcript and unchanged in both.
    package func sharedSuffixCount(with other: [ChatMessage]) -> Int {
        withReferences(of: other) { own, others in
            let count = Swift.min(own.count, others.count)
            var shared = 0
            while shared < count, own[own.count - 1 - shared] == others[others.count - 1 - shared] { shared += 1 }
            return shared
        }
    }

    private func withReferences<Result>(
        of other: [ChatMessage], _ body: (UnsafeBufferPointer<UInt>, UnsafeBufferPointer<UInt>) -> Result
    ) -> Result {
        assert(MemoryLayout<ChatMessage>.size == MemoryLayout<UInt>.size, "a ChatMessage is one reference")
        return withUnsafeBytes { own in
            other.withUnsafeBytes { body(own.bindMemory(to: UInt.self), $0.bindMemory(to: UInt.self)) }
        }
    }
}
