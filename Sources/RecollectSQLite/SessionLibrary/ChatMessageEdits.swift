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
    init?(_ sequence: Int64, _ db: Database) throws {
        guard let message = try MessageQueries.message(sequence, db) else { return nil }
        self.message = message
        entries = message.chatMessages()
    }

    /// Replaces an entry with the transcript's version. Returns false if the message has no entry with its ID.
    mutating func replace(_ entry: ChatMessage) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == entry.id }) else { return false }
        entries[index] = entry
        return true
    }

    /// Replaces the message with an entry if the message has the entry's ID. Returns false otherwise.
    mutating func replaceAll(by entry: ChatMessage, answering callId: String?) -> Bool {
        guard hasID(of: entry) else { return false }
        if entry.messageType == .text, entries.contains(where: { $0.messageType != .text }) {
            return replaceTexts(by: entry)
        }
        whole = ConversationMessage(entry, answering: callId)
        return true
    }

    /// Replaces the texts of a message of several entries with the text of an entry, for a UI that shows the message as
    /// this entry. Tool calls, results and other entries stay. Returns false for other messages and entries.
    mutating func replaceTexts(by entry: ChatMessage) -> Bool {
        let texts = entries.indices.filter { entries[$0].messageType == .text }
        guard entry.messageType == .text, entries.count > 1, let first = texts.first else { return false }
        if texts.map({ entries[$0].content }).joined().hasSameBytes(as: entry.content) { return true }
        var text = entry
        text.id = entries[first].id
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

    /// Whether the message has one entry after these changes.
    var hasOneEntry: Bool { whole != nil || entries.count == 1 }

    /// The message after these changes, or `nil` if no entry is left.
    var edited: ConversationMessage? { whole ?? message.replacing(entries) }
}
