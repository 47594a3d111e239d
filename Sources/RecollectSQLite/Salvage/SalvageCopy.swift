import Foundation
import GRDB
import RecollectCore

/// Copies the content of a damaged database's pages into a new database, on its connection and in bounded
/// transactions.
///
/// Pages are read by number, without following references, and the rows themselves show their table. So a damaged
/// page costs only its own rows. Memory use is a few bytes for each page and one row at a time, independently of
/// the messages.
///
/// Stale pages come last: a row may have moved to another page since. They are skipped for a table with an intact
/// tree.
///
/// 1. All pages are read, and rows other than messages are copied. Of a page with messages, only the least number is
///    recorded.
/// 2. Sessions without rows are created from index entries.
/// 3. Messages are copied in the order of their numbers.
/// 4. Indexes give the agents of scopes without rows, and the lost messages.
final class SalvageCopy {
    let pages: DamagedPages
    let trees: DamagedTrees
    let db: Database
    let writer: SalvageWriter

    /// The pages with messages, and the least number on each.
    private var messagePages: [(first: Int64, page: UInt32)] = []
    private(set) var indexPages: [UInt32] = []
    /// The pages with a session left out because another one has the same user and ID.
    private var suspectPages: Set<Int> = []
    /// The session of each scope used by messages.
    private(set) var usedScopes: [Int64: Int64] = [:]
    /// The identifiers of the applied migrations.
    private var migrations: Set<String> = []
    /// The greatest feed number found anywhere.
    private var lastSequence: Int64 = 0
    private var lastMessage: Int64 = 0
    private var isOutOfOrder = false

    init(_ pages: DamagedPages, into db: Database) throws {
        self.pages = pages
        trees = DamagedTrees(pages)
        self.db = db
        writer = try SalvageWriter(db)
    }

    /// Copies everything. Returns the number of messages recovered, the number lost (`nil` if unknown), and the
    /// sessions with losses.
    func run() throws -> (recovered: Int, lost: Int?, sessions: [SessionLoss]) {
        try db.execute(
            sql: """
                CREATE TEMP TABLE expected (session INTEGER PRIMARY KEY, count INTEGER NOT NULL);
                CREATE TEMP TABLE restored (session INTEGER PRIMARY KEY);
                CREATE TEMP TABLE lost (sequence INTEGER PRIMARY KEY, scope INTEGER NOT NULL)
                """)
        try writer.transactions {
            try copyRows()
            try refuseNewer()
            try restoreOwners()
            try copySuspect()
            try restoreSessions()
            try makeScopes()
        }
        try copyMessages()
        return try writer.transactions {
            try readLocations()
            try finish()
            return try losses()
        }
    }

    // MARK: Rows

    private func copyRows() throws {
        try copyRows(areStale: false)
        if pages.hasStalePages { try copyRows(areStale: true) }
    }

    private func copyRows(areStale: Bool) throws {
        for number in 1...max(1, pages.count) where pages.isStale(number) == areStale {
            guard let page = pages.page(number), page.kind != .keys else { continue }
            guard page.kind == .rows else {
                indexPages.append(UInt32(number))
                continue
            }
            var first: Int64?
            for cell in page.cells {
                guard let head = DamagedRecord(cell.local, size: cell.size) else { continue }
                guard let table = SalvagedTable(rowOf: head) else {
                    readProgress(in: head)
                    continue
                }
                guard !areStale || !trees.isWhole(table.rawValue) else { continue }
                if table == .message {
                    first = min(first ?? .max, cell.key)
                    usedScopes[head.integer(2)] = head.integer(1)
                    lastSequence = max(lastSequence, cell.key)
                } else if let payload = pages.payload(of: cell), let row = DamagedRecord(payload, size: cell.size) {
                    if try !copy(row, cell.key, of: table) { suspectPages.insert(number) }
                }
            }
            if let first { messagePages.append((first, UInt32(number))) }
        }
    }

    /// Copies the sessions of the suspect pages again, after other rows were restored.
    private func copySuspect() throws {
        for number in suspectPages.sorted() {
            guard let page = pages.page(number) else { continue }
            for cell in page.cells {
                guard let payload = pages.payload(of: cell), let row = DamagedRecord(payload, size: cell.size),
                    SalvagedTable(rowOf: row) == .session
                else { continue }
                _ = try copy(row, cell.key, of: .session)
            }
        }
    }

