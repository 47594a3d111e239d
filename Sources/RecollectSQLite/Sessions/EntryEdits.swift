import Foundation
import GRDB
import RecollectCore

/// What a transcript changes in the entries of one message, which is read once.
struct EntryEdits {
    /// The message as it lies in the history.
    let message: ConversationMessage
    private var entries: [ChatMessage]
    /// What takes the place of all entries.
    private var whole: ConversationMessage?

    /// Reads the message of that number; `nil` if there is none.
    init?(_ sequence: Int64, _ db: Database) throws {
        guard let message = try MessageQueries.message(sequence, db) else { return nil }
        self.message = message
        entries = message.chatMessages()
    }

    /// Takes an entry as the transcript has it; false if the message has none of its id.
    mutating func replace(_ entry: ChatMessage) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == entry.id }) else { return false }
        entries[index] = entry
        return true
    }

    /// Takes what an entry says instead of all that the message says, if the message has the entry's id; false if it has not.
    mutating func replaceAll(by entry: ChatMessage, answering callId: String?) -> Bool {
        guard UUID(uuidString: message.id) == entry.id else { return false }
        whole = ConversationMessage(entry, answering: callId)
        return true
    }

    /// Takes an entry out; false if the message has none of that id.
    mutating func remove(_ id: UUID) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
        entries.remove(at: index)
        return true
    }

    /// The message after all that; `nil` where no entry of it is left.
    var edited: ConversationMessage? { whole ?? message.replacing(entries) }
}
