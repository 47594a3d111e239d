import Foundation

/// The conversion to and from JSON. Stores and imports use it directly: coders take about ten times as long.
extension ConversationMessage {
    /// Creates a message from its JSON. Unknown fields are added to `unknownFields`.
    /// - Throws: `unreadable`, with the name of the missing or invalid field.
    package init(json: JSONValue) throws {
        guard case .object(var fields) = json else {
            throw RecollectError(.unreadable, "a message must be a JSON object")
        }
        func take(_ name: String) throws -> JSONValue {
            guard let value = fields.removeValue(forKey: name) else { throw Self.unreadable(name) }
            return value
        }
        guard let id = try take("id").stringValue else { throw Self.unreadable("id") }
        guard let role = try take("role").stringValue else { throw Self.unreadable("role") }
        guard let parts = try take("parts").arrayValue else { throw Self.unreadable("parts") }
        guard let milliseconds = try take("timestamp").doubleValue else { throw Self.unreadable("timestamp") }
        var metadata: [String: JSONValue] = [:]
        switch fields.removeValue(forKey: "metadata") {
        case .object(let members): metadata = members
        case .null, nil: break
        default: throw Self.unreadable("metadata")
        }
        self.init(
            id: id, role: Role(rawValue: role), parts: parts.map(ContentPart.init(json:)),
            timestamp: Date(timeIntervalSince1970: milliseconds / 1000), metadata: metadata, unknownFields: fields)
    }

    private static func unreadable(_ field: String) -> RecollectError {
        RecollectError(.unreadable, "the message's \(field) is missing or invalid")
    }
}

extension JSONWriter {
    /// Writes a message.
    package mutating func write(_ message: ConversationMessage) {
        object { $0.members(of: message) }
    }
}

extension JSONWriter.Members {
    /// Writes the members of a message, for an object with additional members.
    package mutating func members(of message: ConversationMessage) {
        member("id") { $0.write(message.id) }
        member("role") { $0.write(message.role.rawValue) }
        member("timestamp") { $0.write(message.timestamp.millisecondsSince1970) }
        member("parts") { $0.write(message.parts) }
        if !message.metadata.isEmpty {
            member("metadata") { $0.write(message.metadata) }
        }
        for (name, value) in message.unknownFields.inOrderOfKeys where !Self.names.contains(name) {
            member(name) { $0.write(value) }
        }
    }

    static let names: Set<String> = ["id", "role", "timestamp", "parts", "metadata"]
}

// MARK: Coders

extension ConversationMessage: Codable {
    /// Creates a message by decoding. The timestamp is in milliseconds since 1970, independent of the decoder's
    /// date strategy.
    public init(from decoder: any Decoder) throws {
        do {
            try self.init(json: JSONValue(from: decoder))
        } catch let error as RecollectError {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: error.message, underlyingError: error))
        }
    }

    /// Encodes the message for `init(from:)`, independent of the encoder's date strategy.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels, `invalidArgument` for a number without a
    ///   JSON representation, or for an unknown field with the name of a known one.
    public func encode(to encoder: any Encoder) throws {
        try checkSavable()
        try JSONValue(writing: { $0.write(self) }).encode(to: encoder)
    }
}
