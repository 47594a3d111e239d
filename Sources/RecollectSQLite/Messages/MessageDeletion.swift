import Foundation
import GRDB
import RecollectCore

/// Deletes permanently, inside a write transaction: rows, index entries, uses of attachments. The remaining work of
/// erasing is recorded (`Eraser`), or the hashes of unused attachments are returned.
enum MessageDeletion {
    /// Deletes messages of a session by ID and records the changes in the feed. Returns the number of deleted
    /// messages.
    static func delete(_ ids: [String], in session: SessionKey, _ db: Database) throws -> Int {
        guard let number = try MessageQueries.number(of: session, db) else { return 0 }
        try DerivedData.update(db)
        let sequences = try ids.flatMap { try MessageQueries.sequences(of: $0, in: number, db) }
        return try deleteAndErase(sequences, of: number, session, db)
    }

    /// Deletes messages of a session, except those with other contents, and records the changes in the feed. Returns the
    /// messages deleted for at least one agent.
    static func delete(
        _ messages: [ConversationMessage], in session: SessionKey, _ db: Database
    ) throws -> [ConversationMessage] {
        guard let number = try MessageQueries.number(of: session, db) else { return [] }
        try DerivedData.update(db)
        var sequences: [SequenceNumber] = []
        let deleted = try messages.filter { message in
            let found = try MessageQueries.sequences(of: message.id, in: number, db).filter { sequence in
                try MessageQueries.message(sequence, db)?.hasSameContent(as: message) ?? false
            }
            sequences += found
            return !found.isEmpty
        }
        _ = try deleteAndErase(sequences, of: number, session, db)
        return deleted
    }

    /// Deletes messages by sequence number, records the changes in the feed, and notes their bytes for erasure. Returns the
    /// number of deleted messages.
    private static func deleteAndErase(
        _ sequences: [SequenceNumber], of number: SessionRowID, _ session: SessionKey, _ db: Database
    ) throws -> Int {
        let deleted = try delete(sequences, of: number, session, db)
        if deleted.count > 0 { try Eraser.noteRemoval(db) }
        try Eraser.note(orphans: deleted.orphans, db)
        return deleted.count
    }

    /// Deletes messages by sequence number and records the changes in the feed, without erasing. Their words leave
    /// the index at once, and the file with the next deletion that erases. Returns the number of deleted
    /// messages and the hashes of unused attachments.
    static func delete(
        _ sequences: [SequenceNumber], of number: SessionRowID, _ session: SessionKey, _ db: Database
    ) throws -> (count: Int, orphans: [String]) {
        try DerivedData.update(db)
        let gone = Set(sequences).sorted()
        guard !gone.isEmpty else { return (0, []) }
        try Compactions.removeCovering(gone, of: number, db)
        for sequence in gone {
            try db.recordChange(.messageDeleted, of: sequence, in: session)
        }
        let orphans = try DerivedData.following(deletionOf: gone, in: number, db) {
            try remove(gone, session: number, db)
        }
        return (gone.count, orphans)
    }

    /// Deletes the rows of a scope before its window.
    static func deleteTrimmed(scope: ScopeRowID, before position: Position, _ db: Database) throws -> [String] {
        let sequences: [SequenceNumber] = try db.values(
            "SELECT sequence FROM message WHERE scope_row_id = ? AND position < ?", scope, position)
        guard let session: SessionRowID = try db.value("SELECT session_row_id FROM scope WHERE id = ?", scope) else {
            return []
        }
        return sequences.isEmpty ? [] : try expire(sequences, of: session, db)
    }

    /// Deletes messages of all users with timestamps before a date and sequence numbers from `first` up to, not
    /// including, `end`. Returns the number of deleted messages.
    static func deleteOlder(
        than milliseconds: Int64, from first: SequenceNumber, to end: SequenceNumber, limit: Int, _ db: Database
    ) throws -> Int {
        var bySession: [SessionRowID: [SequenceNumber]] = [:]
        var count = 0
        // Messages of deleted sessions are removed by erasing.
        try db.sql(
            """
            SELECT sequence, session_row_id FROM message WHERE sequence >= ? AND sequence < ? AND timestamp < ?
            AND EXISTS (SELECT 1 FROM session WHERE id = session_row_id) LIMIT ?
            """
        ).bind(first, end, milliseconds, limit).forEachRow {
            bySession[$0.value(1), default: []].append($0.value(0))
            count += 1
        }
        guard count > 0 else { return 0 }
        try DerivedData.update(db)
        for (session, sequences) in bySession.sorted(by: { $0.key < $1.key }) {
            try Compactions.removeCovering(sequences, of: session, db)
            let orphans = try DerivedData.following(deletionOf: sequences, in: session, db) {
                try expire(sequences, of: session, db)
            }
            try Eraser.note(orphans: orphans, db)
        }
        try Eraser.noteRemoval(db)
        return count
    }

    /// Removes expired messages. The feed has one change for all of them, without their IDs. Returns the hashes of unused
    /// attachments.
    private static func expire(
        _ sequences: [SequenceNumber], of session: SessionRowID, _ db: Database
    ) throws -> [String] {
        try db.recordChange(.sessionRearranged, MessageQueries.id(of: session, db))
        try db.removeDeletions(of: sequences)
        return try remove(sequences, session: session, db)
    }

