import Foundation

/// The stored note of an entry beside its parts: the fields, by name, with values different from those of the
/// parts.
enum ChatNote {
    private enum Field: String, CaseIterable {
        case id, role, content, timestamp, isComplete, messageType, toolName, toolInputData, rawParameters, isError
        case wasCancelled, taskGroupId, isTaskContainer, metadata, removedMetadata
    }

    /// Returns the note for changing `plain`, the entry made from the parts, into `chat`. Attachments are parts and
    /// not noted.
    static func difference(from plain: ChatMessage, to chat: ChatMessage) -> [String: JSONValue] {
        var note: [String: JSONValue] = [:]
        func set(_ field: Field, _ old: JSONValue, _ new: JSONValue) {
            if !old.hasSameBytes(as: new) { note[field.rawValue] = new }
        }
        set(.id, .string(plain.id.uuidString), .string(chat.id.uuidString))
        set(.role, .string(plain.role.rawValue), .string(chat.role.rawValue))
        set(.content, .string(plain.content), .string(chat.content))
        set(
            .timestamp, .integer(plain.timestamp.millisecondsSince1970), .integer(chat.timestamp.millisecondsSince1970))
        set(.isComplete, .bool(plain.isComplete), .bool(chat.isComplete))
        set(.messageType, .string(plain.messageType.rawValue), .string(chat.messageType.rawValue))
        set(.toolName, JSONValue(plain.toolName), JSONValue(chat.toolName))
        set(.isError, .bool(plain.isError), .bool(chat.isError))
        set(.wasCancelled, .bool(plain.wasCancelled), .bool(chat.wasCancelled))
        set(.taskGroupId, JSONValue(plain.taskGroupId?.uuidString), JSONValue(chat.taskGroupId?.uuidString))
        set(.isTaskContainer, .bool(plain.isTaskContainer), .bool(chat.isTaskContainer))
        if let old = plain.toolInputData, let new = chat.toolInputData, old.parameters.hasSameBytes(as: new.parameters)
        {
            set(.rawParameters, JSONValue(old.rawParameters), JSONValue(new.rawParameters))
        } else {
            set(.toolInputData, JSONValue(plain.toolInputData), JSONValue(chat.toolInputData))
        }
        let (old, new) = (plain.metadata, chat.metadata)
        if !old.hasSameBytes(as: new) {
            let changed = new.filter { !old.hasMember($0, $1) }
            let removed = old.keys.filter { new[$0] == nil }.sorted()
            if !changed.isEmpty { note[Field.metadata.rawValue] = .object(changed) }
            if !removed.isEmpty { note[Field.removedMetadata.rawValue] = .array(removed.map { .string($0) }) }
        }
        return note
    }

    /// Applies a note to an entry made from parts, ignoring values of a wrong type, and returns the unknown fields.
    static func apply(_ note: [String: JSONValue], to chat: inout ChatMessage) -> [String: JSONValue] {
        var unknown: [String: JSONValue] = [:]
        for (name, value) in note {
            guard let field = Field(rawValue: name) else {
                unknown[name] = value
                continue
            }
            switch field {
            case .id: chat.id = value.stringValue.flatMap(UUID.init(uuidString:)) ?? chat.id
            case .role: chat.role = value.stringValue.map(MessageRole.init(rawValue:)) ?? chat.role
            case .content: chat.content = value.stringValue ?? chat.content
            case .timestamp:
                chat.timestamp = value.integerValue.map(Date.init(millisecondsSince1970:)) ?? chat.timestamp
            case .isComplete: chat.isComplete = value.boolValue ?? chat.isComplete
            case .messageType: chat.messageType = value.stringValue.map(MessageType.init(rawValue:)) ?? chat.messageType
            case .toolName: chat.toolName = value.stringValue
            case .toolInputData: chat.toolInputData = value.toolInputData
            case .rawParameters: chat.toolInputData?.rawParameters = value.texts
            case .isError: chat.isError = value.boolValue ?? chat.isError
            case .wasCancelled: chat.wasCancelled = value.boolValue ?? chat.wasCancelled
            case .taskGroupId: chat.taskGroupId = value.stringValue.flatMap(UUID.init(uuidString:))
            case .isTaskContainer: chat.isTaskContainer = value.boolValue ?? chat.isTaskContainer
            case .metadata:
                for (key, value) in value.objectValue ?? [:] {
                    // Removed first; otherwise the bytes of the old key would stay.
                    chat.metadata[key] = nil
                    chat.metadata[key] = value
                }
            case .removedMetadata: value.arrayValue?.forEach { $0.stringValue.map { chat.metadata[$0] = nil } }
            }
        }
        return unknown
    }
}

extension JSONValue {
    fileprivate init(_ text: String?) {
        self = text.map { .string($0) } ?? .null
    }

    fileprivate init(_ texts: [String: String]?) {
        self = texts.map { .object($0.mapValues { .string($0) }) } ?? .null
    }

    fileprivate init(_ data: ToolInputData?) {
        guard let data else {
            self = .null
            return
        }
        var members = ["parameters": JSONValue(data.parameters)]
        if let raw = data.rawParameters { members["rawParameters"] = JSONValue(raw) }
        self = .object(members)
    }

    fileprivate var texts: [String: String]? {
        objectValue?.compactMapValues(\.stringValue)
    }

    fileprivate var toolInputData: ToolInputData? {
        self["parameters"]?.texts.map { ToolInputData(parameters: $0, rawParameters: self["rawParameters"]?.texts) }
    }
}
