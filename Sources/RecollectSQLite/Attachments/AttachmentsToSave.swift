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

extension SQLiteHistoryStore {
    /// Writes content with attachments stored before. Files without uses after the write are removed later,
    /// including those of a failed or canceled write. Their removal neither fails nor delays the write.
    /// - Parameter body: The work in the transaction. Returns its result and the hashes of attachments without
    ///   remaining uses.
    func write<Content: Sendable, Value: Sendable>(
        keeping kept: AttachmentsToSave<Content>, inPlace: Bool = false,
        _ body: @escaping @Sendable (Content, Database, WriterCache) throws -> (value: Value, orphans: [String])
    ) async throws -> Value {
        do {
            let (value, hasOrphans) = try await write(inPlace: inPlace) { [attachments] db, cache in
                let (value, orphans) = try body(kept.secured(in: attachments), db, cache)
                let unused = try orphans + kept.unused(db)
                try Eraser.note(orphans: unused, db)
                return (value, !unused.isEmpty)
            }
            if hasOrphans { maintenance.wake() }
            return value
        } catch {
            maintenance.remove(unsaved: kept.hashes)
            throw error
        }
    }

    /// Returns the messages with every inline attachment stored by hash.
    /// - Throws: `tooLarge` for a message too large to be read again.
    func savingAttachments(
        of messages: [ConversationMessage]
    ) async throws -> AttachmentsToSave<[ConversationMessage]> {
        try messages.checkSavable()
        guard messages.contains(where: \.hasInlineAttachments) else { return AttachmentsToSave(messages) }
        return try await blocking { [attachments] in
            try AttachmentsToSave(in: attachments) { keep in try messages.map { try $0.mappingAttachments(keep) } }
        }
    }

    /// Returns the entries of a transcript with every inline attachment stored by hash.
    func savingAttachments(of entries: [ChatMessage]) async throws -> AttachmentsToSave<[ChatMessage]> {
        guard entries.contains(where: { !$0.attachments.isEmpty }) else { return AttachmentsToSave(entries) }
        return try await blocking { [attachments] in
            try AttachmentsToSave(in: attachments) { keep in
                try entries.map { entry in
                    var entry = entry
                    for index in entry.attachments.indices {
                        entry.attachments[index].content = try keep(entry.attachments[index].content)
                    }
                    return entry
                }
            }
        }
    }
}
