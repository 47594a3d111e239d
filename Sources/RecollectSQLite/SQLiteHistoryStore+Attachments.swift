import Foundation
import GRDB
import RecollectCore

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
