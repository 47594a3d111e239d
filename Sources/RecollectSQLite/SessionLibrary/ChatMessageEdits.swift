import Foundation
import GRDB
import RecollectCore

/// The changes of a transcript to the entries of one message. The message is read once.
///
/// A change is merged with those of other writers, field by field: see `ChatMessageChange`.
struct ChatMessageEdits {
    /// The result of a change.
    enum Outcome {
        /// An entry has the change.
        case edited
        /// The message was shown as this entry alone, and has the change.
        case editedAsOne
        /// The message has no such entry any more, and the transcript has changed its text.
        case missing
    }

    /// The message before these changes.
    let message: ConversationMessage
    private var entries: [ChatMessage]

    init(_ message: ConversationMessage) {
        self.message = message
        entries = message.chatMessages()
    }

    /// Creates the edits of a message with a sequence number, and reads the message. Returns `nil` if there is
    /// none.
    init?(_ sequence: SequenceNumber, _ db: Database) throws {
        guard let message = try MessageQueries.message(sequence, db) else { return nil }
        self.init(message)
    }

    /// Applies the change of an entry.
    ///
    /// A UI without tools shows a message of several entries as one. So the changed text of such an entry replaces the
    /// texts of the message, or the one text with the known content. All other entries stay.
    /// - Parameters:
    ///   - id: The ID of the entry within the message.
    ///   - isAlone: Whether the message was shown or saved as this entry alone.
    mutating func apply(_ change: ChatMessageChange, to id: UUID, isAlone: Bool) -> Outcome {
        let isOne = isAlone || hasID(of: change.entry)
        let shown = entries.indices.filter { isShown($0, as: change.entry) }
        let isNew = change.changesContent && !change.isEarlier(than: shown.map { entries[$0].content }.joined())
        // A streaming text shows the whole message, and so does one equal to all texts.
        let isWhole = isOne && entries.count > 1 && (change.isStreaming || change.known == nil || !isNew)
        if let index = index(of: change.known, id, as: change.known?.entry ?? change.entry, byContent: !isWhole) {
            entries[index] = change.applying(to: entries[index])
            return isOne && entries.count > 1 ? .editedAsOne : .edited
        }
        guard isOne else { return change.changesContent ? .missing : .edited }
        guard let first = shown.first ?? (isNew ? nil : 0) else { return .missing }
        var entry = change.applyingDetails(to: entries[first])
        if isNew, !change.isLate(for: entries[entries.count - 1]) {
            entry.content = change.entry.content
            entry.attachments += shown.dropFirst().flatMap { entries[$0].attachments }
            for index in shown.dropFirst().reversed() { entries.remove(at: index) }
        }
        entries[first] = entry
        return entries.count > 1 ? .editedAsOne : .edited
    }

    /// Applies the change of the message's entry, except for its text.
    mutating func applyDetails(_ change: ChatMessageChange) {
        let index = entries.indices.first { isShown($0, as: change.entry) } ?? 0
        entries[index] = change.applyingDetails(to: entries[index])
    }

    /// Removes an entry as shown or saved. Texts and parts of other writers stay.
    /// - Parameters:
    ///   - id: The ID of the entry within the message.
    ///   - isAlone: Whether the message was shown or saved as this entry alone.
    mutating func remove(_ known: KnownChatMessage?, _ id: UUID, isAlone: Bool) {
        if let index = index(of: known, id, as: known?.entry, byContent: true) {
            entries.remove(at: index)
            return
        }
        guard isAlone, let known, let first = entries.first(where: { $0.messageType == .text }) else { return }
        let shown = entries.indices.filter { isShown($0, as: first) }
        var one = first
        one.content = shown.map { entries[$0].content }.joined()
        guard known.hasSameContent(as: one) else { return }
        for index in shown.reversed() { entries.remove(at: index) }
    }

    /// Returns the index of an entry: the one with its ID or, if another writer has moved parts, the only one with the
    /// known content.
    /// - Parameter like: An entry of the same kind, if the kind is known.
    private func index(
        of known: KnownChatMessage?, _ id: UUID, as like: ChatMessage?, byContent: Bool
    ) -> Int? {
        let own = entries.firstIndex { $0.id == id }
        if let known, byContent {
            if let own, known.hasSameContent(as: entries[own]) { return own }
            let same = entries.indices.filter { known.hasSameContent(as: entries[$0]) }
            if same.count == 1 { return same[0] }
        }
        guard let own, like.map({ $0.isSameKind(as: entries[own]) }) ?? true else { return nil }
        return own
    }

    /// Whether a UI without tools shows a part in an entry: the part has the kind of the entry, and a text. A part of an
    /// unknown type has no text.
    private func isShown(_ index: Int, as entry: ChatMessage) -> Bool {
        entries[index].isSameKind(as: entry) && !entries[index].content.isEmpty
    }

    /// Whether the message has the ID of an entry.
    func hasID(of entry: ChatMessage) -> Bool { UUID(uuidString: message.id) == entry.id }

    /// Whether the message has one entry after these changes.
    var hasOneEntry: Bool { entries.count == 1 }

    /// The message after these changes, or `nil` if no entry is left.
    var edited: ConversationMessage? { message.replacing(entries) }
}
