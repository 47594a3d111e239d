import Crypto
import Foundation

/// A file in a message, in most transcripts an image.
///
/// ```swift
/// let picture = Attachment(mediaType: "image/jpeg", name: "fjord.jpg", content: .inline(photo))
/// let question = ConversationMessage(role: .user, parts: [.text("Where is this?"), .attachment(picture)])
/// try await chat.save(question, userId: "ana", sessionId: "trip", agentId: "planner", maxMessages: 100)
/// ```
///
/// The bytes are in the message (`inline`), in a store beside its messages under their SHA-256 hash (`stored`), or
/// elsewhere (`remote`). A store with separate attachments changes `inline` to `stored` when it saves.
public struct Attachment: Hashable, Sendable {
    /// The location of an attachment's bytes.
    public enum Content: Hashable, Sendable {
        /// The bytes themselves.
        case inline(Data)
        /// The SHA-256 hash of the bytes in 64 lowercase hexadecimal digits, and their number.
        case stored(sha256: String, byteCount: Int)
        /// The URL of bytes stored elsewhere.
        case remote(url: String)
    }

    /// The media type, for example `image/png`.
    public var mediaType: String
    /// The name of the file, if it had one.
    public var name: String?
    /// The location of the bytes.
    public var content: Content

    /// Creates an attachment.
    public init(mediaType: String, name: String? = nil, content: Content) {
        self.mediaType = mediaType
        self.name = name
        self.content = content
    }

    /// Returns the SHA-256 hash of bytes in 64 lowercase hexadecimal digits.
    public static func sha256(of bytes: Data) -> String {
        SHA256.hash(data: bytes).lowercaseHexadecimal
    }
}

extension Attachment: Codable {
    private enum CodingKeys: String, CodingKey {
        case mediaType, name, data, sha256, byteCount, url
    }

    /// The number of fields in the attachment's encoding.
    var fieldCount: Int {
        let fields = name == nil ? 2 : 3
        if case .stored = content { return fields + 1 }
        return fields
    }

    /// Creates an attachment by decoding `{"mediaType", "name"?, and one of "data" (base64) | "sha256" with
    /// "byteCount" | "url"}`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        mediaType = try container.decode(String.self, forKey: .mediaType)
        name = try container.decodeIfPresent(String.self, forKey: .name)
        if let sha256 = try container.decodeIfPresent(String.self, forKey: .sha256) {
            let count = try container.decode(Int.self, forKey: .byteCount)
            content = .stored(sha256: sha256, byteCount: count)
        } else if let url = try container.decodeIfPresent(String.self, forKey: .url) {
            content = .remote(url: url)
        } else {
            let text = try container.decode(String.self, forKey: .data)
            guard let bytes = Data(base64Encoded: text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .data, in: container, debugDescription: "the attachment's data is not base64")
            }
            content = .inline(bytes)
        }
    }

    /// Encodes the attachment for `init(from:)`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(mediaType, forKey: .mediaType)
        try container.encodeIfPresent(name, forKey: .name)
        switch content {
        case .inline(let bytes):
            try container.encode(bytes.base64EncodedString(), forKey: .data)
        case .stored(let sha256, let byteCount):
            try container.encode(sha256, forKey: .sha256)
            try container.encode(byteCount, forKey: .byteCount)
        case .remote(let url):
            try container.encode(url, forKey: .url)
        }
    }
}
