import Foundation

/// One entry of a transcript as a chat UI shows it: prose, a tool call, its result, a piece of reasoning.
///
/// The bodies of a copied message are shared until one copy is changed, so keeping a transcript beside the one that a UI
/// changes costs a pointer for each message, and comparing messages that were not touched costs no look at their text.
public struct ChatMessage: Identifiable, Sendable {
    private var storage: Storage

    /// Makes a message; the timestamp is rounded to whole milliseconds.
    public init(
        id: UUID = UUID(), role: MessageRole, content: String, timestamp: Date = Date(), isComplete: Bool = true,
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

        /// Whether text that is equal is the same in bytes too: everything but the content.
        func hasSameBytes(as other: Fields) -> Bool {
            role.rawValue.hasSameBytes(as: other.role.rawValue)
                && messageType.rawValue.hasSameBytes(as: other.messageType.rawValue)
                && toolName.hasSameBytes(as: other.toolName)
                && (toolInputData?.parameters).hasSameBytes(as: other.toolInputData?.parameters)
                && (toolInputData?.rawParameters).hasSameBytes(as: other.toolInputData?.rawParameters)
                && attachments.hasSameBytes(as: other.attachments) && metadata.hasSameBytes(as: other.metadata)
        }
    }

    /// `@unchecked Sendable`: changed only while one message alone refers to it.
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
    /// Names the message within its session: through a session view the same id edits.
    public var id: UUID {
        get { fields.id }
        _modify { yield &fields.id }
    }

    /// Who speaks, or what made it.
    public var role: MessageRole {
        get { fields.role }
        _modify { yield &fields.role }
    }

    /// The text.
    public var content: String {
        get { fields.content }
        _modify { yield &fields.content }
    }

    /// When it was made, in whole milliseconds.
    public var timestamp: Date {
        get { fields.timestamp }
        set { fields.timestamp = newValue.wholeMilliseconds }
    }

    /// Whether all of it has arrived; false while it streams.
    public var isComplete: Bool {
        get { fields.isComplete }
        _modify { yield &fields.isComplete }
    }

    /// What it is.
    public var messageType: MessageType {
        get { fields.messageType }
        _modify { yield &fields.messageType }
    }

    /// The tool that is called or has answered.
    public var toolName: String? {
        get { fields.toolName }
        _modify { yield &fields.toolName }
    }

    /// What the tool is called with.
    public var toolInputData: ToolInputData? {
        get { fields.toolInputData }
        _modify { yield &fields.toolInputData }
    }

    /// Whether it tells of a failure.
    public var isError: Bool {
        get { fields.isError }
        _modify { yield &fields.isError }
    }

    /// Its files.
    public var attachments: [Attachment] {
        get { fields.attachments }
        _modify { yield &fields.attachments }
    }

    /// Whether it was stopped before all of it had arrived.
    public var wasCancelled: Bool {
        get { fields.wasCancelled }
        _modify { yield &fields.wasCancelled }
    }

    /// The task that it is shown under, where tool calls are shown in groups.
    public var taskGroupId: UUID? {
        get { fields.taskGroupId }
        _modify { yield &fields.taskGroupId }
    }

    /// Whether it is the head of such a group.
    public var isTaskContainer: Bool {
        get { fields.isTaskContainer }
        _modify { yield &fields.isTaskContainer }
    }

    /// What else is known of it: its model, usage and the like.
    public var metadata: [String: JSONValue] {
        get { fields.metadata }
        _modify { yield &fields.metadata }
    }
}

extension ChatMessage: Hashable {
    /// Equal when all fields are; text is compared as bytes, where `==` of strings takes canonically equivalent ones for equal.
    public static func == (left: ChatMessage, right: ChatMessage) -> Bool {
        if left.storage === right.storage { return true }
        let (one, other) = (left.storage.fields, right.storage.fields)
        return one.content.hasSameBytes(as: other.content) && one == other && one.hasSameBytes(as: other)
    }

    /// Hashes the id.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

extension ChatMessage: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, role, content, timestamp, isComplete, messageType, toolName, toolInputData, isError, attachments
        case wasCancelled, taskGroupId, isTaskContainer, metadata
    }

    /// Reads a message whatever the decoder's date strategy: the timestamp is milliseconds since 1970. What is missing but
    /// the id, role, content and timestamp has its default.
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

    /// Writes what `init(from:)` reads, whatever the encoder's date strategy; what has its default is left out, but for
    /// `isComplete` and `messageType`.
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
    /// How many entries at the beginning are the very ones of another transcript, which nobody has changed since.
    ///
    /// Looks at the references as the words that they are: counting each of thousands up and down would cost more than a save.
    package func sharedPrefixCount(with other: [ChatMessage]) -> Int {
        withReferences(of: other) { own, others in
            let count = Swift.min(own.count, others.count)
            var shared = 0
            while shared < count, own[shared] == others[shared] { shared += 1 }
            return shared
        }
    }

    /// The same at the end.
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
        assert(MemoryLayout<ChatMessage>.size == MemoryLayout<UInt>.size, "an entry is a reference to its storage")
        return withUnsafeBytes { own in
            other.withUnsafeBytes { body(own.bindMemory(to: UInt.self), $0.bindMemory(to: UInt.self)) }
        }
    }
}
