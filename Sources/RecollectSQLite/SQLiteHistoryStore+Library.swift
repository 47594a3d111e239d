import Foundation
import RecollectCore

/// Operations for the session library.
extension SQLiteHistoryStore {
    /// Replaces the content of messages: see `HistoryStore`. The old words leave the search index at once. They
    /// leave the file with the next permanent deletion.
    @discardableResult
    public func edit(_ messages: [ConversationMessage], in session: SessionKey) async throws -> Int {
        try Task.checkCancellation()
        let kept = try await savingAttachments(of: messages)
        return try await write(keeping: kept) { messages, db, _ in
            let outcome = try MessageEdits.edit(messages, in: session, db)
            return (outcome.edited, outcome.orphans)
        }
    }

    /// Replaces the content of messages, unless it was changed since it was read: see `HistoryStore`.
    @discardableResult
    public func edit(_ edits: [MessageEdit], in session: SessionKey) async throws -> [MessageEdit] {
        try Task.checkCancellation()
        let kept = try await savingAttachments(of: edits.map(\.new))
        return try await write(keeping: kept) { messages, db, _ in
            var made: [MessageEdit] = []
            var orphans: [String] = []
            for (edit, message) in zip(edits, messages) {
                let outcome = try MessageEdits.edit([message], in: session, replacing: edit.old, db)
                if outcome.edited > 0 { made.append(edit) }
                orphans += outcome.orphans
            }
            return (made, orphans)
        }
    }

    /// Moves a session to another session ID: see `HistoryStore`.
    @discardableResult
    public func moveSession(_ session: SessionKey, to newSessionId: String) async throws -> Bool {
        try await move(session, to: newSessionId) != .nothing
    }

    /// Moves a session, and returns what happened.
    /// - Parameter entries: The entries to find the messages of.
    func move(
        _ session: SessionKey, to newSessionId: String, finding entries: [UUID] = []
    ) async throws -> SessionMoves.Outcome {
        try await write { try SessionMoves.move(session, to: newSessionId, finding: entries, $0) }
    }

    /// Moves a message and all messages after it into a branch: see `HistoryStore`.
    public func branch(
        _ session: SessionKey, from messageId: String, agentId: String?
    ) async throws -> SessionKey {
        try await cut(session, from: messageId, agentId: agentId).branch
    }

    /// Moves a message and all messages after it into a branch. Also returns the messages moved.
    func cut(_ session: SessionKey, from messageId: String, agentId: String?) async throws -> Branches.Cut {
        let now = Date().millisecondsSince1970
        return try await write { try Branches.branch(session, from: messageId, agentId: agentId, now: now, $0) }
    }

    /// Returns the branches of a session: see `HistoryStore`.
    public func branches(of session: SessionKey) async throws -> [Session] {
        try await readUpToDate { try SessionQueries.branches(of: session, $0) }
    }

    /// Restores a branch: see `HistoryStore`.
    public func restoreBranch(_ branch: SessionKey, in session: SessionKey) async throws {
        _ = try await restore(branch, in: session)
    }

    /// Restores a branch. Returns the moved messages.
    func restore(_ branch: SessionKey, in session: SessionKey) async throws -> BranchChange {
        let now = Date().millisecondsSince1970
        return try await write { try Branches.restore(branch, in: session, now: now, $0) }
    }

    /// Removes a session from lists and searches: see `HistoryStore`. With `retention: .window` it is deleted
    /// permanently.
    @discardableResult
    public func discardSession(_ session: SessionKey) async throws -> Bool {
        guard configuration.retention != .window else { return try await deleteSession(session) }
        let now = Date().millisecondsSince1970
        let existed = try await write { try SessionEdits.discard(session, now: now, $0) }
        maintenance.noteSave()
        return existed
    }

    /// Undoes `discardSession`: see `HistoryStore`.
    @discardableResult
    public func restoreSession(_ session: SessionKey) async throws -> Bool {
        try await write { db in
            guard let number = try MessageQueries.number(of: session, db),
                try db.integer("SELECT 1 FROM session WHERE id = ? AND discarded_at IS NOT NULL", number) != nil
            else { return false }
            try SessionRow.restore(number, db)
            return true
        }
    }
}

extension SQLiteHistoryStore: UserListing {
    /// Returns the IDs of all users with sessions, ordered by their bytes.
    ///
    /// Meant for moving or maintaining a whole history. An app with one user does not need it.
    public func users() async throws -> [String] {
        try await read { db in
            // One query per user: `DISTINCT` reads an index entry for each session.
            var users: [String] = []
            var next = try db.optionalText("SELECT min(user_id) FROM session")
            while let user = next {
                users.append(user)
                next = try db.optionalText("SELECT min(user_id) FROM session WHERE user_id > ?", user)
            }
            return users
        }
    }

    /// Whether a folder contains a history. Checks only for the database's file name. Blocks briefly.
    package static func isHistory(at directory: URL) -> Bool {
        FileManager.default.fileExists(atPath: HistoryFiles(directory: directory).database)
    }
}
