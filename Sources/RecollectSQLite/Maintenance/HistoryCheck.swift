import Foundation
import GRDB
import GRDBSQLite
import RecollectCore

/// The parts of a check.
enum HistoryCheck {
    struct Result: Sendable {
        var report: HistoryReport
        var hashes: Set<String>?
    }

    /// The maximum number of reported problems of a kind.
    private static let limit = 20

    static func run(_ db: Database) throws -> Result {
        var hashes: Set<String> = []
        try db.sql("SELECT DISTINCT sha256 FROM attachment_use").forEachRow { hashes.insert($0.text(0)) }
        let report = HistoryReport(
            sqliteVersion: String(cString: sqlite3_libversion()), migrations: try Schema.applied(db),
            userCount: try count("SELECT count(DISTINCT user_id) FROM session", db),
            sessionCount: try count("SELECT count(*) FROM session", db),
            messageCount: try count(
                "SELECT count(*) FROM message WHERE session_row_id IN (SELECT id FROM session)", db),
            messagesToIndex: try count(
                """
                SELECT count(*) FROM message WHERE sequence > ifnull((SELECT indexed_through FROM search_state), 0)
                AND session_row_id IN (SELECT id FROM session)
                """, db),
            databaseBytes: 0, logBytes: 0, attachmentCount: hashes.count, attachmentBytes: 0, setAside: [],
            problems: try integrity(db) + counts(db) + ids(db) + owners(db) + content(db) + uses(db))
        return Result(report: report, hashes: hashes)
    }

    static func unreadable(_ error: any Error) -> Result {
        let report = HistoryReport(
            sqliteVersion: String(cString: sqlite3_libversion()), migrations: [], userCount: 0, sessionCount: 0,
            messageCount: 0, messagesToIndex: 0,
            databaseBytes: 0, logBytes: 0, attachmentCount: 0, attachmentBytes: 0, setAside: [],
            problems: [.init(kind: "integrity", message: "the database cannot be read completely: \(error)")])
        return Result(report: report, hashes: nil)
    }

    /// Returns the problem of hidden messages in a log.
    static func hiddenMessages(_ files: HistoryFiles) -> HistoryReport.Problem {
        HistoryReport.Problem(
            kind: "log",
            message: files.logBesideLinkWarning
                ?? "the log is damaged, and messages saved after the damage are not shown; "
                + "copy the folder to a writable location, and open it there")
    }

    // MARK: Pages and indexes

    private static func integrity(_ db: Database) throws -> [HistoryReport.Problem] {
        try Integrity.findings(db, limit: limit).map { .init(kind: "integrity", message: $0) }
    }

    /// Whether a line of SQLite's integrity check reports an index in contradiction to its table, and no damaged
    /// page.
    static func isAboutAnIndex(_ line: String) -> Bool {
        line.hasPrefix("row ") && line.contains(" missing from index ")
            || line.hasPrefix("wrong # of entries in index ") || line.hasPrefix("non-unique entry in index ")
    }

    /// Returns the problems found by FTS5 in the search index. Needs a connection with write access: the check is
    /// an INSERT without changes.
    static func indexProblems(_ db: Database) throws -> [HistoryReport.Problem] {
        do {
            try db.run("INSERT INTO message_search (message_search) VALUES ('integrity-check')")
            return []
        } catch  where error.isIndexDamage || error.isCorruption {
            return [
                .init(kind: "searchIndex", message: "the search index is inconsistent; searches may miss messages")
            ]
        } catch let error as DatabaseError where error.resultCode == .SQLITE_READONLY {
            return []
        }
    }

    // MARK: Derived data

    private static func counts(_ db: Database) throws -> [HistoryReport.Problem] {
        var problems: [HistoryReport.Problem] = []
        // By an index, scope by scope: to group the messages, SQLite would sort all of them in memory.
        try db.sql(
            """
            SELECT session_id, message_count,
              (SELECT count(*) FROM message WHERE scope_row_id IN (SELECT id FROM scope WHERE session_row_id = session.id)
               AND sequence <= \(FeedState.derivedThroughSQL)) AS held
            FROM session WHERE message_count <> held LIMIT \(limit)
            """
        ).forEachRow { row in
            problems.append(
                .init(
                    kind: "messageCount",
                    message:
                        "session \(row.text(0)) has a message count of \(row.integer(1)), but \(row.integer(2)) messages"
                ))
        }
        return problems
    }

