import Foundation
import RecollectCore

/// The change of an entry by a transcript, and the entry before it.
struct ChatMessageChange {
    /// The entry in the transcript.
    let entry: ChatMessage
    /// The attachments of the entry, with their bytes stored by hash.
    let attachments: [Attachment]
    /// The entry as last shown or saved, or `nil` for an unknown one.
    let known: KnownChatMessage?
    private let hash: ChatMessageHash

    /// - Parameters:
    ///   - entry: The entry in the transcript.
    ///   - kept: The same entry, with attachments stored by hash.
    init(_ entry: ChatMessage, keptAs kept: ChatMessage, from known: KnownChatMessage?) {
        self.entry = entry
        attachments = kept.attachments
        self.known = known
        hash = ChatMessageHash(entry)
    }

    /// Whether the transcript has changed the text, the role, the type or the tool.
    var changesContent: Bool { known.map { !$0.hash.hasSameContent(as: hash) } ?? true }

    /// Whether the transcript shows a reply that was streaming when the entry was shown or saved before.
    var isStreaming: Bool { known?.entry.map { !$0.isComplete } ?? !entry.isComplete }

    /// Whether a stored text is a later state of this entry: the same, or another writer's continuation of a streaming
    /// text. UIs may trim texts.
    func isEarlier(than text: String) -> Bool {
        if entry.content.hasSameBytes(as: text) { return true }
        guard isStreaming, known?.entry.map({ $0.content.hasSameBytes(as: text) }) != true else { return false }
        return text.utf8.starts(with: entry.content.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
    }

    /// Whether the entry is an increment of a reply completed by another writer.
    func isLate(for stored: ChatMessage) -> Bool {
        !entry.isComplete && stored.isComplete && known?.entry?.isComplete != true
    }

    /// Returns the stored entry with the fields changed by the transcript, except for the content.
    func applyingDetails(to stored: ChatMessage) -> ChatMessage {
        var result = stored
        result.attachments = mergedAttachments(stored.attachments)
        result.metadata = mergedMetadata(stored.metadata)
        guard known?.hash.details != hash.details else { return result }
        let old = known?.entry
        if old?.timestamp != entry.timestamp { result.timestamp = entry.timestamp }
        if old?.isError != entry.isError { result.isError = entry.isError }
        if old?.wasCancelled != entry.wasCancelled { result.wasCancelled = entry.wasCancelled }
        if old?.isTaskContainer != entry.isTaskContainer { result.isTaskContainer = entry.isTaskContainer }
        if old?.taskGroupId != entry.taskGroupId { result.taskGroupId = entry.taskGroupId }
        if old?.isComplete != entry.isComplete, !isLate(for: stored) { result.isComplete = entry.isComplete }
        return result
    }

    /// Returns the stored entry with the fields changed by the transcript.
    func applying(to stored: ChatMessage) -> ChatMessage {
        var result = applyingDetails(to: stored)
        guard changesContent, !isLate(for: stored) else { return result }
        if known?.hasSameContent(as: stored) == true || !isEarlier(than: stored.content) {
            result.content = entry.content
        }
        let old = known?.entry
        if old?.role != entry.role { result.role = entry.role }
        if old?.messageType != entry.messageType { result.messageType = entry.messageType }
        if old?.toolName != entry.toolName { result.toolName = entry.toolName }
        if old?.toolInputData != entry.toolInputData { result.toolInputData = entry.toolInputData }
        return result
    }

    private func mergedAttachments(_ stored: [Attachment]) -> [Attachment] {
        guard let known else { return attachments.isEmpty ? stored : attachments }
        guard known.hash.attachments != hash.attachments else { return stored }
        guard let old = known.entry?.attachments.map(\.withStoredBytes), old != stored else { return attachments }
        let remaining = stored.filter { !old.contains($0) || attachments.contains($0) }
        return remaining + attachments.filter { !old.contains($0) && !remaining.contains($0) }
    }

    private func mergedMetadata(_ stored: [String: JSONValue]) -> [String: JSONValue] {
        guard let known else { return entry.metadata.isEmpty ? stored : entry.metadata }
        guard known.hash.metadata != hash.metadata else { return stored }
        guard let old = known.entry?.metadata else { return entry.metadata }
        var merged = stored
        for (key, value) in entry.metadata where old[key].map({ !$0.hasSameBytes(as: value) }) ?? true {
            // Removed first; otherwise the bytes of the old key would stay.
            merged[key] = nil
            merged[key] = value
        }
        for key in old.keys where entry.metadata[key] == nil { merged[key] = nil }
        return merged
    }
}

extension Attachment {
    /// The attachment as a store keeps it.
    fileprivate var withStoredBytes: Attachment {
        guard case .inline(let bytes) = content else { return self }
        var stored = self
        stored.content = .stored(sha256: Attachment.sha256(of: bytes), byteCount: bytes.count)
        return stored
    }
}
