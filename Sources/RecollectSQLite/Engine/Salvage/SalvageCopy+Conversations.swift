import GRDB
import RecollectCore

/// The facts in indexes about conversations without rows, and about deletions.
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

    /// Restores the user and the session of conversations from indexes. At least two of them must contradict the row.
    func restoreOwners() throws {
        try db.execute(
            sql: "CREATE TEMP TABLE vote (id, user, session, count INTEGER NOT NULL, PRIMARY KEY (id, user, session))")
        try forEachEntry { entry, isStale in
            guard case .conversation(let id, let user, let session, _) = entry, !isStale else { return }
            try db.run(
                """
                INSERT INTO temp.vote SELECT id, ?2, ?3, 1 FROM conversation
                WHERE id = ?1 AND (user_id <> ?2 OR session_id <> ?3)
                ON CONFLICT DO UPDATE SET count = count + 1
                """, id, user, session)
        }
        // Two that changed places must not meet.
        try db.run(
            "UPDATE conversation SET session_id = 'recovered-' || id WHERE id IN (SELECT id FROM temp.vote WHERE count > 1)"
        )
        try db.run(
            """
            UPDATE OR IGNORE conversation SET user_id = vote.user, session_id = vote.session
            FROM (SELECT id, user, session, max(count) FROM temp.vote WHERE count > 1 GROUP BY id) AS vote
            WHERE vote.id = conversation.id
            """)
    }

    /// Makes the conversations whose rows are gone, under the ids that indexes have of them; those that nothing knows under ids that
    /// say so.
    ///
    /// A conversation was deleted if its erasing is noted, or if all conversations are known and it is none of them.
    func restoreConversations() throws {
        try copyErasures()
        var named = try readIndexes()
        var unknown = try unknownConversations()
        if !unknown.isEmpty {
            try forEachEntry { entry, _ in
                guard case .unique(let id, let user, let session) = entry, unknown.contains(id) else { return }
                let isOther = try db.integer("SELECT 1 FROM change WHERE sequence = ? AND session_id = ?", id, session)
                guard isOther == nil else { return }
                named.insert(id)
                try restore(id, user, session, 0)
            }
            unknown = try unknownConversations()
        }
        if !unknown.isEmpty, let known = trees.conversations {
            // Their messages are removed with the rest of the erasing.
            let deleted = unknown.subtracting(known).subtracting(named)
            for id in deleted { try Erasing.note(.conversation, number: id, db) }
            unknown.subtract(deleted)
        }
        // A stale page may have the row or entries of a conversation that is being erased.
        try db.run("DELETE FROM conversation WHERE id IN (SELECT number FROM erasure WHERE kind = 'conversation')")
        let users = try db.integer("SELECT count(DISTINCT user_id) FROM conversation") ?? 0
        let only = users == 1 ? try db.optionalText("SELECT user_id FROM conversation LIMIT 1") : nil
        for id in unknown.sorted() { try restore(id, only ?? "recovered", "recovered-\(id)", 0) }
        try forEachEntry { entry, _ in
            guard case .title(let id, let title) = entry else { return }
            try db.run(
                "UPDATE conversation SET title = ? WHERE id = ? AND title IS NULL AND id IN temp.restored", title, id)
        }
        try db.run("DELETE FROM tag WHERE conversation_id NOT IN (SELECT id FROM conversation)")
    }

    /// Copies the rows of `erasure`.
    private func copyErasures() throws {
        try forEachEntry { entry, isStale in
            guard case .erasure(let kind, let number, let name) = entry else { return }
            // The number of a conversation that is erased is given again.
            if isStale, try trees.isWhole("erasure") || kind == .conversation && has("conversation", number) { return }
            try Erasing.note(kind, number: number, name: name, db)
        }
    }

    /// Copies tags and creates the conversations in indexes of moments. Returns their numbers.
    private func readIndexes() throws -> Set<Int64> {
        var named: Set<Int64> = []
        try forEachEntry { entry, isStale in
            switch entry {
            case .conversation(let id, let user, let session, let moment):
                guard !isStale || !trees.isWhole("conversation") else { return }
                if try !has("conversation", id) {
                    named.insert(id)
                    try restore(id, user, session, moment)
                }
                try db.run(
                    """
                    UPDATE conversation SET created_at = min(created_at, ?1), last_activity = max(last_activity, ?1),
                    last_access = max(last_access, ?1) WHERE id = ?2 AND id IN temp.restored
                    """, moment, id)
            case .tag(let conversation, let tag):
                guard !isStale || !trees.isWhole("tag") else { return }
                try db.run("INSERT OR IGNORE INTO tag (conversation_id, tag) VALUES (?, ?)", conversation, tag)
            default: break
            }
        }
        return named
    }

    private func restore(_ id: Int64, _ user: String, _ session: String, _ moment: Int64) throws {
        // With a damaged index, two conversations of one id were made.
        let isTaken = try db.integer("SELECT 1 FROM conversation WHERE user_id = ? AND session_id = ?", user, session)
        let session = isTaken == nil ? session : "recovered-\(id)"
        try db.run(
            """
            INSERT OR IGNORE INTO conversation (id, user_id, session_id, created_at, last_activity, last_access, message_count)
            VALUES (?1, ?2, ?3, ?4, ?4, ?4, 0)
            """, id, user, session, moment)
        if db.changesCount > 0 { try db.run("INSERT OR IGNORE INTO temp.restored VALUES (?)", id) }
    }

    private func unknownConversations() throws -> Set<Int64> {
        let named = try db.integers("SELECT conversation_id FROM scope UNION SELECT conversation_id FROM draft")
        let deleted = try db.integers("SELECT number FROM erasure WHERE kind = ?", Erasing.Kind.conversation.rawValue)
        return try Set(named + usedScopes.values).subtracting(deleted).filter { try !has("conversation", $0) }
    }
}
