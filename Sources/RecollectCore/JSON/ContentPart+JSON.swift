import Foundation

/// The conversion to and from JSON. Stores and imports use it directly: coders take about ten times as long.
extension ContentPart {
    /// Parses an array of parts.
    /// - Throws: `unreadable` for invalid JSON or a value other than an array.
    package static func parse(list bytes: UnsafeRawBufferPointer) throws -> [ContentPart] {
        try JSONParser.read(bytes) { try $0.parts() }
    }

    /// Returns parts as JSON text.
    package static func write(list parts: [ContentPart]) -> String {
        var writer = JSONWriter()
        writer.write(parts)
        return writer.text
    }

    /// Creates a part from JSON. Any deviation from a known part makes it `unknown`, without loss of data.
    package init(json: JSONValue) {
        self = Self(known: json) ?? .unknown(json)
    }

    private init?(known json: JSONValue) {
        guard case .object(let part) = json, part.count == 1, let (name, value) = part.first,
            case .object(let fields) = value
        else { return nil }
        switch (name, fields.count) {
        case ("text", 1):
            guard let text = fields["_0"]?.stringValue else { return nil }
            self = .text(text)
        case ("audioTranscript", 1):
            guard let text = fields["_0"]?.stringValue else { return nil }
            self = .audioTranscript(text)
        case ("thinking", 1), ("thinking", 2):
            guard let text = fields["_0"]?.stringValue else { return nil }
            switch fields["signature"] {
            case .string(let signature): self = .thinking(text, signature: signature)
            case .null where fields.count == 2, nil where fields.count == 1: self = .thinking(text, signature: nil)
            default: return nil
            }
        case ("toolCall", 3):
            guard let id = fields["id"]?.stringValue, let name = fields["name"]?.stringValue,
                let arguments = fields["arguments"]
            else { return nil }
            self = .toolCall(id: id, name: name, arguments: arguments)
        case ("toolResult", 2):
            guard let id = fields["id"]?.stringValue, let content = fields["content"] else { return nil }
            self = .toolResult(id: id, content: content)
        case ("attachment", _):
            guard let attachment = Attachment(fields: fields) else { return nil }
            self = .attachment(attachment)
        default:
            return nil
        }
    }
}

extension Attachment {
    static let fields: Set<String> = ["mediaType", "name", "data", "sha256", "byteCount", "url"]

    /// Creates an attachment from exactly the fields of its encoding.
    init?(fields: [String: JSONValue]) {
        guard let mediaType = fields["mediaType"]?.stringValue else { return nil }
        let name = fields["name"]?.stringValue
        let expected = name == nil ? 2 : 3
        if fields.count == expected + 1, let sha256 = fields["sha256"]?.stringValue,
            case .integer(let byteCount) = fields["byteCount"]
        {
            self.init(
                mediaType: mediaType, name: name, content: .stored(sha256: sha256, byteCount: Int(byteCount)))
        } else if fields.count == expected, let url = fields["url"]?.stringValue {
            self.init(mediaType: mediaType, name: name, content: .remote(url: url))
        } else if fields.count == expected, let text = fields["data"]?.stringValue,
            let bytes = Data(base64Encoded: text)
        {
            self.init(mediaType: mediaType, name: name, content: .inline(bytes))
        } else {
            return nil
        }
    }
}

extension JSONParser {
    /// Reads an array of parts.
    package mutating func parts() throws -> [ContentPart] {
        var parts: [ContentPart] = []
        try forEachElement { parts.append(try $0.part()) }
        return parts
    }

    /// Reads a part. Text parts, the most frequent ones, are read without intermediate dictionaries.
    private mutating func part() throws -> ContentPart {
        let start = offset
        if let text = try prose() { return .text(text) }
        move(to: start)
        return ContentPart(json: try value())
    }

    /// Reads `{"text":{"_0":"…"}}`. Returns `nil` for other input, with an undefined position.
    private mutating func prose() throws -> String? {
        guard enter(member: "text"), enter(member: "_0"), isNext("\"") else { return nil }
        let text = try string()
        return leave() && leave() ? text : nil
    }
}

extension JSONWriter {
    /// Writes an array of parts.
    package mutating func write(_ parts: [ContentPart]) {
        write(list: parts) { $0.write($1) }
    }

    /// Writes a part.
    private mutating func write(_ part: ContentPart) {
        switch part {
        case .text(let text):
            write(part: "text", "_0", text)
        case .audioTranscript(let text):
            write(part: "audioTranscript", "_0", text)
        case .thinking(let text, let signature):
            write(part: "thinking", "_0", text) { fields in
                if let signature { fields.member("signature") { $0.write(signature) } }
            }
        case .toolCall(let id, let name, let arguments):
            write(part: "toolCall", "id", id) { fields in
                fields.member("name") { $0.write(name) }
                fields.member("arguments") { $0.write(arguments) }
            }
        case .toolResult(let id, let content):
            write(part: "toolResult", "id", id) { fields in
                fields.member("content") { $0.write(content) }
            }
        case .attachment(let attachment):
            write(attachment)
        case .unknown(let value):
            write(value)
        }
    }

    private mutating func write(_ attachment: Attachment) {
        write(part: "attachment", "mediaType", attachment.mediaType) { fields in
            if let name = attachment.name { fields.member("name") { $0.write(name) } }
            switch attachment.content {
            case .inline(let bytes):
                fields.member("data") { $0.write(bytes.base64EncodedString()) }
            case .stored(let sha256, let byteCount):
                fields.member("sha256") { $0.write(sha256) }
                fields.member("byteCount") { $0.write(Int64(byteCount)) }
            case .remote(let url):
                fields.member("url") { $0.write(url) }
            }
        }
    }

    /// Writes a part with its name, its first field, always a string, and the other fields.
    private mutating func write(
        part name: String, _ key: String, _ value: String, others: (inout Members) -> Void = { _ in }
    ) {
        object { part in
            part.member(name) { writer in
                writer.object { fields in
                    fields.member(key) { $0.write(value) }
                    others(&fields)
                }
            }
        }
    }
}

// MARK: Coders

extension ContentPart: Codable {
    /// Creates a part by decoding. Any deviation from a known part makes it `unknown`, without loss of data.
    public init(from decoder: any Decoder) throws {
        self.init(json: try JSONValue(from: decoder))
    }

    /// Encodes the part for `init(from:)`.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels, `invalidArgument` for a number without a
    ///   JSON representation.
    public func encode(to encoder: any Encoder) throws {
        try [self].checkSavable()
        try JSONValue(writing: { $0.write([self]) }).arrayValue?.first?.encode(to: encoder)
    }
}

extension Attachment: Codable {
    /// Creates an attachment by decoding `{"mediaType", "name"?, and one of "data" (base64) | "sha256" with
    /// "byteCount" | "url"}`. Other fields are ignored.
    public init(from decoder: any Decoder) throws {
        let fields = try JSONValue(from: decoder).objectValue ?? [:]
        let known = fields.filter { Self.fields.contains($0.key) && $0.value != .null }
        guard let attachment = Attachment(fields: known) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription:
                        "an attachment requires mediaType, and one of data (base64), sha256 with byteCount, or url"))
        }
        self = attachment
    }

    /// Encodes the attachment for `init(from:)`.
    public func encode(to encoder: any Encoder) throws {
        let part = try JSONValue(writing: { $0.write([.attachment(self)]) })
        try part.arrayValue?.first?["attachment"]?.encode(to: encoder)
    }
}