    /// Copies a row. Returns false for a session with the user and the ID of another one.
    private func copy(_ row: DamagedRecord, _ key: Int64, of table: SalvagedTable) throws -> Bool {
        switch table {
        case .session:
            try db.run("INSERT OR IGNORE INTO temp.expected VALUES (?, ?)", key, row.integer(5))
            // These columns are derived from the messages.
            try writer.insert(
                row, key, into: table,
                replacing: [
                    "message_count": 0, "last_sequence": 0, "preview": nil, "input_tokens": 0, "output_tokens": 0,
                    "cache_creation_tokens": 0, "cache_read_tokens": 0,
                ])
            lastSequence = max(lastSequence, row.integer(13), row.integer(14))
            return try has("session", key)
        case .change:
            lastSequence = max(lastSequence, key)
            try writer.insert(row, key, into: table)
        default: try writer.insert(row, key, into: table)
        }
        return true
    }

    private func refuseNewer() throws {
        guard Schema.isNewer(migrations) else { return }
        throw RecollectError(
            .newerSchema,
            "the history was written by a newer version of Recollect and is damaged; it was left unchanged; "
                + "update this program")
    }

    /// Reads the progress recorded in a row of a derived table, or of the applied migrations.
    private func readProgress(in row: DamagedRecord) {
        if row.count == 3, row.begins(with: [.null, .integer, .integer]) {
            // The progress of the search index.
            lastSequence = max(lastSequence, row.integer(2))
        } else if row.count == 1, let migration = row.text(0), migration.first?.isNumber == true,
            migration.contains(" ")
        {
            migrations.insert(migration)
        }
    }

    func has(_ table: String, _ id: Int64) throws -> Bool {
        try db.integer("SELECT 1 FROM \(table) WHERE \(table == "message" ? "sequence" : "id") = ?", id) != nil
    }

    /// Creates the scopes without rows, under placeholder names. An index entry may replace them later.
    private func makeScopes() throws {
        for (scope, session) in usedScopes.sorted(by: { $0.key < $1.key }) where try !has("scope", scope) {
            try db.run(
                "INSERT OR IGNORE INTO scope (id, session_row_id, agent_id, window_start) VALUES (?, ?, ?, 0)", scope,
                session, Self.placeholder(scope))
        }
    }

    private static func placeholder(_ scope: Int64) -> String { "recovered-\(scope)" }

    // MARK: Messages

    private func copyMessages() throws {
        func isStale(_ page: UInt32) -> Bool { pages.isStale(Int(page)) }
        messagePages.sort { isStale($0.page) == isStale($1.page) ? $0.first < $1.first : isStale($1.page) }
        var pending = 0
        for (_, number) in messagePages {
            guard let page = pages.page(Int(number)) else { continue }
            let isStale = isStale(number)
            try writer.transactions {
                for cell in page.cells {
                    guard let head = DamagedRecord(cell.local, size: cell.size), SalvagedTable(rowOf: head) == .message,
                        let payload = pages.payload(of: cell), let row = DamagedRecord(payload, size: cell.size)
                    else { continue }
                    guard try !isStale || !isDeleted(row, cell.key) else { continue }
                    guard try writer.insertMessage(row, cell.key) else { continue }
                    isOutOfOrder = isOutOfOrder || cell.key < lastMessage
                    lastMessage = max(lastMessage, cell.key)
                    pending += 1
                }
                if pending >= 1000 {
                    try DerivedData.update(db)
                    pending = 0
                }
            }
        }
        try writer.transactions {
            if isOutOfOrder { try DerivedData.rebuild(db) } else { try DerivedData.update(db) }
        }
    }

    /// Whether the feed has the deletion of a message, or one without a message's number after this message was saved.
    private func isDeleted(_ row: DamagedRecord, _ sequence: Int64) throws -> Bool {
        guard let id = row.text(6) else { return false }
        return try db.integer(
            """
            SELECT 1 FROM change JOIN session USING (user_id, session_id) JOIN scope ON scope.id = ?3
            WHERE session.id = ?1 AND message_id = ?2 AND change.kind = ?5 AND sequence > ?4
            AND ifnull(message_sequence, ?4) = ?4
            AND (change.agent_id = scope.agent_id OR change.agent_id IS NULL OR scope.agent_id = ?6)
            """, row.integer(1), id, row.integer(2), sequence, HistoryChange.Kind.messageDeleted.rawValue,
            Self.placeholder(row.integer(2))) != nil
    }

