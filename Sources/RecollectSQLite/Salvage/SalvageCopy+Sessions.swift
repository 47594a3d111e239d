import GRDB
import RecollectCore

/// The index entries about sessions without rows, and about deletions.
extension SalvageCopy {
    /// Calls a function with each entry of an index, and whether its page is stale.
    func forEachEntry(_ body: (SalvagedEntry, _ isStale: Bool) throws -> Void) throws {
        for number in indexPages {
            guard let page = pages.page(Int(number)) else { continue }
            let isStale = pages.isStale(Int(number))
            for cell in page.cells {
                guard let payload = pages.payload(of: cell), let record = DamagedRecord(payload, size: cell.size),
                    let entry = SalvagedEntry(record)
                else { continue }
                try body(entry, isStale)
            }
        }
    }

    /// Restores the user and the session ID of sessions from indexes. At least two of the indexes must contradict
    /// the row.
    func restoreOwners() throws {
        try db.execute(
            sql: "CREATE TEMP TABLE vote (id, user, session, count INTEGER NOT NULL, PRIMARY KEY (id, user, session))")
        try forEachEntry { entry, isStale in
            guard case .session(let id, let user, let session, _) = entry, !isStale else { return }
            try db.run(
                """
                INSERT INTO temp.vote SELECT id, ?2, ?3, 1 FROM session
                WHERE id = ?1 AND (user_id <> ?2 OR session_id <> ?3)
                ON CONFLICT DO UPDATE SET count = count + 1
                """, id, user, session)
        }
        // Two sessions with exchanged IDs would collide.
        try db.run(
            "UPDATE session SET session_id = 'recovered-' || id WHERE id IN (SELECT id FROM temp.vote WHERE count > 1)"
        )
        try db.run(
            """
            UPDATE OR IGNORE session SET user_id = vote.user, session_id = vote.session
            FROM (SELECT id, user, session, max(count) FROM temp.vote WHERE count > 1 GROUP BY id) AS vote
            WHERE vote.id = session.id
            """)
    }

    /// Creates the sessions without rows, under their IDs in indexes. Sessions in no index get IDs beginning with
    /// `recovered-`.
    ///
    /// A session was deleted if its erasure is recorded, or if all sessions are known and it is not one of them.
    func restoreSessions() throws {
        try copyErasures()
        var named = try readIndexes()
        var unknown = try unknownSessions()
        if !unknown.isEmpty {
            try forEachEntry { entry, _ in
                guard case .unique(let id, let user, let session) = entry, unknown.contains(id) else { return }
                let isOther = try db.integer("SELECT 1 FROM change WHERE sequence = ? AND session_id = ?", id, session)
                guard isOther == nil else { return }
                named.insert(id)
                try restore(id, user, session, 0)
            }
            unknown = try unknownSessions()
        }
        if !unknown.isEmpty, let known = trees.sessions {
            // Their messages are removed with the rest of the erasure.
            let deleted = unknown.subtracting(known).subtracting(named)
            for id in deleted { try Eraser.note(.session, number: id, db) }
            unknown.subtract(deleted)
        }
        // A stale page may have the row or entries of a session being erased.
        try db.run("DELETE FROM session WHERE id IN (SELECT number FROM erasure WHERE kind = 'session')")
        let users = try db.integer("SELECT count(DISTINCT user_id) FROM session") ?? 0
        let only = users == 1 ? try db.optionalText("SELECT user_id FROM session LIMIT 1") : nil
        for id in unknown.sorted() { try restore(id, only ?? "recovered", "recovered-\(id)", 0) }
        try forEachEntry { entry, _ in
            guard case .title(let id, let title) = entry else { return }
            try db.run(
                "UPDATE session SET title = ? WHERE id = ? AND title IS NULL AND id IN temp.restored", title, id)
        }
        try db.run("DELETE FROM tag WHERE session_row_id NOT IN (SELECT id FROM session)")
    }

    /// Copies the rows of `erasure`.
    private func copyErasures() throws {
        try forEachEntry { entry, isStale in
            guard case .erasure(let kind, let number, let name) = entry else { return }
            // The number of an erased session is used again.
            if isStale, try trees.isWhole("erasure") || kind == .session && has("session", number) { return }
            try Eraser.note(kind, number: number, name: name, db)
        }
    }

    /// Copies tags, and creates the missing sessions found in indexes by date. Returns the numbers of those
    /// sessions.
    private func readIndexes() throws -> Set<Int64> {
        var named: Set<Int64> = []
        try forEachEntry { entry, isStale in
            switch entry {
            case .session(let id, let user, let session, let time):
                guard !isStale || !trees.isWhole("session") else { return }
                if try !has("session", id) {
                    named.insert(id)
                    try restore(id, user, session, time)
                }
                try db.run(
                    """
                    UPDATE session SET created_at = min(created_at, ?1), last_activity = max(last_activity, ?1),
                    last_access = max(last_access, ?1) WHERE id = ?2 AND id IN temp.restored
                    """, time, id)
            case .tag(let session, let tag):
                guard !isStale || !trees.isWhole("tag") else { return }
                try db.run("INSERT OR IGNORE INTO tag (session_row_id, tag) VALUES (?, ?)", session, tag)
            default: break
            }
        }
        return named
    }

    private func restore(_ id: Int64, _ user: String, _ session: String, _ time: Int64) throws {
        // With a damaged index, two sessions may have got the same ID.
        let isTaken = try db.integer("SELECT 1 FROM session WHERE user_id = ? AND session_id = ?", user, session)
        let session = isTaken == nil ? session : "recovered-\(id)"
        try db.run(
            """
            INSERT OR IGNORE INTO session (id, user_id, session_id, created_at, last_activity, last_access, message_count)
            VALUES (?1, ?2, ?3, ?4, ?4, ?4, 0)
            """, id, user, session, time)
        if db.changesCount > 0 { try db.run("INSERT OR IGNORE INTO temp.restored VALUES (?)", id) }
    }

    private func unknownSessions() throws -> Set<Int64> {
        let named: [SessionRowID] = try db.values(
            "SELECT session_row_id FROM scope UNION SELECT session_row_id FROM streaming_reply")
        let deleted: [SessionRowID] = try db.values(
            "SELECT number FROM erasure WHERE kind = ?", Eraser.Kind.session.rawValue)
        return try Set(named.map(\.rawValue) + usedScopes.values).subtracting(deleted.map(\.rawValue))
            .filter { try !has("session", $0) }
    }
}
