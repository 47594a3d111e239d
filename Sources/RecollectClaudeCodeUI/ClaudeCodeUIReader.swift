import Foundation
import GRDB
import RecollectCore
import RecollectSQLite
import RecollectTranscripts

/// Reads a ClaudeCodeUI database session by session, the least recently accessed first: the details of a session,
/// then its messages in the app's order.
///
/// Unreadable rows are records too. Messages of sessions missing from the list are read as well, before all others.
/// Memory is bounded by the IDs of all messages.
final class ClaudeCodeUIReader: TranscriptReading {
    let path: String
    private(set) var bytesRead: Int64 = 0

    private let copy: DatabaseCopy
    private let database: ForeignDatabase
    private let hasAttachments: Bool
    /// The sessions still to be read, the next one last.
    private var sessions: [(id: String, row: Int64?)] = []
    /// The rows of their messages, in order.
    private var rows: [ByteString: [Int64]] = [:]
    /// The rows of the current session, the next one last.
    private var open: (sessionId: String, rows: [Int64])?
    private var calls = OpenCalls()
    private let rowCount: Int
    private var rowsRead = 0
    private var others: [TranscriptRecord]

    /// A UI's messages belong to the agent of a session storage.
    private static let agentId = ""
    private static let tables: Set = ["sessions", "messages", "attachments"]

    init(path: String, copy: DatabaseCopy) throws {
        self.path = path
        self.copy = copy
        database = try copy.open()
        do {
            hasAttachments = try database.columns(of: "attachments").isSuperset(of: ["message_id", "file_path"])
            // Apps create it without this index: each message would read the whole table.
            if hasAttachments { try database.run("CREATE INDEX recollect_attachments ON attachments (message_id)") }
            others = try Self.otherTables(in: database)
            rows = try Self.messageRows(in: database)
            sessions = try Self.sessions(in: database, rows)
            rowCount = rows.values.reduce(0) { $0 + $1.count } + sessions.count
        } catch let error as DatabaseError {
            throw RecollectError(error, store: path)
        }
    }

    /// Checks for a database of ClaudeCodeUI.
    /// - Throws: `foreignStore` if it is not one, `damaged` if it cannot be read.
    static func check(_ database: ForeignDatabase, path: String) throws {
        do {
            let known = ["id", "session_id", "content", "role", "timestamp"]
            guard try database.columns(of: "sessions").contains("id"),
                try database.columns(of: "messages").isSuperset(of: known)
            else {
                throw RecollectError(
                    .foreignStore,
                    "\(path) is a SQLite database, but not a ClaudeCodeUI database: it lacks the tables `sessions` and "
                        + "`messages` of ClaudeCodeUI; to move a Recollect history, use `recall migrate --from`")
            }
        } catch let error as DatabaseError {
            throw RecollectError(error, store: path)
        }
    }

    func next() throws -> TranscriptRecord? {
        if let other = others.popLast() { return other }
        if let sessionId = open?.sessionId {
            if let row = open?.rows.popLast() { return message(at: row, of: sessionId) }
            open = nil
        }
        guard let session = sessions.popLast() else {
            bytesRead = copy.byteCount
            return nil
        }
        open = (session.id, (rows.removeValue(forKey: ByteString(session.id)) ?? []).reversed())
        calls = OpenCalls()
        countRow()
        guard let row = session.row else { return try next() }
        return details(of: session.id, at: row)
    }

    // MARK: Rows

    private func details(of sessionId: String, at row: Int64) -> TranscriptRecord {
        reading(sessionId, row, "session") {
            var details = SessionDetails()
            try database.forEachRow("SELECT * FROM sessions WHERE rowid = ?", row) { found in
                var session = ForeignRow(found)
                _ = session.take("id")
                details.firstMessage = session.text("first_user_message")
                details.createdAt = session.date("created_at")
                details.lastAccessedAt = session.date("last_accessed_at")
                details.workingDirectory = session.text("working_directory")
                details.branchName = session.text("branch_name")
                if !session.rest.isEmpty {
                    details.metadata[ClaudeCodeUIMessage.metadataKey] = .object(session.rest)
                }
            }
            return .details(details)
        }
    }

