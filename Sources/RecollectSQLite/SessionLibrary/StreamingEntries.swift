import Foundation
import GRDB
import RecollectCore

/// The streaming replies of a session as entries of its transcript.
struct StreamingEntries {
    private var replies: [UUID: StreamingReplies.Row] = [:]
    /// The entries of replies whose IDs are not those of their messages: replies of several parts, or without a UUID.
    private(set) var parts: [UUID: ChatMessage] = [:]
    private var messageIds: [String] = []

    init(of session: SessionRowID, _ db: Database) throws {
        for row in try StreamingReplies.all(of: session, db) {
            let own = UUID(uuidString: row.message.id)
            messageIds.append(row.message.id)
            if let own, own.uuidString.hasSameBytes(as: row.message.id), replies[own] == nil { replies[own] = row }
            for entry in row.message.chatMessages() where entry.id != own { parts[entry.id] = entry }
        }
    }

    /// Whether an ID is that of a part of a reply that no increment has yet: the UI shows a reply before its increments are
    /// saved.
    func isLaterPart(_ id: UUID) -> Bool {
        guard id.isNameBased, parts[id] == nil else { return false }
        return messageIds.contains { name in
            (0..<Self.maxParts).contains { ChatMessage.id(ofPart: $0, of: name) == id }
        }
    }

    /// The maximum number of parts of a streaming reply with this rule.
    private static let maxParts = 256

    /// Returns the reply shown as one entry with its ID.
    func reply(_ id: UUID) -> StreamingReplies.Row? { replies[id] }
}
