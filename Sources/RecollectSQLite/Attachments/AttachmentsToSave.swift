import Foundation
import GRDB
import RecollectCore

/// Messages or entries to save, with their attachments stored by hash before the transaction begins.
///
/// Meanwhile, a deletion may find a file unused and remove it, so the transaction checks again.
struct AttachmentsToSave<Content: Sendable>: Sendable {
    private let content: Content
    private let bytes: [String: Data]

    /// Creates the content and stores the bytes of its attachments. Blocks. The bytes are durable at its return.
    /// - Parameter mapping: Returns the content with each attachment's content replaced.
    init(
        in attachments: any AttachmentSaving,
        _ mapping: (_ keep: (Attachment.Content) throws -> Attachment.Content) throws -> Content
    ) throws {
        var kept: [String: Data] = [:]
        content = try mapping { content in
            guard case .inline(let bytes) = content else { return content }
            let hash = try attachments.save(bytes)
            kept[hash] = bytes
            return .stored(sha256: hash, byteCount: bytes.count)
        }
        bytes = kept
    }

    /// Creates content without attachments to store.
    init(_ content: Content) {
        self.content = content
        bytes = [:]
    }

    /// Whether files were stored for it.
    var hasFiles: Bool { !bytes.isEmpty }

    /// Returns the content to save. Call it in the write transaction of the save, so that no deletion removes a
    /// file meanwhile.
    func secured(in attachments: any AttachmentSaving) throws -> Content {
        for (hash, bytes) in bytes where !attachments.has(hash) { _ = try attachments.save(bytes) }
        return content
    }

    /// The hashes of the stored attachments.
    var hashes: [String] { Array(bytes.keys) }

    /// Returns the hashes of stored attachments without uses: the history may already have had the message. In the
    /// transaction of the save.
    func unused(_ db: Database) throws -> [String] {
        try bytes.keys.filter { try !AttachmentUse.isUsed($0, db) }
    }
}
