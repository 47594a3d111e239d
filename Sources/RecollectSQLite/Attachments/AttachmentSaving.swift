import Foundation
import RecollectCore

/// A store for the bytes of attachments: each version once, in a file named after its SHA-256 beside the database.
///
/// All methods block. A file is complete and durable before a row names it. It is removed after the last of these
/// rows.
protocol AttachmentSaving: Sendable {
    /// Stores bytes and returns their hash. Bytes already stored are not written again.
    func save(_ bytes: Data) throws -> String
    /// Returns the bytes with a hash, verified.
    func read(_ sha256: String) throws -> Data
    /// Whether the bytes with a hash are stored.
    func has(_ sha256: String) -> Bool
    /// Removes the bytes with a hash, if they are stored.
    func remove(_ sha256: String) throws
    /// Removes leftovers of interrupted saves from one of the folders, 0 to 255.
    func removeLeftovers(inFolder folder: Int) throws
}

extension ConversationMessage {
    /// Returns the message with every inline attachment stored by hash. Blocks. The bytes are durable at its
    /// return.
    func savingAttachments(in attachments: any AttachmentSaving) throws -> ConversationMessage {
        try mappingAttachments { content in
            guard case .inline(let bytes) = content else { return content }
            return .stored(sha256: try attachments.save(bytes), byteCount: bytes.count)
        }
    }
}
