import Foundation
import GRDB
import RecollectCore

/// A step of erasing, some milliseconds in a separate write transaction: other writes run between two steps.
///
/// Removing a file cannot be rolled back. So the deletion of its last use must be committed and durable before.
struct ErasureStep {
    /// The result of a step.
    enum Outcome: Equatable {
        /// Some work was done, and more may be left.
        case worked
        /// Only the log is left.
        case onlyLog
        /// The remaining content cannot be removed now.
        case blocked
        /// No work is left.
        case nothing
    }

    let attachments: any AttachmentSaving
    /// `nil` in memory.
    let files: HistoryFiles?
    /// The minimum number of index pages merged by a step.
    let mergedPages: Int
    /// The maximum number of files removed by a step.
    private static let maxNameCount = 64
    private let end: ContinuousClock.Instant

    /// Creates a step.
    /// - Parameter length: The duration of the work, without the commit.
    init(attachments: any AttachmentSaving, files: HistoryFiles?, mergedPages: Int, length: Duration) {
        self.attachments = attachments
        self.files = files
        self.mergedPages = mergedPages
        end = ContinuousClock.now + length
    }

    private var isOver: Bool { ContinuousClock.now >= end }

    /// Runs the step. The transaction must contain no other write.
    func run(_ db: Database) throws -> Outcome {
        var isBlocked = false
        for kind in Eraser.Kind.allCases where try Eraser.isPending(kind, db) {
            let hasWorked =
                switch kind {
                case .session: try eraseSession(db)
                case .attachment: try removeAttachments(db)
                case .file: try remove(.file, db) { try files?.remove($0) }
                case .leftovers: try removeLeftovers(db)
                case .index: try SearchIndex.eraseStep(pages: mergedPages, db)
                case .log: false
                }
            if hasWorked { return .worked }
            if kind == .log { return .onlyLog }
            isBlocked = true
        }
        return isBlocked ? .blocked : .nothing
    }

    private func eraseSession(_ db: Database) throws -> Bool {
        let kind = Eraser.Kind.session
        guard let number: SessionRowID = try db.value("SELECT min(number) FROM erasure WHERE kind = ?", kind.rawValue)
        else { return false }
        guard try db.integer("SELECT 1 FROM session WHERE id = ?", number) == nil else {
            // A bit error made it the number of another session. `repair()` finds the messages of the original number.
            try Eraser.done(kind, of: number.rawValue, db)
            return true
        }
        try DerivedData.update(db)
        repeat {
            let sequences: [SequenceNumber] = try db.values(
                """
                SELECT sequence FROM message WHERE scope_row_id IN (SELECT id FROM scope WHERE session_row_id = ?) LIMIT 32
                """, number)
            guard !sequences.isEmpty else {
                guard try !hasHiddenMessages(number, db) else { throw DatabaseError.damagedIndex }
                try MessageDeletion.deleteEmpty(number, db)
                try Eraser.done(kind, of: number.rawValue, db)
                return true
            }
            let orphans = try MessageDeletion.remove(sequences, session: number, db)
            try Eraser.note(orphans: orphans, db)
            // A killed import of the same attachments may have left partial copies under another name.
            if !orphans.isEmpty { try Eraser.note(.leftovers, db) }
        } while !isOver
        return true
    }

    /// Whether a damaged index hides messages of a session: messages only in the index of IDs, or scopes only in
    /// the table.
    private func hasHiddenMessages(_ number: SessionRowID, _ db: Database) throws -> Bool {
        let scope = try db.integer("SELECT id FROM scope WHERE session_row_id = ? LIMIT 1", number)
        guard scope != nil else {
            return try db.integer("SELECT 1 FROM scope NOT INDEXED WHERE session_row_id = ? LIMIT 1", number) != nil
        }
        return try db.integer(
            """
            SELECT 1 FROM scope JOIN message_id ON message_id.scope_row_id = scope.id
            JOIN message ON message.sequence = message_id.sequence AND message.scope_row_id = scope.id
            WHERE scope.session_row_id = ? LIMIT 1
            """, number) != nil
    }

    private func removeAttachments(_ db: Database) throws -> Bool {
        let indexed = try AttachmentUse.stillIndexed(among: Self.maxNameCount, db)
        return try remove(.attachment, db) { hash in
            // No append can begin to use it meanwhile: appends check again in their transaction.
            if !indexed.contains(hash), try !AttachmentUse.isUsed(hash, db) { try attachments.remove(hash) }
        }
    }

    /// Removes files. Those impossible to remove now keep their rows. Returns whether any were removed.
    private func remove(_ kind: Eraser.Kind, _ db: Database, _ removal: (String) throws -> Void) throws -> Bool {
        do {
            // Without this, a power loss could undo a deletion after the removal of its files.
            if let files, files.mayHoldUnsyncedCommits { try files.synchronizeLog() }
        } catch is RecollectError {
            return false
        }
        var hasRemoved = false
        for name in try names(kind, limit: Self.maxNameCount, db) {
            do {
                try removal(name)
            } catch is RecollectError {
                continue
            }
            try Eraser.done(kind, name: name, db)
            hasRemoved = true
            if isOver { break }
        }
        return hasRemoved
    }

    private func removeLeftovers(_ db: Database) throws -> Bool {
        let kind = Eraser.Kind.leftovers
        guard let first = try db.integer("SELECT min(number) FROM erasure WHERE kind = ?", kind.rawValue) else {
            return false
        }
        var folder = first
        do {
            repeat {
                try attachments.removeLeftovers(inFolder: Int(folder))
                folder += 1
            } while folder < 256 && !isOver
        } catch is RecollectError {
            return false
        }
        try Eraser.done(kind, number: first, db)
        if folder < 256 { try Eraser.note(kind, number: folder, db) }
        return true
    }

    private func names(_ kind: Eraser.Kind, limit: Int, _ db: Database) throws -> [String] {
        var names: [String] = []
        try db.sql("SELECT name FROM erasure WHERE kind = ? LIMIT ?").bind(kind.rawValue, limit).forEachRow {
            names.append($0.text(0))
        }
        return names
    }
}
