import Foundation

/// One message of a conversation, the same in every store.
///
/// Its JSON is Agent Squad's: `id`, `role`, `parts` and `timestamp` in milliseconds since 1970, and beside these `metadata`,
/// which is left out when empty. Fields that this version does not know are kept in `unknownFields` and written back.
public struct ConversationMessage: Hashable, Identifiable, Sendable {
    /// Names the message within its scope (user, session, agent); any string. In one scope one id is one message.
    public let id: String
    /// Who speaks.
    public var role: Role
    /// What is said, in order.
    public var parts: [ContentPart]
    /// When it was said, in whole milliseconds. It orders messages of different agents, never those of one scope.
    public var timestamp: Date
    /// What else is known of the message: its model, usage, interruption and the like.
    public var metadata: [String: JSONValue]
    /// Top-level JSON fields that a newer version or another program wrote.
    public var unknownFields: [String: JSONValue]

    /// Makes a message of any parts; the timestamp is rounded to whole milliseconds.
    public init(
        id: String = UUID().uuidString,
        role: Role,
        parts: [ContentPart],
        timestamp: Date = Date(),
        metadata: [String: JSONValue] = [:],
        unknownFields: [String: JSONValue] = [:]
    ) {
        self.id = id
        self.role = role
        self.parts = parts
        self.timestamp = timestamp.wholeMilliseconds
        self.metadata = metadata
        self.unknownFields = unknownFields
    }

    /// Makes a message of one part of prose; the timestamp is rounded to whole milliseconds.
    public init(
        id: String = UUID().uuidString,
        role: Role,
        text: String,
        timestamp: Date = Date(),
        metadata: [String: JSONValue] = [:]
    ) {
        self.init(id: id, role: role, parts: [.text(text)], timestamp: timestamp, metadata: metadata)
    }
}

extension ConversationMessage {
    /// The parts of prose, joined; empty if there are none.
    public var text: String {
        parts.count == 1 ? parts[0].text ?? "" : parts.compactMap(\.text).joined()
    }

    /// Returns the message with another id.
    package func with(id: String) -> ConversationMessage {
        ConversationMessage(
            id: id, role: role, parts: parts, timestamp: timestamp, metadata: metadata, unknownFields: unknownFields)
    }

    /// Whether any part is a tool call or a tool result.
    public var belongsToToolExchange: Bool {
        parts.contains(where: \.belongsToToolExchange)
    }

    /// The message with `[agentId]` before its first prose, if an assistant wrote it; any other message unchanged.
    ///
    /// A classifier that reads the merged view of several agents tells them apart by this prefix. A message without prose
    /// gets the prefix as a part of its own, first.
    public func attributed(agentId: String) -> ConversationMessage {
        guard role == .assistant else { return self }
        var message = self
        if let index = parts.firstIndex(where: { $0.text != nil }), let text = parts[index].text {
            message.parts[index] = .text("[\(agentId)] \(text)")
        } else {
            message.parts.insert(.text("[\(agentId)]"), at: 0)
        }
        return message
    }

    /// The message with every part of prose replaced by what `transform` makes of it; all else unchanged.
    public func mappingText(_ transform: (String) throws -> String) rethrows -> ConversationMessage {
        var message = self
        message.parts = try parts.map { part in
            guard case .text(let text) = part else { return part }
            return .text(try transform(text))
        }
        return message
    }
}

extension ConversationMessage: Codable {
    private enum Field: String, CaseIterable {
        case id, role, parts, timestamp, metadata

        var key: AnyKey { AnyKey(stringValue: rawValue) }
    }

    /// Reads a message whatever the decoder's date strategy: a number is milliseconds since 1970.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        let milliseconds = try container.decode(Double.self, forKey: Field.timestamp.key)
        var unknown: [String: JSONValue] = [:]
        for key in container.allKeys where Field(rawValue: key.stringValue) == nil {
            unknown[key.stringValue] = try container.decode(JSONValue.self, forKey: key)
        }
        self.init(
            id: try container.decode(String.self, forKey: Field.id.key),
            role: Role(rawValue: try container.decode(String.self, forKey: Field.role.key)),
            parts: try container.decode([ContentPart].self, forKey: Field.parts.key),
            timestamp: Date(timeIntervalSince1970: milliseconds / 1000),
            metadata: try container.decodeIfPresent([String: JSONValue].self, forKey: Field.metadata.key) ?? [:],
            unknownFields: unknown)
    }

    /// Writes what `init(from:)` reads, whatever the encoder's date strategy.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(id, forKey: Field.id.key)
        try container.encode(role.rawValue, forKey: Field.role.key)
        try container.encode(parts, forKey: Field.parts.key)
        try container.encode(timestamp.millisecondsSince1970, forKey: Field.timestamp.key)
        if !metadata.isEmpty {
            try container.encode(metadata, forKey: Field.metadata.key)
        }
        for (name, value) in unknownFields where Field(rawValue: name) == nil {
            try container.encode(value, forKey: AnyKey(stringValue: name))
        }
    }
}
