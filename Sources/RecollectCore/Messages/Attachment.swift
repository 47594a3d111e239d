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

    /// Whether a string is a SHA-256 hash in lowercase hexadecimal digits. A message may have any text in its place.
    package static func isHash(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}