    /// Deletes a session with its branches. Returns false if there was none.
    static func delete(_ session: SessionKey, _ db: Database) throws -> Bool {
        guard let number = try MessageQueries.number(of: session, db) else { return false }
        try deleteAndRecord(number, session, db)
        return true
    }

    /// Deletes a session, and records the deletion in the feed.
    private static func deleteAndRecord(_ number: SessionRowID, _ session: SessionKey, _ db: Database) throws {
        try Eraser.storeNumbers(db)
        try hide(number, of: session.userId, db)
        try db.recordDeletion(of: session)
        try Eraser.noteRemoval(db)
    }

    /// Deletes all data of a user.
    /// - Parameter leftovers: The names of files to delete, because they may contain data of the user.
    static func deleteUser(_ userId: String, leftovers: [String], _ db: Database) throws {
        for name in leftovers { try Eraser.note(.file, name: name, db) }
        try Eraser.note(.leftovers, db)
        let numbers: [SessionRowID] = try db.values("SELECT id FROM session WHERE user_id = ?", userId)
        let isNamed = try db.integer(
            "SELECT 1 FROM change WHERE user_id = ? AND session_id <> '' LIMIT 1", userId)
        guard !numbers.isEmpty || isNamed != nil else { return }
        try Eraser.storeNumbers(db)
        for number in numbers { try hide(number, of: userId, db) }
        try db.recordDeletion(ofUser: userId)
        try Eraser.noteRemoval(db)
    }

    /// Deletes a session of any user discarded before a date. Returns false if there is none.
    static func deleteDiscarded(before time: Int64, _ db: Database) throws -> Bool {
        guard let number: SessionRowID = try db.value("SELECT id FROM session WHERE discarded_at < ? LIMIT 1", time)
        else { return false }
        let session = try MessageQueries.id(of: number, db)
        try deleteAndRecord(number, session, db)
        // With this change, its messages are not taken for deleted by the user.
        try db.recordChange(.sessionRearranged, session)
        return true
    }

    /// Hides a session and its branches from every read, at a cost independent of its size. The branches would not
    /// be found without it. Its messages are removed later: reads find no messages without a session.
    private static func hide(_ number: SessionRowID, of userId: String, _ db: Database) throws {
        let branches: [SessionRowID] = try db.values("SELECT id FROM session WHERE branch_of = ?", number)
        for branch in branches { try hide(branch, of: userId, db) }
        // It may be a branch already hidden.
        guard try db.integer("SELECT 1 FROM session WHERE id = ?", number) != nil else { return }
        try Eraser.note(.session, number: number.rawValue, name: userId, db)
        try StreamingReplies.delete(session: number, db)
        try db.run("DELETE FROM session WHERE id = ?", number)
    }

    /// Deletes the remaining rows of a session without messages.
    static func deleteEmpty(_ number: SessionRowID, _ db: Database) throws {
        try Compactions.removeAll(of: number, db)
        try db.run("DELETE FROM scope WHERE session_row_id = ?", number)
        try db.run("DELETE FROM tag WHERE session_row_id = ?", number)
        try StreamingReplies.delete(session: number, db)
        try db.run("DELETE FROM session WHERE id = ?", number)
    }

    /// Removes rows, their index entries and uses of attachments, and reduces the message count. For deleted
    /// messages, but not for trimmed ones, the caller updates tokens and the preview. Returns the hashes of unused
    /// attachments.
    /// - Throws: The error for a damaged index if a message belongs to another session.
    static func remove(_ sequences: [SequenceNumber], session: SessionRowID, _ db: Database) throws -> [String] {
        guard !sequences.isEmpty else { return [] }
        for sequence in sequences {
            let owner: SessionRowID? = try db.value(
                """
                SELECT scope.session_row_id FROM message JOIN scope ON scope.id = message.scope_row_id WHERE sequence = ?
                """, sequence)
            guard owner == session else { throw DatabaseError.damagedIndex }
        }
        try db.storeFeedNumber(sequences)
        try SearchIndex.remove(db, sequences: sequences)
        try forgetFirstMessage(sequences, of: session, db)
        // Pending messages are not yet in the counts and in the index of IDs.
        let derivedThrough = try DerivedData.lastSequence(db)
        let counted = sequences.count { $0 <= derivedThrough }
        var orphans: [String] = []
        for sequence in sequences {
            orphans += try AttachmentUse.delete(sequence: sequence, db)
            if sequence <= derivedThrough {
                try db.run(
                    """
                    DELETE FROM message_id WHERE scope_row_id = (SELECT scope_row_id FROM message WHERE sequence = ?1)
                    AND message_id = (SELECT message_id FROM message WHERE sequence = ?1)
                    """, sequence)
            }
            try db.run("DELETE FROM message WHERE sequence = ?", sequence)
        }
        if counted > 0 {
            try db.run("UPDATE session SET message_count = message_count - ? WHERE id = ?", counted, session)
        }
        return orphans
    }

    /// Removes the session's saved first message if a removed message has the same text.
    private static func forgetFirstMessage(_ sequences: [SequenceNumber], of session: SessionRowID, _ db: Database)
        throws
    {
        guard let text = try db.optionalText("SELECT first_message FROM session WHERE id = ?", session) else {
            return
        }
        for sequence in sequences
        where try db.integer("SELECT 1 FROM message WHERE sequence = ? AND role = 'user' AND text = ?", sequence, text)
            != nil
        {
            try db.run("UPDATE session SET first_message = NULL WHERE id = ?", session)
            return
        }
    }
}
