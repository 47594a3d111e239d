import GRDB
import RecollectCore

/// Replaces the content of messages, inside a write transaction.
enum MessageEdits {
    /// The result of an edit: the number of edited messages, and the hashes of unused attachments.
    struct Outcome: Sendable {
        var edited = 0
        var orphans: [String] = []
    }

    /// Edits the messages with these IDs, of all agents or of one. Unchanged notes of a chat UI move with their parts.
    /// - Parameter known: The only content to replace; `nil` for any.
    static func edit(
        _ messages: [ConversationMessage], in session: SessionKey, agentId: String? = nil,
        replacing known: ConversationMessage? = nil, _ db: Database
    ) throws -> Outcome {
        var outcome = Outcome()
        guard let number = try MessageQueries.number(of: session, db) else { return outcome }
        try DerivedData.update(db)
        for message in messages {
            for sequence in try MessageQueries.sequences(of: message.id, in: number, agentId: agentId, db) {
                guard let old = try MessageQueries.message(sequence, db), known?.hasSameContent(as: old) ?? true
                else { continue }
                outcome.edited += 1
                outcome.orphans += try replace(
                    old, at: sequence, with: message.movingNotes(from: old), of: number, session, db)
            }
        }
        return outcome
    }

    /// Replaces the content of one message and records the change in the feed. A message with the same content
    /// stays unchanged. Returns the hashes of unused attachments.
    static func replace(
        _ old: ConversationMessage, at sequence: SequenceNumber, with message: ConversationMessage,
        of number: SessionRowID,
        _ session: SessionKey, _ db: Database
    ) throws -> [String] {
        guard !old.hasSameContent(as: message) else { return [] }
        if !old.isSameForModel(as: message) { try Compactions.removeCovering([sequence], of: number, db) }
        // Pending messages are counted later, with their content at that time.
        let hasDerivedData = try sequence <= DerivedData.lastSequence(db)
        let countsTokens = hasDerivedData && old.metadata["usage"] != message.metadata["usage"]
        if countsTokens { try DerivedData.countTokens(of: [sequence], in: number, sign: -1, db) }
        var orphans: [String] = []
        try SearchIndex.reindexing([sequence], db) {
            try MessageRow.replace(sequence, with: message, db)
            orphans = try AttachmentUse.delete(sequence: sequence, db)
            try AttachmentUse.insert(message, sequence: sequence, db)
        }
        if countsTokens { try DerivedData.countTokens(of: [sequence], in: number, sign: 1, db) }
        if old.role == .user || message.role == .user { try Preview.set(number, db) }
        if hasDerivedData {
            try DerivedData.follow(
                timestamp: old.timestamp.millisecondsSince1970, to: message.timestamp.millisecondsSince1970,
                of: number, db)
        }
        try db.recordChange(.messageEdited, of: sequence, in: session)
        return try orphans.filter { try !AttachmentUse.isUsed($0, db) }
    }
}
