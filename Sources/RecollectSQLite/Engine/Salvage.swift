import Foundation
import GRDB
import GRDBSQLite
import RecollectCore

/// Reads what can be read of a damaged database, forwards and backwards around its damaged pages.
///
/// The damaged files are only read. Where the very first bytes are damaged, so that SQLite refuses the file, a copy is read
/// that was given the first bytes of a whole database.
struct Salvage {
    let damaged: URL

    /// How many messages were recovered, and how many are known to be lost.
    struct Outcome {
        var recovered: Int
        var lost: Int?
    }

    /// Copies everything readable into a new database, inside a write transaction.
    func copy(into db: Database) throws -> Outcome {
        if let reader = SalvageReader(path: damaged.path), reader.canReadSchema {
            return try copy(from: reader, into: db)
        }
        guard let mended = try mendedCopy(), let reader = SalvageReader(path: mended.path) else {
            return Outcome(recovered: 0, lost: nil)
        }
        defer {
            for suffix in ["", "-wal", "-shm"] { Self.remove(mended.path + suffix) }
        }
        return try copy(from: reader, into: db)
    }

    private func copy(from reader: SalvageReader, into db: Database) throws -> Outcome {
        var expected: Int64 = 0
        let conversation = reader.columns(Self.conversation, of: "conversation").joined(separator: ", ")
        try reader.forEachRow(
            of: "conversation", columns: conversation, orIndexed: "id, user_id, session_id",
            by: "sqlite_autoindex_conversation_1"
        ) { row in
            expected += row.count > 5 ? row[5].integer : 0
            let values = row.count > 5 ? row : row + [.integer(0), .integer(0), .integer(0)]
            try db.insert(values, into: "conversation", conversation, count: values.count)
        }
        try reader.forEachRow(
            of: "scope", columns: Self.scope, orIndexed: "id, conversation_id, agent_id", by: "sqlite_autoindex_scope_1"
        ) { row in
            let values = row.count > 3 ? row : row + [.integer(0)]
            try db.insert(values, into: "scope", Self.scope, count: values.count)
        }
        try reader.forEachRow(of: "message", columns: Self.message) { row in
            guard Self.isReadable(row) else { return }
            try db.insert(row, into: "message", Self.message, count: row.count)
        }
        try reader.forEachRow(of: "change", columns: Self.change) { row in
            try db.insert(row, into: "change", Self.change, count: row.count)
        }
        try reader.forEachRow(of: "attachment_use", columns: Self.attachmentUse, key: nil) { row in
            try db.insert(row, into: "attachment_use", Self.attachmentUse, count: row.count)
        }
        try reader.forEachRow(of: "tag", columns: "conversation_id, tag", key: nil) { row in
            try db.insert(row, into: "tag", "conversation_id, tag", count: row.count)
        }
        // A branch whose conversation cannot be known any more becomes one itself.
        try db.run(
            """
            UPDATE conversation SET branch_of = NULL
            WHERE branch_of IS NOT NULL AND branch_of NOT IN (SELECT id FROM conversation)
            """)
        try db.run("DELETE FROM tag WHERE conversation_id NOT IN (SELECT id FROM conversation)")
        // Replies in flight go on, or are saved when the new database is opened, each as its writer lives or has ended.
        try reader.forEachRow(of: "draft", columns: Self.draft) { row in
            try db.insert(row, into: "draft", Self.draft, count: row.count)
        }
        // A message whose user or session cannot be known any more is nobody's; the damaged file still has it.
        try db.run("DELETE FROM message WHERE conversation_id NOT IN (SELECT id FROM conversation)")
        try db.run("DELETE FROM message WHERE scope_id NOT IN (SELECT id FROM scope)")
        try db.run("DELETE FROM draft WHERE conversation_id NOT IN (SELECT id FROM conversation)")
        try db.run(
            """
            UPDATE conversation SET created_at = first.moment
            FROM (SELECT conversation_id, min(timestamp) AS moment FROM message GROUP BY conversation_id) AS first
            WHERE conversation.id = first.conversation_id AND created_at = 0
            """)
        try Settling.rebuild(db)
        let recovered = Int(try db.integer("SELECT count(*) FROM message") ?? 0)
        return Outcome(recovered: recovered, lost: expected > 0 ? max(0, Int(expected) - recovered) : nil)
    }

