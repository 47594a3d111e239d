import Foundation
import GRDB
import RecollectCore

/// The streaming replies of a session as entries of its transcript.
struct StreamingEntries {
    private var replies: [UUID: StreamingReplies.Row] = [:]
    /// The entries of replies whose IDs are not those of their messages: replies of several parts, or without a UUID.
    private(set) var parts: [UUID: ChatMessage] = [:]
    /// The IDs of entries that are parts of these replies, but of no increment yet: a UI shows a reply before its increments
    /// are saved.
    private(set) var laterParts: Set<UUID> = []

    /// Creates the entries from the streaming replies of a session.
    /// - Parameter entries: The entries that may be later parts.
    init(of session: SessionRowID, for entries: some Sequence<ChatMessage>, _ db: Database) throws {
        let rows = try StreamingReplies.all(of: session, db)
        for row in rows {
            let own = UUID(uuidString: row.message.id)
            if let own, own.uuidString.hasSameBytes(as: row.message.id), replies[own] == nil { replies[own] = row }
            for entry in row.message.chatMessages() where entry.id != own { parts[entry.id] = entry }
        }
        guard !rows.isEmpty else { return }
        let others = Set(entries.map(\.id).filter { $0.isNameBased && parts[$0] == nil })
        guard !others.isEmpty else { return }
        for row in rows {
            laterParts.formUnion(
                (0..<Self.maxParts).map { ChatMessage.id(ofPart: $0, of: row.message.id) }.filter(others.contains))
        }
    }

    /// The maximum number of parts of a streaming reply with this rule.
    private static let maxParts = 256

    /// Returns the reply shown as one entry with its ID.
    func reply(_ id: UUID) -> StreamingReplies.Row? { replies[id] }
}
