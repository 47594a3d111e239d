import Foundation
import GRDB
import GRDBSQLite
import RecollectCore

extension SQLiteHistoryStore {
    /// Looks at everything: SQLite's integrity check over all pages, counts, attachments. Changes nothing.
    ///
    /// Costs a reading of the whole database and of every attachment. A database that is so damaged that it cannot be opened is
    /// salvaged at opening; this then reports on what was recovered.
    public func check() async throws -> HistoryReport {
        let checked = try await connection.perform { database in
            try await database.read { db in
                // Corruption is what is looked for here: it is told, not thrown.
                do { return try HistoryCheck.run(db) } catch  where error.isCorruption {
                    return HistoryCheck.unreadable(error)
                }
            }
        }
        var report = checked.report
        report.erasure = checked.report.migrations.isEmpty ? Erasure() : try await erasure()
        report.directory = directory?.path
        guard let files = connection.files else { return report }
        // What is about to be removed is no problem.
        let pending = report.migrations.isEmpty ? [] : try await read { try Erasing.pendingAttachments($0) }
        return try await blocking { [report] in
            var report = report
            report.databaseBytes = HistoryCheck.size(of: files.database)
            report.logBytes = HistoryCheck.size(of: files.writeAheadLog)
            report.setAside = try files.setAsideFiles().map(\.lastPathComponent).sorted()
            let kept = try AttachmentFiles(directory: files.attachments).all()
            report.attachments = kept.count
            report.attachmentBytes = kept.reduce(0) { $0 + $1.byteCount }
            report.problems += HistoryCheck.problems(
                of: AttachmentFiles(directory: files.attachments), kept: Set(kept.map(\.hash)).subtracting(pending),
                used: checked.hashes)
            return report
        }
    }

    /// Mends what `check()` finds: salvages a damaged database, sets counts right, makes the search index anew, removes
    /// attachments that nothing uses. What cannot be read stays in the file that is set aside.
    public func repair() async throws {
        let report = try await check()
        if report.problems.contains(where: { $0.kind == "integrity" }), connection.files != nil {
            _ = try await connection.salvage(try await connection.database())
        }
        try await write { db in
            try Settling.rebuild(db)
            try SearchIndex.rebuild(db)
        }
        events.post(.init(kind: .rebuiltIndex))
        try await indexEverything()
        guard let files = connection.files else { return }
        try await write { db in
            let kept = try AttachmentFiles(directory: files.attachments).all().map(\.hash)
            try Erasing.note(orphans: kept.filter { try !AttachmentUse.isUsed($0, db) }, db)
            try Erasing.note(.leftovers, db)
        }
        try await waitUntilErased()
    }
}

/// The pieces of a check.
enum HistoryCheck {
    struct Result: Sendable {
        var report: HistoryReport
        var hashes: Set<String>
    }

    static func run(_ db: Database) throws -> Result {
        var problems: [HistoryReport.Problem] = []
        try db.sql("PRAGMA integrity_check(20)").forEachRow { row in
            let line = row.text(0)
            if line != "ok" { problems.append(.init(kind: "integrity", message: line)) }
        }
        try db.sql(
            """
            SELECT session_id, message_count, ifnull(held.count, 0) FROM conversation
            LEFT JOIN (SELECT conversation_id, count(*) AS count FROM message WHERE sequence <= \(Settling.through)
                       GROUP BY conversation_id) AS held ON held.conversation_id = conversation.id
            WHERE message_count <> ifnull(held.count, 0) LIMIT 20
            """
        ).forEachRow { row in
            problems.append(
                .init(
                    kind: "messageCount",
                    message: "session \(row.text(0)) counts \(row.integer(1)) messages and has \(row.integer(2))"))
        }
        var hashes: Set<String> = []
        try db.sql("SELECT DISTINCT sha256 FROM attachment_use").forEachRow { hashes.insert($0.text(0)) }
        var migrations: [String] = []
        try db.sql("SELECT identifier FROM grdb_migrations ORDER BY rowid").forEachRow { migrations.append($0.text(0)) }
        let report = HistoryReport(
            sqliteVersion: String(cString: sqlite3_libversion()), migrations: migrations,
            users: try count("SELECT count(DISTINCT user_id) FROM conversation", db),
            conversations: try count("SELECT count(*) FROM conversation", db),
            messages: try count("SELECT count(*) FROM message", db),
            messagesToIndex: try count(
                """
                SELECT count(*) FROM message WHERE sequence > ifnull((SELECT indexed_through FROM search_state), 0)
                """, db),
            databaseBytes: 0, logBytes: 0, attachments: hashes.count, attachmentBytes: 0, setAside: [],
            problems: problems)
        return Result(report: report, hashes: hashes)
    }

    static func unreadable(_ error: any Error) -> Result {
        let report = HistoryReport(
            sqliteVersion: String(cString: sqlite3_libversion()), migrations: [], users: 0, conversations: 0,
            messages: 0, messagesToIndex: 0,
            databaseBytes: 0, logBytes: 0, attachments: 0, attachmentBytes: 0, setAside: [],
            problems: [.init(kind: "integrity", message: "the database cannot be read to its end: \(error)")])
        return Result(report: report, hashes: [])
    }

    private static func count(_ query: String, _ db: Database) throws -> Int {
        Int(try db.integer(query) ?? 0)
    }

    static func size(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    static func problems(
        of files: AttachmentFiles, kept: Set<String>, used: Set<String>
    ) -> [HistoryReport.Problem] {
        var problems: [HistoryReport.Problem] = []
        for hash in used.sorted() {
            do {
                _ = try files.read(hash)
            } catch let error as RecollectError where error.code == .notFound {
                problems.append(.init(kind: "attachmentMissing", message: "the attachment \(hash) is gone"))
            } catch {
                problems.append(.init(kind: "attachmentDamaged", message: "the attachment \(hash): \(error)"))
            }
        }
        for hash in kept.subtracting(used).sorted() {
            problems.append(.init(kind: "attachmentUnused", message: "no message uses the attachment \(hash)"))
        }
        return problems
    }
}
