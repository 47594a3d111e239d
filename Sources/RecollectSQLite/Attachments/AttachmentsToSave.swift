import Foundation
import GRDB
import RecollectCore

/// Messages or entries that are about to be saved, with their attachments kept by hash before the transaction begins.
///
/// Between the two a deletion may find that nothing uses a file yet and remove it; so the transaction looks again.
struct AttachmentsToSave<Content: Sendable>: Sendable {
    private let content: Content
    private let bytes: [String: Data]

    /// Keeps the bytes of attachments. Blocks; they are on the disk when this returns.
    /// - Parameter mapping: gives the content with each attachment's content replaced.
    init(
        in attachments: any AttachmentKeeping,
        _ mapping: (_ keep: (Attachment.Content) throws -> Attachment.Content) throws -> Content
    ) throws {
        var kept: [String: Data] = [:]
        content = try mapping { content in
            guard case .inline(let bytes) = content else { return content }
            let hash = try attachments.keep(bytes)
            kept[hash] = bytes
            return .stored(sha256: hash, byteCount: bytes.count)
        }
        bytes = kept
    }

    /// Content without attachments to keep.
    init(_ content: Content) {
        self.content = content
        bytes = [:]
    }

    /// Whether files were kept for it.
    var hasFiles: Bool { !bytes.isEmpty }

    /// What is to be saved. In the write transaction that saves it: no deletion removes a file meanwhile.
    func secured(in attachments: any AttachmentKeeping) throws -> Content {
        for (hash, bytes) in bytes where !attachments.has(hash) { _ = try attachments.keep(bytes) }
        return content
    }

    /// The hashes of what was kept.
    var hashes: [String] { Array(bytes.keys) }

    /// The hashes of what was kept and not saved: the history may have known the message already. In the transaction that
    /// saves.
    func unused(_ db: Database) throws -> [String] {
        try bytes.keys.filter { try !AttachmentUse.isUsed($0, db) }
    }
}

extension SQLiteHistoryStore {
    /// Writes content whose attachments were kept before. The files that the write leaves without use are removed afterwards, also
    /// those of content that a failed or cancelled write did not save; neither fails the write nor is waited for.
    /// - Parameter body: what is done in the transaction; gives its result and the hashes of attachments that lost their last use.
    func write<Content: Sendable, Value: Sendable>(
        keeping kept: AttachmentsToSave<Content>, inPlace: Bool = false,
        _ body: @escaping @Sendable (Content, Database, WriterCache) throws -> (value: Value, orphans: [String])
    ) async throws -> Value {
        do {
            let (value, hasOrphans) = try await write(inPlace: inPlace) { [attachments] db, cache in
                let (value, orphans) = try body(kept.secured(in: attachments), db, cache)
                let unused = try orphans + kept.unused(db)
                try Erasing.note(orphans: unused, db)
                return (value, !unused.isEmpty)
            }
            if hasOrphans { upkeep.wake() }
            return value
        } catch {
            upkeep.remove(unsaved: kept.hashes)
            throw error
        }
    }

    /// The messages with every inline attachment kept by hash.
    /// - Throws: `tooLarge` for a message that could not be read again.
    func keepingAttachments(
        of messages: [ConversationMessage]
    ) async throws -> AttachmentsToSave<[ConversationMessage]> {
        try messages.checkSavable()
        guard messages.contains(where: \.hasInlineAttachments) else { return AttachmentsToSave(messages) }
        return try await blocking { [attachments] in
            try AttachmentsToSave(in: attachments) { keep in try messages.map { try $0.mappingAttachments(keep) } }
        }
    }

    /// The entries of a transcript with every inline attachment kept by hash.
    func keepingAttachments(of entries: [ChatMessage]) async throws -> AttachmentsToSave<[ChatMessage]> {
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
