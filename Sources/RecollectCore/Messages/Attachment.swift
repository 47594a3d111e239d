import Crypto
import Foundation

/// A file that belongs to a message: an image in most transcripts.
///
/// The bytes are either here (`inline`), or kept by a store beside its messages and named by their SHA-256 (`stored`), or
/// somewhere else (`remote`). A store that keeps attachments apart turns the first into the second when it saves.
public struct Attachment: Hashable, Sendable {
    /// Where the bytes are.
    public enum Content: Hashable, Sendable {
        /// The bytes themselves.
        case inline(Data)
        /// The SHA-256 of the bytes, 64 lowercase hexadecimal digits, and their count.
        case stored(sha256: String, byteCount: Int)
        /// An address that someone else keeps.
        case remote(url: String)
    }

    /// The media type, `image/png` for instance.
    public var mediaType: String
    /// The file's name, where it had one.
    public var name: String?
    /// Where the bytes are.
    public var content: Content

    /// Makes an attachment.
    public init(mediaType: String, name: String? = nil, content: Content) {
        self.mediaType = mediaType
        self.name = name
        self.content = content
    }

    /// The SHA-256 of bytes as stores name them: 64 lowercase hexadecimal digits.
    public static func sha256(of bytes: Data) -> String {
        SHA256.hash(data: bytes).lowercaseHexadecimal
    }
}

extension Sequence<UInt8> {
    /// Two lowercase hexadecimal digits for each byte.
    package var lowercaseHexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension Attachment: Codable {
    private enum CodingKeys: String, CodingKey {
        case mediaType, name, data, sha256, byteCount, url
    }

    /// How many fields the attachment is written with.
    var fieldCount: Int {
        let fields = name == nil ? 2 : 3
        if case .stored = content { return fields + 1 }
        return fields
    }

    /// Reads `{"mediaType", "name"?, and one of "data" (base64) | "sha256" with "byteCount" | "url"}`.
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

    /// Writes what `init(from:)` reads.
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