    private static func ids(_ db: Database) throws -> [HistoryReport.Problem] {
        let messages = try count("SELECT count(*) FROM message WHERE sequence <= \(FeedState.derivedThroughSQL)", db)
        let found = try count(
            """
            SELECT count(*) FROM message_id JOIN message ON message.sequence = message_id.sequence
            AND message.message_id = message_id.message_id AND message.scope_row_id = message_id.scope_row_id
            """, db)
        guard found != messages else { return [] }
        let message =
            "the index of message IDs contains \(found) of \(messages) messages; some may not be found by their ID"
        return [.init(kind: "messageId", message: message)]
    }

    // MARK: Owners

    /// Messages with another session than their scope's.
    static let strays = """
        FROM message JOIN scope ON scope.id = message.scope_row_id WHERE message.session_row_id <> scope.session_row_id
        """
    /// Scopes with a window starting after every position ever assigned.
    static let lostWindows = "window_start >> 20 > \(Database.lastSequence) + 1"
    /// Scopes of deleted sessions without a row of `erasure`.
    static let orphans = """
        FROM scope WHERE session_row_id NOT IN (SELECT id FROM session)
        AND session_row_id NOT IN (SELECT number FROM erasure WHERE kind = 'session')
        """

    /// Compactions of scopes that do not exist.
    static let lostCompactions = "compaction WHERE scope_row_id NOT IN (SELECT id FROM scope)"

    private static func owners(_ db: Database) throws -> [HistoryReport.Problem] {
        var problems: [HistoryReport.Problem] = []
        let strays = try count("SELECT count(*) \(strays)", db)
        if strays > 0 {
            let message = "\(strays) messages refer to the wrong session; searches may miss them"
            problems.append(.init(kind: "owner", message: message))
        }
        let orphans = try count("SELECT count(DISTINCT session_row_id) \(orphans)", db)
        if orphans > 0 {
            let message = "the messages of \(orphans) deleted sessions are still in the database; a repair erases them"
            problems.append(.init(kind: "owner", message: message))
        }
        let windows = try count("SELECT count(*) FROM scope WHERE \(lostWindows)", db)
        if windows > 0 {
            let message = "\(windows) agents have windows that begin after their last message"
            problems.append(.init(kind: "window", message: message))
        }
        let compactions = try count("SELECT count(*) FROM \(lostCompactions)", db)
        if compactions > 0 {
            let message = "\(compactions) summaries belong to no messages; a repair removes them"
            problems.append(.init(kind: "owner", message: message))
        }
        return problems
    }

    // MARK: Content

    private static let contentColumns = MessageChecksum.columns.map { "message.\($0)" }.joined(separator: ", ")

    /// Whether the content of a message is damaged.
    static func hasDamagedContent(_ db: Database) throws -> Bool { try !content(db).isEmpty }

    /// Returns a problem for each session with damaged content: its checksum is wrong or, in a row without one, its
    /// JSON is invalid.
    private static func content(_ db: Database) throws -> [HistoryReport.Problem] {
        var damaged: [SessionRowID: Int] = [:]
        try db.sql("SELECT session_row_id, message.checksum, \(contentColumns) FROM message").forEachRow { row in
            let isWhole =
                if let checksum = row.optionalInteger(1) {
                    checksum == self.checksum(row, from: 2)
                } else { isReadable(row, from: 2) }
            if !isWhole { damaged[row.value(0), default: 0] += 1 }
        }
        return try damaged.sorted { $0.key < $1.key }.prefix(limit).map { number, count in
            let session = try db.optionalText("SELECT session_id FROM session WHERE id = ?", number)
            let messages = count == 1 ? "1 message" : "\(count) messages"
            return .init(
                kind: "contentDamaged",
                message: "\(messages) of session \(session ?? "?") changed on disk after being saved")
        }
    }