    private func message(at row: Int64, of sessionId: String) -> TranscriptRecord {
        countRow()
        return reading(sessionId, row, "message") {
            var read: ClaudeCodeUIMessage?
            try database.forEachRow("SELECT * FROM messages WHERE rowid = ?", row) {
                read = try ClaudeCodeUIMessage(ForeignRow($0), attachments: attachments)
            }
            guard let read else { throw RecollectError(.unreadable, "the row is missing") }
            return .message(ConversationMessage(read.chat, answering: calls.answered(by: read)))
        }
    }

    private func attachments(of messageId: UUID) throws -> [Attachment] {
        guard hasAttachments else { return [] }
        var attachments: [Attachment] = []
        try database.forEachRow(
            "SELECT * FROM attachments WHERE message_id = ? ORDER BY rowid", messageId.uuidString
        ) { attachments.append(ClaudeCodeUIAttachment(ForeignRow($0)).attachment) }
        return attachments
    }

    /// Returns the record of a row. The record of an unreadable row has the row's number.
    private func reading(
        _ sessionId: String, _ row: Int64, _ what: String, _ read: () throws -> TranscriptRecord.Content
    ) -> TranscriptRecord {
        let reason: String
        do {
            return record(sessionId, Int(row), try read())
        } catch let error as RecollectError {
            reason = error.message
        } catch let error as DatabaseError {
            reason = RecollectError(error, store: "the database").message
        } catch {
            reason = "\(error)"
        }
        return record(sessionId, Int(row), .unreadable(reason: "the \(what) in row \(row) cannot be read: \(reason)"))
    }

    private func record(_ sessionId: String, _ row: Int, _ content: TranscriptRecord.Content) -> TranscriptRecord {
        TranscriptRecord(sessionId: sessionId, agentId: Self.agentId, line: row, content: content)
    }

    private func countRow() {
        rowsRead += 1
        bytesRead = copy.byteCount * Int64(rowsRead) / Int64(max(1, rowCount))
    }

    // MARK: Lists

    /// Returns the rows of each session's messages by timestamp, as in the app, and in the order of writing for
    /// equal timestamps.
    private static func messageRows(in database: ForeignDatabase) throws -> [ByteString: [Int64]] {
        var rows: [ByteString: [Int64]] = [:]
        try database.forEachRow("SELECT session_id, rowid FROM messages ORDER BY timestamp, rowid") {
            rows[ByteString($0.text(0)), default: []].append($0.integer(1))
        }
        return rows
    }

    /// Returns all sessions, the next one to read last. Sessions missing from the list are read first.
    private static func sessions(
        in database: ForeignDatabase, _ messages: [ByteString: [Int64]]
    ) throws -> [(id: String, row: Int64?)] {
        let order = try database.columns(of: "sessions").contains("last_accessed_at") ? "last_accessed_at DESC," : ""
        var sessions: [(id: String, row: Int64?)] = []
        var listed: Set<ByteString> = []
        try database.forEachRow("SELECT id, rowid FROM sessions ORDER BY \(order) rowid DESC") {
            sessions.append(($0.text(0), $0.integer(1)))
            listed.insert(ByteString($0.text(0)))
        }
        let unlisted = messages.keys.filter { !listed.contains($0) }.sorted()
        return sessions + unlisted.map { ($0.string, nil) }
    }

    /// Returns a record for each unknown table.
    private static func otherTables(in database: ForeignDatabase) throws -> [TranscriptRecord] {
        var names: [String] = []
        try database.forEachRow("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") {
            names.append($0.text(0))
        }
        return names.filter { !tables.contains($0) }.map {
            TranscriptRecord(sessionId: "", agentId: agentId, line: 0, content: .other(kind: "table \($0)"))
        }
    }
}

/// The unanswered calls of a session. Databases before version 3 do not name the call of a result.
private struct OpenCalls {
    private var open: [(id: String, tool: String?)] = []

    /// Records a message, and returns the call it answers if it is a result without a call ID.
    mutating func answered(by message: ClaudeCodeUIMessage) -> String? {
        guard !message.namesItsCall else { return nil }
        let chat = message.chat
        switch chat.messageType {
        case .toolUse:
            open.append((chat.id.uuidString, chat.toolName))
            return nil
        case .toolResult, .toolError, .toolDenied:
            let index =
                open.firstIndex { $0.tool == chat.toolName } ?? (chat.toolName == nil ? open.indices.first : nil)
            return index.map { open.remove(at: $0).id }
        default:
            return nil
        }
    }
}