    private static let conversation = [
        "id", "user_id", "session_id", "created_at", "last_activity", "message_count", "title", "working_directory",
        "branch",
        "metadata", "first_message", "last_access", "last_sequence", "read_through", "is_pinned", "is_archived",
        "discarded_at", "branch_of", "branch_after",
    ]
    private static let scope = "id, conversation_id, agent_id, window_start"
    private static let message = """
        sequence, conversation_id, scope_id, position, timestamp, role, message_id, metadata, unknown_fields, text, parts,
        copied_from
        """
    private static let change = "sequence, kind, user_id, session_id, agent_id, message_id"
    private static let attachmentUse = "sha256, sequence"
    private static let draft = """
        id, conversation_id, agent_id, writer, message_id, role, timestamp, metadata, unknown_fields, parts, text
        """

    /// Whether a row's JSON is whole; a row of prose has none.
    private static func isReadable(_ row: [SalvageReader.Value]) -> Bool {
        guard case .text(let role) = row[5], !role.isEmpty, case .text = row[6] else { return false }
        do {
            if case .text(let parts) = row[10] {
                _ = try parts.withUnsafeBytes(ContentPart.parse(list:))
            } else {
                guard case .text = row[9] else { return false }
            }
            for index in [7, 8] {
                if case .text(let object) = row[index] { _ = try object.withUnsafeBytes(JSONValue.parse(object:)) }
            }
            return true
        } catch {
            return false
        }
    }

    /// A copy of the damaged files whose first 100 bytes are those of a whole database of ours.
    private func mendedCopy() throws -> URL? {
        let copy = damaged.deletingLastPathComponent().appendingPathComponent("history.mending-\(UUID().uuidString)")
        let sample = copy.appendingPathExtension("sample")
        defer { Self.remove(sample.path) }
        let queue = try DatabaseQueue(path: sample.path)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
        }
        try queue.close()
        let files = FileManager.default
        try files.copyItem(at: damaged, to: copy)
        chmod(copy.path, 0o600)
        if files.fileExists(atPath: damaged.path + "-wal") {
            try files.copyItem(atPath: damaged.path + "-wal", toPath: copy.path + "-wal")
        }
        var header = try Data(contentsOf: sample).prefix(100)
        // Two versions for reading and writing say that there is a log; two counters that differ say that the size in the
        // header is not to be believed.
        header.replaceSubrange(18..<20, with: [2, 2])
        header.replaceSubrange(24..<28, with: [0, 0, 0, 7])
        header.replaceSubrange(92..<96, with: [0, 0, 0, 0])
        let handle = try FileHandle(forWritingTo: copy)
        defer { handle.closeFile() }
        guard try handle.seekToEnd() > 4096 else {
            for suffix in ["", "-wal"] { Self.remove(copy.path + suffix) }
            return nil
        }
        try handle.seek(toOffset: 0)
        try handle.write(contentsOf: header)
        return copy
    }

    private static func remove(_ path: String) {
        // A copy that cannot be removed is in nobody's way.
        try? FileObservation.perform(.remove(path: path)) {
            guard unlink(path) == 0 else { throw POSIXFailure.last }
        }
    }
}

extension Database {
    /// Inserts a row as it was read; a row whose key is there already is passed over.
    fileprivate func insert(_ row: [SalvageReader.Value], into table: String, _ columns: String, count: Int) throws {
        let names = columns.split(separator: ",").prefix(count).joined(separator: ",")
        let marks = repeatElement("?", count: count).joined(separator: ", ")
        try sql("INSERT OR IGNORE INTO \(table) (\(names)) VALUES (\(marks))").bind(row).run()
    }
}
