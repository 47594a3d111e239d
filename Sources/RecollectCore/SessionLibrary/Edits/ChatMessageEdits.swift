import Foundation

/// The changes of a transcript to the entries of one message. The message is read once.
///
/// A change is merged with those of other writers, field by field: see `ChatMessageChange`.
package struct ChatMessageEdits {
    /// The result of a change.
    package enum Outcome {
        /// An entry has the change, or there is nothing to change.
        case edited
        /// The message was shown as this entry alone, and has the change.
        case editedAsOne
        /// The message has no such entry any more.
        case missing
    }

    /// The message before these changes.
    package let message: ConversationMessage
    private var entries: [ChatMessage]
    /// The removed entries. They stay in `entries`, where other removals find their own.
    private var removed: Set<Int> = []

    package init(_ message: ConversationMessage) {
        self.message = message
        entries = message.chatMessages()
    }

    // MARK: Changes

    /// Applies the change of an entry.
    /// - Parameters:
    ///   - id: The ID of the entry within the message.
    ///   - isAlone: Whether the message was shown or saved as this entry alone.
    ///   - isRemoved: Whether the transcript has removed the entry before.
    ///   - others: The other known entries of the message in the transcript, for an unknown entry.
    ///   - shown: The entries of the message shown or saved before.
    /// - Returns: The result, and whether the change is an increment of text completed by another writer, whose content is
    ///   neither applied nor in the message.
    package mutating func apply(
        _ change: ChatMessageChange, to id: UUID, isAlone: Bool, isRemoved: Bool, beside others: [ChatMessage],
        shown: () -> [KnownChatMessage]?
    ) -> (outcome: Outcome, isUnsaved: Bool) {
        if !isRemoved, others.contains(where: change.entry.hasSameContent), !isLate(change) { return (.edited, false) }
        if isRemoved || !others.isEmpty && !isLate(change) { return (undo(change, beside: others), false) }
        let isOne = (isAlone || hasID(of: change.entry)) && entries.count > 1
        if !isOne || change.entry.messageType != .text,
            let index = index(
                of: change.known, id, as: change.known?.entry ?? change.entry, isAlone: isAlone, shown: shown)
        {
            let isUnsaved = change.isLate(for: entries[index]) && !change.isEarlier(than: entries[index])
            entries[index] = change.applying(to: entries[index])
            return (isOne ? .editedAsOne : .edited, isUnsaved)
        }
        if isJoined(change, shown) {
            entries[0] = change.applyingDetails(to: entries[0])
            return (.edited, false)
        }
        return isOne ? applyToAll(change) : (applyWithoutPart(change), isLate(change))
    }

    /// Whether the message is only the changed text by now, and no other entry shows it: another window has joined the parts
    /// in the same way.
    private func isJoined(_ change: ChatMessageChange, _ shown: () -> [KnownChatMessage]?) -> Bool {
        guard let known = change.known, change.changesContent, entries.count == 1,
            change.entry.hasSameContent(as: entries[0])
        else { return false }
        return !(shown() ?? []).contains { $0.hash.id != known.hash.id && $0.hasSameContent(as: entries[0]) }
    }

    /// Brings back a removed entry. A part with its content, or the first parts with it together, are the entry, unless
    /// another entry shows them. No other part is replaced: other writers have the parts of the message now.
    private mutating func undo(_ change: ChatMessageChange, beside others: [ChatMessage]) -> Outcome {
        let entry = change.entry
        func isSame(_ other: ChatMessage) -> Bool { entry.hasSameContent(as: other) && entry.callId == other.callId }
        let shown = others.count(where: isSame)
        let alike = entries.indices.filter { entries[$0].isSameKind(as: entry) }
        guard !change.isEmptyText, shown == 0 || entries.count(where: isSame) > shown,
            let first = parts(among: alike, where: isSame)?.first
        else { return applyWithoutPart(change) }
        entries[first] = change.applyingDetails(to: entries[first])
        return hasID(of: change.entry) && entries.count > 1 ? .editedAsOne : .edited
    }

    /// Applies the change of an entry that showed the whole message. A UI without tools shows a message of several parts
    /// as one entry.
    ///
    /// The changed text replaces the part with its former content, or the first parts that were this content together,
    /// and the parts that a streaming text has, or else the first part. Other entries stay.
    private mutating func applyToAll(_ change: ChatMessageChange) -> (outcome: Outcome, isUnsaved: Bool) {
        let isLate = isLate(change)
        let shown = entries.indices.filter { isShown($0, as: change.entry) }
        guard let first = emptyPart(of: change) ?? shown.first else { return (applyWithoutPart(change), isLate) }
        let isThere =
            !shown.isEmpty && change.isEarlier(than: joined(shown))
            || !shown.isEmpty && change.isBeginning(of: joined(shown))
            || change.known == nil && parts(among: shown) { $0.content.hasSameBytes(as: change.entry.content) } != nil
        var replaced = change.known.flatMap { texts(among: shown, shownAs: $0) } ?? []
        if change.isStreaming || change.known == nil {
            // A UI may separate the texts in another way.
            replaced = shown.filter { replaced.contains($0) || change.hasText(of: entries[$0]) }
        }
        if replaced.isEmpty { replaced = [first] }
        var entry = change.applyingDetails(to: entries[replaced[0]])
        guard change.changesText, !isThere, !isLate else {
            entries[replaced[0]] = entry
            return (.editedAsOne, isLate && !isThere)
        }
        entry.content = change.entry.content
        for index in replaced.dropFirst() { entry.addDetails(of: entries[index]) }
        entries[replaced[0]] = entry
        for index in replaced.dropFirst().reversed() { entries.remove(at: index) }
        return (.editedAsOne, false)
    }

    /// Applies the change of an entry whose part another writer has removed. An empty text stands for the rest of its
    /// message.
    private mutating func applyWithoutPart(_ change: ChatMessageChange) -> Outcome {
        if hasID(of: change.entry), change.isEmptyText {
            entries[0] = change.applyingDetails(to: entries[0])
            return entries.count > 1 ? .editedAsOne : .edited
        }
        return change.changesMoreThanCompletion ? .missing : .edited
    }

    /// Whether a change is an increment of a reply completed by another writer. A part added to a streaming text does not
    /// complete it.
    private func isLate(_ change: ChatMessageChange) -> Bool { entries.allSatisfy(change.isLate) }

    /// Adds the details of another writer to the message's entry.
    package mutating func addDetails(_ change: ChatMessageChange) {
        let index = entries.indices.first { isShown($0, as: change.entry) } ?? 0
        entries[index] = change.addingDetails(to: entries[index])
    }

    // MARK: Removals

    /// Removes an entry as shown or saved. Texts and parts of other writers stay.
    /// - Parameters:
    ///   - id: The ID of the entry within the message.
    ///   - isAlone: Whether the message was shown or saved as this entry alone.
    ///   - transcript: The transcript without the entry. It may show the parts of a message under other IDs: the first text
    ///     of a streaming reply has another ID once a part follows it.
    ///   - shown: The entries of the message shown or saved before.
    package mutating func remove(
        _ known: KnownChatMessage?, _ id: UUID, isAlone: Bool, from transcript: [ChatMessage],
        shown: () -> [KnownChatMessage]?
    ) {
        func isShown(_ index: Int) -> Bool {
            let part = entries[index]
            return part.id != id && transcript.contains { $0.id == part.id && $0.hasSameContent(as: part) }
        }
        if let index = index(of: known, id, as: known?.entry, isAlone: isAlone, shown: shown) {
            if !isShown(index) { removed.insert(index) }
            return
        }
        guard isAlone, let known, let first = entries.first(where: { $0.messageType == .text }) else { return }
        let texts = entries.indices.filter { self.isShown($0, as: first) }
        removed.formUnion((self.texts(among: texts, shownAs: known) ?? []).filter { !isShown($0) })
    }

    // MARK: Parts

    /// Returns the index of an entry: the one with its ID or, if another writer has moved parts, the only one with the
    /// known content.
    /// - Parameters:
    ///   - like: An entry of the same kind, if the kind is known.
    ///   - isAlone: Whether the message was shown or saved as this entry alone.
    ///   - shown: The entries of the message shown or saved before, if they are known. With another number of them,
    ///     with the content of another one, or with another one moved, the entry with the ID is another part, except for
    ///     text that has grown.
    private func index(
        of known: KnownChatMessage?, _ id: UUID, as like: ChatMessage?, isAlone: Bool,
        shown: () -> [KnownChatMessage]?
    ) -> Int? {
        let own = entries.firstIndex { $0.id == id }
        if let known, let own, known.hasSameContent(as: entries[own]) { return own }
        // The only part left may be another one, unless the entry is the whole message.
        let isWhole = own != nil && entries.count == 1 && (isAlone || UUID(uuidString: message.id) == id)
        let shown = isWhole ? nil : shown()
        let others = (shown ?? []).filter { $0.hash.id != known?.hash.id }
        let inPlace = own.flatMap { own -> Int? in
            guard like.map({ $0.isSameKind(as: entries[own]) }) ?? true else { return nil }
            // Without a known kind and the other entries, another part may be under the ID by now.
            guard let shown else { return known != nil && like == nil && entries.count > 1 ? nil : own }
            if shown.contains(where: { $0.hasSameContent(as: entries[own]) }) { return nil }
            if let known, known.isContinued(by: entries[own]), !entries.contains(where: known.hasSameContent) {
                return own
            }
            guard shown.count == entries.count else { return nil }
            // The IDs of a merged message are not those shown.
            return id == known?.hash.id && others.contains(where: hasMoved) ? nil : own
        }
        guard let known else { return inPlace }
        let same = entries.indices.filter { known.hasSameContent(as: entries[$0]) }
        // Of several shown with the same content, the one left may be another one.
        return same.count == 1 && !others.show(entries[same[0]]) ? same[0] : inPlace
    }

    /// Whether the content of a shown entry is only under other IDs now.
    private func hasMoved(_ shown: KnownChatMessage) -> Bool {
        let same = entries.filter(shown.hasSameContent)
        return !same.isEmpty && !same.contains { $0.id == shown.hash.id }
    }

    /// Whether a UI without tools shows a part in an entry: the part has the kind of the entry, and text. A part of an
    /// unknown type has no text.
    private func isShown(_ index: Int, as entry: ChatMessage) -> Bool {
        entries[index].isSameKind(as: entry) && !entries[index].content.isEmpty
    }

    /// Returns the index of the part of an entry shown as an empty text. A part of an unknown type is not it.
    private func emptyPart(of change: ChatMessageChange) -> Int? {
        guard let known = change.known, message.parts.contains(.text("")) else { return nil }
        return entries.firstIndex {
            $0.messageType == .text && $0.content.isEmpty && known.hasSameContent(as: $0)
        }
    }

    /// Returns some entries as one.
    private func joined(_ indices: [Int]) -> ChatMessage {
        var one = entries[indices[0]]
        one.content = indices.map { entries[$0].content }.joined()
        return one
    }

    /// Returns the first entry with a condition, or the first entries with it when joined.
    private func parts(among indices: [Int], where isMeant: (ChatMessage) -> Bool) -> [Int]? {
        indices.first { isMeant(entries[$0]) }.map { [$0] }
            ?? firstParts(of: indices, where: isMeant)
    }

    /// Returns the first entries with a condition when joined, as few as possible.
    private func firstParts(of indices: [Int], where isMeant: (ChatMessage) -> Bool) -> [Int]? {
        indices.indices.lazy.map { Array(indices[...$0]) }.first { isMeant(joined($0)) }
    }

    /// Returns the texts shown as one entry: those with its text or, if it was shown in part, the first ones beginning with
    /// its text.
    private func texts(among indices: [Int], shownAs known: KnownChatMessage) -> [Int]? {
        parts(among: indices, where: known.hasSameContent) ?? parts(among: indices, where: known.hasSameText)
            ?? firstParts(of: indices, where: known.isContinued)
    }

    /// Whether the message has the ID of an entry.
    package func hasID(of entry: ChatMessage) -> Bool { UUID(uuidString: message.id) == entry.id }

    /// Whether the message has one entry after these changes.
    package var hasOneEntry: Bool { entries.count == 1 }

    /// The message after these changes, or `nil` if no entry is left.
    package var edited: ConversationMessage? {
        message.replacing(entries.indices.filter { !removed.contains($0) }.map { entries[$0] })
    }
}

extension ChatMessage {
    /// Adds the attachments, metadata and flags of a text joined with this one.
    fileprivate mutating func addDetails(of part: ChatMessage) {
        attachments += part.attachments
        metadata.merge(part.metadata) { own, _ in own }
        isError = isError || part.isError
        wasCancelled = wasCancelled || part.wasCancelled
        isTaskContainer = isTaskContainer || part.isTaskContainer
        taskGroupId = taskGroupId ?? part.taskGroupId
    }
}
