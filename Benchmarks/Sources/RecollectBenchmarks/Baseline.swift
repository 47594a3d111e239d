import Foundation
import GRDBSQLite

/// The baseline: the same work on SQLite's C API, with prepared statements only.
final class Baseline {
    private let connection: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]

    init(path: String, synchronous: String, schema: String = Baseline.bareSchema) throws {
        var opened: OpaquePointer?
        guard sqlite3_open(path, &opened) == SQLITE_OK, let opened else { throw Failure(text: "cannot open \(path)") }
        connection = opened
        try execute("PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous)")
        try execute(schema)
    }

    deinit {
        statements.values.forEach { sqlite3_finalize($0) }
        sqlite3_close(connection)
    }

    struct Failure: Error { let text: String }

    /// Messages, each with a session, and the index to read the last ones.
    static let bareSchema = """
        CREATE TABLE IF NOT EXISTS message (
          id INTEGER PRIMARY KEY, session TEXT NOT NULL, role TEXT NOT NULL, timestamp INTEGER NOT NULL, text TEXT NOT NULL);
        CREATE INDEX IF NOT EXISTS message_by_session ON message (session, id);
        """

    func execute(_ sql: String) throws {
        guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
            throw Failure(text: String(cString: sqlite3_errmsg(connection)))
        }
    }

    func statement(_ sql: String) throws -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var prepared: OpaquePointer?
        guard sqlite3_prepare_v2(connection, sql, -1, &prepared, nil) == SQLITE_OK, let prepared else {
            throw Failure(text: String(cString: sqlite3_errmsg(connection)))
        }
        statements[sql] = prepared
        return prepared
    }

    func run(_ statement: OpaquePointer) throws {
        let code = sqlite3_step(statement)
        sqlite3_reset(statement)
        guard code == SQLITE_DONE || code == SQLITE_ROW else {
            throw Failure(text: String(cString: sqlite3_errmsg(connection)))
        }
    }

    /// SQLite copies bound values before the call returns.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    func bind(_ text: String, _ index: Int32, _ statement: OpaquePointer) {
        sqlite3_bind_text(statement, index, text, -1, Self.transient)
    }
}

/// The work of the baseline: saving a turn, reading the last messages.
struct BareHistory {
    private let baseline: Baseline
    private let begin, insert, commit, select: OpaquePointer

    init(path: String, synchronous: String) throws {
        baseline = try Baseline(path: path, synchronous: synchronous)
        begin = try baseline.statement("BEGIN IMMEDIATE")
        insert = try baseline.statement("INSERT INTO message (session, role, timestamp, text) VALUES (?, ?, ?, ?)")
        commit = try baseline.statement("COMMIT")
        select = try baseline.statement(
            "SELECT role, timestamp, text FROM message WHERE session = ? ORDER BY id DESC LIMIT 100")
    }

    func save(session: String, _ question: String, _ answer: String, at time: Int64) throws {
        try baseline.run(begin)
        try write(session: session, question, answer, at: time)
        try baseline.run(commit)
    }

    /// Fills a session in one transaction.
    func fill(session: String, turns: Int) throws {
        try baseline.run(begin)
        for turn in 0..<turns { try write(session: session, Turn.question, Turn.answer, at: Int64(turn)) }
        try baseline.run(commit)
    }

    private func write(session: String, _ question: String, _ answer: String, at time: Int64) throws {
        for (role, text) in [("user", question), ("assistant", answer)] {
            baseline.bind(session, 1, insert)
            baseline.bind(role, 2, insert)
            sqlite3_bind_int64(insert, 3, time)
            baseline.bind(text, 4, insert)
            try baseline.run(insert)
        }
    }

    /// Reads the last 100 messages and every byte of their text, without creating strings.
    func readLast(session: String) -> Int {
        baseline.bind(session, 1, select)
        var bytes = 0
        while sqlite3_step(select) == SQLITE_ROW {
            _ = sqlite3_column_text(select, 0)
            _ = sqlite3_column_int64(select, 1)
            _ = sqlite3_column_text(select, 2)
            bytes += Int(sqlite3_column_bytes(select, 2))
        }
        sqlite3_reset(select)
        return bytes
    }
}
