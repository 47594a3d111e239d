import GRDB
import RecollectCore

/// A lease of a turn as a row of `turn_lease`, in the order of the numbers.
///
/// `expires_at` is a time since the start of the system, so that a change of the clock ends no lease. `writer` names the lock file of
/// the process (`ReplyWriterLocks`): the lease of an ended process is invalid at once, also after a restart of the system.
final class SQLiteLease: LeaseStorage {
    private let history: SQLiteHistoryStore
    private let lock = Locked<ReplyWriterLock?>(nil)

    init(history: SQLiteHistoryStore) {
        self.history = history
    }

    var origin: String { history.leaseOrigin }
    var signal: Signal { history.leaseSignal }

    private struct Row: Sendable {
        let token: Int64
        let expiresAt: Int64
        let writer: String
    }

    func enqueue(in session: SessionKey, for duration: Duration) async throws -> (token: Int64, isFirst: Bool) {
        let (token, isFirst, lock) = try await history.write { [connection = history.connection] db, _ in
            let lock = try connection.replyWriters?.enter()
            try db.run(
                "INSERT INTO turn_lease (user_id, session_id, expires_at, writer) VALUES (?, ?, ?, ?)", session.userId,
                session.sessionId, Self.end(after: duration), lock?.writer ?? "")
            let token = db.lastInsertedRowID
            return (token, try Self.rows(of: session, through: token, db).count == 1, lock)
        }
        self.lock.withLock { $0 = lock }
        return (token, isFirst)
    }

    /// The time for which a living process may be late with a renewal, in milliseconds.
    private static let grace: Int64 = 1_000

    private static func end(after duration: Duration) -> Int64 { ClockWatch.uptime + duration.milliseconds }

    func take(_ token: Int64, of session: SessionKey, for duration: Duration) async throws -> Bool? {
        let rows = try await history.read { try Self.rows(of: session, through: token, $0) }
        guard let own = rows.last, own.token == token else { return nil }
        let now = ClockWatch.uptime
        // Locks are checked before a write: most waiting turns wait for a running one.
        let invalid = try await history.blocking { [writers = history.connection.replyWriters] in
            rows.dropLast().filter { $0.expiresAt <= now - Self.grace || writers?.hasEnded($0.writer) ?? false }
        }
        guard invalid.count == rows.count - 1 else {
            // Half of the time is left, or less.
            guard own.expiresAt - now < Self.end(after: duration / 2) - now else { return false }
            return try await renew(token, of: session, for: duration) ? false : nil
        }
        let (isFirst, events) = try await history.write { [history] db, cache in
            var ended: [Row] = []
            for row in invalid {
                // It may have been renewed since.
                try db.run(
                    "DELETE FROM turn_lease WHERE token = ? AND expires_at = ?", row.token, row.expiresAt)
                if db.changesCount > 0 { ended.append(row) }
            }
            let rows = try Self.rows(of: session, through: token, db)
            guard rows.last?.token == token else { return (Bool?.none, [StoreEvent]()) }
            try db.run(
                "UPDATE turn_lease SET expires_at = ? WHERE token = ?", Self.end(after: duration), token)
            // Their turns can end no reply anymore.
            let events = try history.saveReplies(of: session, begunBy: Set(ended.map(\.writer)), db, cache)
            return (rows.count == 1, events)
        }
        events.forEach(history.events.post)
        return isFirst
    }

    func renew(_ token: Int64, of session: SessionKey, for duration: Duration) async throws -> Bool {
        try await history.write { db in
            try db.run("UPDATE turn_lease SET expires_at = ? WHERE token = ?", Self.end(after: duration), token)
            return db.changesCount > 0
        }
    }

    func remove(_ token: Int64, of session: SessionKey) async throws {
        try await history.write { try $0.run("DELETE FROM turn_lease WHERE token = ?", token) }
        signal.signal()
        await lock.withLock { $0 }?.end()
    }

    private static func rows(of session: SessionKey, through token: Int64, _ db: Database) throws -> [Row] {
        var rows: [Row] = []
        // Without an index: the table has a row for each running or waiting turn.
        try db.sql(
            """
            SELECT token, expires_at, writer FROM turn_lease WHERE user_id = ? AND session_id = ? AND token <= ? ORDER BY token
            """
        ).bind(session.userId, session.sessionId, token).forEachRow {
            rows.append(Row(token: $0.integer(0), expiresAt: $0.integer(1), writer: $0.text(2)))
        }
        return rows
    }

    /// Removes the leases of a user's sessions, or of one, that are not valid.
    static func removeInvalid(
        of userId: String, in sessionId: String? = nil, _ writers: ReplyWriterLocks?, _ db: Database
    ) throws {
        var rows: [Row] = []
        try db.sql(
            "SELECT token, expires_at, writer FROM turn_lease WHERE user_id = ?1 AND session_id = ifnull(?2, session_id)"
        ).bind(userId, sessionId).forEachRow {
            rows.append(Row(token: $0.integer(0), expiresAt: $0.integer(1), writer: $0.text(2)))
        }
        let now = ClockWatch.uptime
        for row in rows where row.expiresAt <= now - grace || writers?.hasEnded(row.writer) ?? false {
            try db.run("DELETE FROM turn_lease WHERE token = ?", row.token)
        }
    }

    /// Checks that the leases are valid, in the transaction of a write.
    /// - Throws: `leaseLost`.
    static func check(_ leases: [TurnLease], _ db: Database) throws {
        for lease in leases {
            let isValid = try db.integer("SELECT 1 FROM turn_lease WHERE token = ?", lease.token) != nil
            if !isValid { try lease.lose() }
        }
    }
}
