import Foundation
import GRDB
import RecollectCore

/// The changes of a transcript to the entries of one message. The message is read once.
struct ChatMessageEdits {
    /// The message in the history.
    let message: ConversationMessage
    private var entries: [ChatMessage]
    /// The replacement of all entries.
    private var whole: ConversationMessage?

    /// Creates the edits of a message with a sequence number, and reads the message. Returns `nil` if there is
    /// none.
    init?(_ sequence: SequenceNumber, _ db: Database) throws {
        guard let message = try MessageQueries.message(sequence, db) else { return nil }
        self.message = message
        entries = message.chatMessages()
    }

    /// Replaces an entry with the transcript's version. Returns false if the message has no entry with its ID.
    ///
    /// Only the fields changed by the transcript are replaced, as another writer may have changed others. An incomplete
    /// entry does not replace one completed by another writer.
    /// - Parameters:
    ///   - known: The entry as last shown or saved, if it is known in full.
    ///   - isHashed: Whether only its hash is known. Then all fields are replaced.
    mutating func replace(_ entry: ChatMessage, shownAs known: ChatMessage?, isHashed: Bool) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == entry.id }) else { return false }
        if isHashed {
            entries[index] = entry
        } else if entry.isComplete || !entries[index].isComplete || known?.isComplete == true {
            entries[index] = entry.keeping(entries[index], changedSince: known)
        }
        return true
    }

    /// Replaces the message with an entry if the message has the entry's ID, or was shown as this entry alone. Returns
    /// false otherwise.
    ///
    /// A UI without tools shows a message of several entries as one. So the text of the entry replaces the texts of the
    /// message. Tool calls, results, attachments and other entries stay.
    mutating func replaceAll(
        by entry: ChatMessage, isAlone: Bool, shownAs known: ChatMessage?, answering callId: String?
    ) -> Bool {
        guard isAlone || hasID(of: entry) else { return false }
        guard entry.messageType == .text, hasSeveralEntries else {
            guard hasID(of: entry) else { return false }
            whole = ConversationMessage(entry, answering: callId)
            return true
        }
        let texts = entries.indices.filter { entries[$0].messageType == .text }
        guard let first = texts.first else { return false }
        let hasSameText = [known?.content, texts.map { entries[$0].content }.joined()].contains {
            $0?.hasSameBytes(as: entry.content) == true
        }
        if hasSameText { return true }
        guard entry.isComplete || entries.last?.isComplete == false else { return true }
        var text = entry.keeping(entries[first], changedSince: known)
        text.id = entries[first].id
        text.attachments += texts.dropFirst().flatMap { entries[$0].attachments }
        entries[first] = text
        for index in texts.dropFirst().reversed() { entries.remove(at: index) }
        return true
    }

    /// Removes an entry. Returns false if the message has no entry with this ID.
    mutating func remove(_ id: UUID) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
        entries.remove(at: index)
        return true
    }

    /// Whether the message has the ID of an entry.
    func hasID(of entry: ChatMessage) -> Bool { UUID(uuidString: message.id) == entry.id }

    var hasSeveralEntries: Bool { entries.count > 1 }

    /// Whether the message has one entry after these changes.
    var hasOneEntry: Bool { whole != nil || entries.count == 1 }

    /// The message after these changes, or `nil` if no entry is left.
    var edited: ConversationMessage? { whole ?? message.replacing(entries) }
}

extension ChatMessage {
    /// Returns the entry with the attachments and the metadata of a stored one, unless it has changed them itself.
    /// - Parameter known: The entry before its changes; `nil` if it is unknown. Then empty fields are unchanged.
    fileprivate func keeping(_ stored: ChatMessage, changedSince known: ChatMessage?) -> ChatMessage {
        var entry = self
        if attachments.hasSameBytes(as: known?.attachments ?? []) { entry.attachments = stored.attachments }
        if metadata == known?.metadata ?? [:] { entry.metadata = stored.metadata }
        if let known, content.hasSameBytes(as: known.content) { entry.content = stored.content }
        return entry
    }
}