    /// Reads the index of positions, with an entry for each message, and the names of scopes.
    private func readLocations() throws {
        try forEachEntry { entry, isStale in
            switch entry {
            case .position(let scope, let sequence) where sequence > 0:
                lastSequence = max(lastSequence, sequence)
                // A stale entry may belong to a deleted message.
                if try !isStale && !has("message", sequence) {
                    try db.run("INSERT OR IGNORE INTO temp.lost VALUES (?, ?)", sequence, scope)
                }
            case .named(let session, let name, let scope) where usedScopes[scope] == session:
                // The tables of the IDs of messages and streaming replies have entries of the same types.
                guard
                    try db.integer("SELECT 1 FROM message WHERE sequence = ? AND message_id = ?", scope, name) == nil,
                    try db.integer("SELECT 1 FROM streaming_reply WHERE id = ? AND message_id = ?", scope, name) == nil
                else { return }
                try db.run(
                    "UPDATE OR IGNORE scope SET agent_id = ? WHERE id = ? AND agent_id = ?", name, scope,
                    Self.placeholder(scope))
            default: break
            }
        }
    }

    // MARK: The end

    private func finish() throws {
        try db.run(
            """
            UPDATE session SET branch_of = NULL
            WHERE branch_of IS NOT NULL AND branch_of NOT IN (SELECT id FROM session)
            """)
        try db.run("DELETE FROM compaction WHERE scope_row_id NOT IN (SELECT id FROM scope)")
        // A title from an index equal to the preview was not a title: the index uses the preview for sessions
        // without one.
        try db.run("UPDATE session SET title = NULL WHERE title = preview AND id IN temp.restored")
        try db.run(
            """
            UPDATE session SET created_at = first.date
            FROM (SELECT session_row_id, min(timestamp) AS date FROM message
                  WHERE session_row_id IN (SELECT id FROM session WHERE created_at = 0)
                  GROUP BY session_row_id) AS first
            WHERE session.id = first.session_row_id
            """)
        try db.run("UPDATE session SET read_through = ? WHERE id IN temp.restored", lastSequence)
        try db.reserveFeedNumbers(through: SequenceNumber(rawValue: lastSequence + 1_000_000))
    }

    /// Whether the loss is known: no pages are missing at the end, the messages or the index of their positions are intact, and
    /// no stale page holds content, except of derived tables, the feed, and `erasure`. The counts of the sessions prove nothing:
    /// they follow the messages at a distance.
    private var isLossKnown: Bool {
        guard !pages.isCut, ["message", "message_by_position"].contains(where: trees.isWhole) else { return false }
        return !pages.hasStalePages
            || ["message", "session", "scope", "streaming_reply", "tag"].allSatisfy(trees.isWhole)
    }

    /// Counts the lost messages of each session: those in the index of positions only, or the difference to the
    /// session's count, whichever is more.
    private func losses() throws -> (recovered: Int, lost: Int?, sessions: [SessionLoss]) {
        var sessions: [SessionLoss] = []
        var lost = 0
        try db.sql(
            """
            SELECT user_id, session_id, max(ifnull(missing.count, 0), ifnull(expected.count, 0) - message_count) AS gone
            FROM session LEFT JOIN temp.expected ON expected.session = session.id
            LEFT JOIN (SELECT session_row_id, count(*) AS count FROM temp.lost JOIN scope ON scope.id = lost.scope
                       GROUP BY session_row_id) AS missing ON missing.session_row_id = session.id
            WHERE gone > 0 ORDER BY user_id, session_id
            """
        ).forEachRow { row in
            sessions.append(
                SessionLoss(userId: row.text(0), sessionId: row.text(1), lostMessages: Int(row.integer(2))))
            lost += Int(row.integer(2))
        }
        lost += Int(try db.integer("SELECT count(*) FROM temp.lost WHERE scope NOT IN (SELECT id FROM scope)") ?? 0)
        let recovered = Int(
            try db.integer("SELECT count(*) FROM message WHERE session_row_id IN (SELECT id FROM session)") ?? 0)
        let isEmpty = try db.integer("SELECT 1 FROM session LIMIT 1") == nil
        let isKnown = isLossKnown && !(recovered == 0 && lost == 0 && isEmpty)
        return (recovered, isKnown ? lost : nil, sessions)
    }
}
