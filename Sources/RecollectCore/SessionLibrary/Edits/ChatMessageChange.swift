import Foundation

/// The change of an entry by a transcript, and the entry before it.
///
/// Only the fields changed by the transcript are applied. The change of an unknown entry adds to the fields of the stored
/// one, and removes nothing.
package struct ChatMessageChange {
    /// The entry in the transcript.
    package let entry: ChatMessage
    /// The attachments of the entry, with their bytes stored by hash.
    package let attachments: [Attachment]
    /// The entry as last shown or saved, or `nil` for an unknown one.
    package let known: KnownChatMessage?
    /// Whether the entry has the content of a reply ended by its own window, and no transcript had it as complete before.
    private let isEnd: Bool
    /// Whether the entry is of a reply ended by its own window, and no transcript had it as complete before.
    private let isOfEnded: Bool
    private let hash: ChatMessageHash

    /// Creates the change of an entry.
    /// - Parameters:
    ///   - entry: The entry in the transcript.
    ///   - kept: The same entry, with attachments stored by hash.
    ///   - isEnd: Whether the entry has the content of a reply ended by its own window, and no transcript had it as complete
    ///     before.
    ///   - isOfEnded: Whether the entry is one of such a reply, with this content or another.
    package init(
        _ entry: ChatMessage, keptAs kept: ChatMessage, from known: KnownChatMessage?, isEnd: Bool = false,
        isOfEnded: Bool = false
    ) {
        self.entry = entry
        attachments = kept.attachments
        self.known = known
        self.isEnd = isEnd
        self.isOfEnded = isOfEnded
        hash = ChatMessageHash(entry)
    }

    /// Whether the transcript has changed the text.
    package var changesText: Bool {
        if isEnd { return false }
        guard let known else { return true }
        return known.entry.map { !$0.content.hasSameBytes(as: entry.content) } ?? changesContent
    }

    /// Whether the transcript has changed the text, the role, the type or the tool.
    package var changesContent: Bool { !isEnd && known.map { !$0.hash.hasSameContent(as: hash) } ?? true }

    /// Whether the entry is an empty text before and after the change. Tool calls and results have content without
    /// a string.
    package var isEmptyText: Bool {
        entry.messageType == .text && entry.content.isEmpty && known?.entry?.content.isEmpty != false
    }

    /// Whether the transcript has changed more than the mark of completion.
    package var changesMoreThanCompletion: Bool {
        guard let known else { return !isEnd && !isEmptyText || !attachments.isEmpty }
        return changesContent || known.hash.attachments != hash.attachments || known.hash.metadata != hash.metadata
            || known.hash.details != hash.details
    }

    /// The entry as a late increment leaves it: with the text, the role, the type and the tool before the change. Without a
    /// text if they changed and were not known in full.
    package var withoutContent: ChatMessage {
        guard changesContent else { return entry }
        var saved = entry
        saved.content = known?.entry?.content ?? ""
        guard let before = known?.entry else { return saved }
        saved.role = before.role
        saved.messageType = before.messageType
        saved.toolName = before.toolName
        saved.toolInputData = before.toolInputData
        return saved
    }

    /// Whether the entry was incomplete when it was shown or saved before. A UI may complete a reply of its own with the text
    /// it has shown last.
    package var isStreaming: Bool { known.map { !$0.hash.isComplete } ?? (isOfEnded || !entry.isComplete) }

    /// Whether a stored entry is a later state of this one: it has the same text, or another writer's continuation of a
    /// streaming text.
    package func isEarlier(than stored: ChatMessage) -> Bool {
        if entry.content.hasSameBytes(as: stored.content) { return true }
        guard isStreaming, known?.hasSameContent(as: stored) != true else { return false }
        // White space between texts is an edit by the UI. It may only have trimmed its text.
        return stored.content.drop(while: \.isWhitespace).utf8
            .starts(with: entry.content.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
    }

    /// Whether the entry has only the beginning of a reply ended by its own window, apart from white space.
    package func isBeginning(of stored: ChatMessage) -> Bool {
        isOfEnded && stored.content.continues(entry.content) && !entry.content.continues(stored.content)
    }

    /// Whether the text of the entry contains the text of a stored one.
    package func hasText(of stored: ChatMessage) -> Bool {
        entry.content.contains(stored.content.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// Whether the entry is an increment of a reply completed by another writer.
    package func isLate(for stored: ChatMessage) -> Bool {
        !entry.isComplete && stored.isComplete && known?.hash.isComplete != true
    }

    /// Returns the stored entry with the fields changed by the transcript.
    package func applying(to stored: ChatMessage) -> ChatMessage {
        var result = applyingDetails(to: stored)
        guard changesContent, !isLate(for: stored) else { return result }
        if changesText, !isEarlier(than: stored) { result.content = entry.content }
        take(\.role, for: &result) { $0.rawValue.hasSameBytes(as: $1.rawValue) }
        take(\.messageType, for: &result) { $0.rawValue.hasSameBytes(as: $1.rawValue) }
        take(\.toolName, for: &result) { $0.hasSameBytes(as: $1) }
        take(\.toolInputData, for: &result) { $0.hasSameBytes(as: $1) }
        return result
    }

    /// Returns the stored entry with the fields changed by the transcript, except for the text, the role, the type and the
    /// tool.
    package func applyingDetails(to stored: ChatMessage) -> ChatMessage {
        var result = stored
        result.attachments = mergedAttachments(stored.attachments)
        result.metadata = mergedMetadata(stored.metadata)
        guard let known else {
            if entry.isComplete { result.isComplete = true }
            return addingMarks(to: result)
        }
        if known.hash.details != hash.details {
            take(\.timestamp, for: &result)
            take(\.isError, for: &result)
            take(\.wasCancelled, for: &result)
            take(\.isTaskContainer, for: &result)
            take(\.taskGroupId, for: &result)
        }
        if known.hash.isComplete != entry.isComplete, !isLate(for: stored) { result.isComplete = entry.isComplete }
        return result
    }

    /// Returns the stored entry with the fields added by the transcript, except for its text and its end.
    package func addingDetails(to stored: ChatMessage) -> ChatMessage {
        var result = stored
        let old = known?.entry
        let others = (old?.attachments ?? []) + stored.attachments
        result.attachments += attachments.filter { !others.contains($0) }
        set(old?.metadata ?? [:], in: &result.metadata)
        let wasCancelled = result.wasCancelled
        result = addingMarks(to: result)
        result.wasCancelled = wasCancelled
        return result
    }

    private func addingMarks(to stored: ChatMessage) -> ChatMessage {
        var result = stored
        result.isError = stored.isError || entry.isError
        result.wasCancelled = stored.wasCancelled || entry.wasCancelled
        result.isTaskContainer = stored.isTaskContainer || entry.isTaskContainer
        result.taskGroupId = entry.taskGroupId ?? stored.taskGroupId
        return result
    }

    /// Takes a field from the transcript, unless it is known to be unchanged.
    private func take<Value: Equatable>(
        _ field: WritableKeyPath<ChatMessage, Value>, for result: inout ChatMessage,
        isSame: (Value, Value) -> Bool = { $0 == $1 }
    ) {
        if let old = known?.entry, isSame(old[keyPath: field], entry[keyPath: field]) { return }
        result[keyPath: field] = entry[keyPath: field]
    }

    private func mergedAttachments(_ stored: [Attachment]) -> [Attachment] {
        guard let known else { return stored + attachments.filter { !stored.contains($0) } }
        guard known.hash.attachments != hash.attachments else { return stored }
        guard let old = known.entry?.attachments.map(\.withStoredBytes), old != stored else { return attachments }
        let remaining = stored.filter { !old.contains($0) || attachments.contains($0) }
        return remaining + attachments.filter { !old.contains($0) && !remaining.contains($0) }
    }

    private func mergedMetadata(_ stored: [String: JSONValue]) -> [String: JSONValue] {
        var merged = stored
        guard let known else {
            set([:], in: &merged)
            return merged
        }
        guard known.hash.metadata != hash.metadata else { return stored }
        guard let old = known.entry?.metadata else { return entry.metadata }
        set(old, in: &merged)
        for key in old.keys where entry.metadata[key] == nil { merged[key] = nil }
        return merged
    }

    /// Sets the members with a change.
    private func set(_ old: [String: JSONValue], in metadata: inout [String: JSONValue]) {
        for (key, value) in entry.metadata where !old.hasMember(key, value) {
            // Removed first; otherwise the bytes of the old key would stay.
            metadata[key] = nil
            metadata[key] = value
        }
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