    /// Returns a problem if attachments of messages have no row in the table of uses.
    private static func uses(_ db: Database) throws -> [HistoryReport.Problem] {
        let missing = try AttachmentUse.missing(db)
        guard missing > 0 else { return [] }
        let message = "\(missing) attachments of messages are not marked as used; a repair corrects that"
        return [.init(kind: "attachmentUse", message: message)]
    }

    /// Adds missing checksums to readable messages after a sequence number. In a write transaction.
    /// - Returns: The last number examined, or `nil` at the end.
    static func addChecksums(behind start: SequenceNumber, limit: Int, _ db: Database) throws -> SequenceNumber? {
        var last: SequenceNumber?
        var checksums: [(SequenceNumber, Int64)] = []
        try db.sql(
            """
            SELECT sequence, \(contentColumns) FROM message WHERE sequence > ? AND checksum IS NULL
            ORDER BY sequence LIMIT ?
            """
        ).bind(start, limit).forEachRow { row in
            last = row.value(0)
            if isReadable(row, from: 1) { checksums.append((row.value(0), checksum(row, from: 1))) }
        }
        for (sequence, checksum) in checksums {
            try db.run("UPDATE message SET checksum = ? WHERE sequence = ?", checksum, sequence)
        }
        return last
    }

    private static func checksum(_ row: SQL, from first: Int32) -> Int64 {
        var checksum = MessageChecksum()
        for index in first..<first + Int32(MessageChecksum.columns.count) {
            if row.isNull(index) {
                checksum.addNull()
            } else if index == first + 1 {
                checksum.add(row.integer(index))
            } else {
                row.withBytes(index) { checksum.add($0) }
            }
        }
        return checksum.value
    }

    /// Whether a row's JSON is valid. A row with prose has none.
    private static func isReadable(_ row: SQL, from first: Int32) -> Bool {
        do {
            guard !row.isNull(first + 2) || !row.isNull(first + 3) else { return false }
            if !row.isNull(first + 3) { _ = try row.withBytes(first + 3, ContentPart.parse(list:)) }
            for index in [first + 4, first + 5] where !row.isNull(index) {
                _ = try row.withBytes(index, JSONValue.parse(object:))
            }
            return true
        } catch {
            return false
        }
    }

    private static func count(_ query: String, _ db: Database) throws -> Int {
        Int(try db.integer(query) ?? 0)
    }

    /// Returns the problems of a loss, by session if the sessions are known.
    static func problems(of loss: HistoryLoss) -> [HistoryReport.Problem] {
        let end = "the damaged file is now \(loss.setAside); delete it to dismiss this notice"
        guard let lost = loss.lostMessages else {
            return [
                .init(
                    kind: "messagesLost",
                    message: "parts of a damaged database could not be read; the extent of the loss is unknown; \(end)")
            ]
        }
        var problems = loss.sessions.map { session in
            (count: session.lostMessages, whose: "session \(session.sessionId) of user \(session.userId)")
        }
        let rest = lost - problems.reduce(0) { $0 + $1.count }
        if rest > 0 { problems.append((rest, "unknown sessions")) }
        return problems.map { count, whose in
            let messages = count == 1 ? "1 message" : "\(count) messages"
            return .init(kind: "messagesLost", message: "\(messages) of \(whose) could not be read; \(end)")
        }
    }

    /// Returns the problems of attachments, each with the hash.
    static func problems(
        of files: AttachmentFiles, kept: Set<String>, used: Set<String>
    ) -> [(hash: String, problem: HistoryReport.Problem)] {
        var problems: [(String, HistoryReport.Problem)] = []
        for hash in used.sorted() {
            do {
                _ = try files.read(hash)
            } catch let error as RecollectError where error.code == .notFound {
                problems.append((hash, .init(kind: "attachmentMissing", message: "the attachment \(hash) is missing")))
            } catch {
                problems.append((hash, .init(kind: "attachmentDamaged", message: "the attachment \(hash): \(error)")))
            }
        }
        for hash in kept.subtracting(used).sorted() {
            problems.append(
                (hash, .init(kind: "attachmentUnused", message: "no message uses the attachment \(hash)")))
        }
        return problems
    }
}
