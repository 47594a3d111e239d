/// A part of a message.
///
/// The JSON of the first four cases is Agent Squad's (`{"text":{"_0":"hi"}}`): the case, then its labeled values.
/// An unknown part, or a part with unknown fields, is preserved unchanged.
public enum ContentPart: Hashable, Sendable {
    /// Text.
    case text(String)
    /// A tool call by the assistant. Its `id` is also in the result.
    case toolCall(id: String, name: String, arguments: JSONValue)
    /// The result of the tool call with the same `id`.
    case toolResult(id: String, content: JSONValue)
    /// The transcript of audio.
    case audioTranscript(String)
    /// The assistant's thinking, with the signature required by some model providers.
    case thinking(String, signature: String?)
    /// A file.
    case attachment(Attachment)
    /// Unknown data, preserved unchanged.
    case unknown(JSONValue)
}

extension ContentPart {
    /// The text, if this is a text part.
    public var text: String? {
        if case .text(let text) = self { return text }
        return nil
    }

    /// Whether this part is a tool call or a tool result. The same-role rule never drops a message with one.
    public var belongsToToolExchange: Bool {
        switch self {
        case .toolCall, .toolResult: return true
        default: return false
        }
    }
}

extension ContentPart: Codable {
    private enum Name: String, CodingKey {
        case text, toolCall, toolResult, audioTranscript, thinking, attachment

        /// The number of fields in the part's encoding; more fields are unknown data.
        var fieldCounts: ClosedRange<Int> {
            switch self {
            case .text, .audioTranscript: 1...1
            case .thinking: 1...2
            case .toolResult: 2...2
            case .toolCall: 3...3
            case .attachment: 2...4
            }
        }
    }

    private enum Value: String, CodingKey {
        case unlabelled = "_0"
        case id, name, arguments, content, signature
    }

    /// Creates a part by decoding. Any deviation from a known part makes it `unknown`, without loss of data.
    public init(from decoder: any Decoder) throws {
        if let known = try? Self(known: decoder) {
            self = known
        } else {
            self = .unknown(try JSONValue(from: decoder))
        }
    }

    private init(known decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        guard container.allKeys.count == 1, let key = container.allKeys.first,
            let name = Name(rawValue: key.stringValue)
        else { throw NotKnown() }
        if name == .attachment {
            let attachment = try container.decode(Attachment.self, forKey: key)
            let fieldCount = try container.nestedContainer(keyedBy: AnyKey.self, forKey: key).allKeys.count
            guard fieldCount == attachment.fieldCount else { throw NotKnown() }
            self = .attachment(attachment)
            return
        }
        let values = try container.nestedContainer(keyedBy: Value.self, forKey: key)
        let fieldCount = try container.nestedContainer(keyedBy: AnyKey.self, forKey: key).allKeys.count
        guard name.fieldCounts.contains(fieldCount) else { throw NotKnown() }
        switch name {
        case .text:
            self = .text(try values.decode(String.self, forKey: .unlabelled))
        case .audioTranscript:
            self = .audioTranscript(try values.decode(String.self, forKey: .unlabelled))
        case .thinking:
            guard fieldCount == (values.contains(.signature) ? 2 : 1) else { throw NotKnown() }
            self = .thinking(
                try values.decode(String.self, forKey: .unlabelled),
                signature: try values.decodeIfPresent(String.self, forKey: .signature))
        case .toolCall:
            self = .toolCall(
                id: try values.decode(String.self, forKey: .id),
                name: try values.decode(String.self, forKey: .name),
                arguments: try values.decode(JSONValue.self, forKey: .arguments))
        case .toolResult:
            self = .toolResult(
                id: try values.decode(String.self, forKey: .id),
                content: try values.decode(JSONValue.self, forKey: .content))
        case .attachment:
            throw NotKnown()
        }
    }

    /// Encodes the part for `init(from:)`.
    public func encode(to encoder: any Encoder) throws {
        if case .unknown(let value) = self {
            try value.encode(to: encoder)
            return
        }
        var container = encoder.container(keyedBy: Name.self)
        switch self {
        case .text(let text):
            var values = container.nestedContainer(keyedBy: Value.self, forKey: .text)
            try values.encode(text, forKey: .unlabelled)
        case .audioTranscript(let text):
            var values = container.nestedContainer(keyedBy: Value.self, forKey: .audioTranscript)
            try values.encode(text, forKey: .unlabelled)
        case .thinking(let text, let signature):
            var values = container.nestedContainer(keyedBy: Value.self, forKey: .thinking)
            try values.encode(text, forKey: .unlabelled)
            try values.encodeIfPresent(signature, forKey: .signature)
        case .toolCall(let id, let name, let arguments):
            var values = container.nestedContainer(keyedBy: Value.self, forKey: .toolCall)
            try values.encode(id, forKey: .id)
            try values.encode(name, forKey: .name)
            try values.encode(arguments, forKey: .arguments)
        case .toolResult(let id, let content):
            var values = container.nestedContainer(keyedBy: Value.self, forKey: .toolResult)
            try values.encode(id, forKey: .id)
            try values.encode(content, forKey: .content)
        case .attachment(let attachment):
            try container.encode(attachment, forKey: .attachment)
        case .unknown:
            break
        }
    }

    private struct NotKnown: Error {}
}

/// A coding key with any name.
struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
