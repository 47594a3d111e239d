import Foundation
import RecollectCore

@testable import RecollectClaudeCodeUI

/// A ClaudeCodeUI database as the app writes it through SQLite.swift, in any version.
struct ClaudeCodeUIDatabase {
    let path: String
    let version: Int
    private let database: ForeignDatabase

    init(_ path: String, version: Int, journal: String = "DELETE") throws {
        self.path = path
        self.version = version
        database = try ForeignDatabase(uri: "file:\(path)?mode=rwc", isReadOnly: false)
        try run("PRAGMA journal_mode = \(journal); PRAGMA foreign_keys = ON")
        try run(
            """
            CREATE TABLE "sessions" ("id" TEXT PRIMARY KEY NOT NULL, "created_at" TEXT NOT NULL,
            "first_user_message" TEXT NOT NULL, "last_accessed_at" TEXT NOT NULL, "working_directory" TEXT);
            CREATE TABLE "messages" ("id" TEXT PRIMARY KEY NOT NULL, "session_id" TEXT NOT NULL, "content" TEXT NOT NULL,
            "role" TEXT NOT NULL, "timestamp" TEXT NOT NULL, "message_type" TEXT NOT NULL, "tool_name" TEXT,
            "tool_input_data" TEXT, "is_error" INTEGER NOT NULL, "is_complete" INTEGER NOT NULL,
            "was_cancelled" INTEGER NOT NULL, "task_group_id" TEXT, "is_task_container" INTEGER NOT NULL,
            FOREIGN KEY ("session_id") REFERENCES "sessions" ("id") ON DELETE CASCADE);
            CREATE TABLE "attachments" ("id" TEXT PRIMARY KEY NOT NULL, "message_id" TEXT NOT NULL,
            "file_name" TEXT NOT NULL, "file_path" TEXT NOT NULL, "file_type" TEXT NOT NULL,
            FOREIGN KEY ("message_id") REFERENCES "messages" ("id") ON DELETE CASCADE);
            """)
        let migrations = [
            2: """
            ALTER TABLE sessions ADD COLUMN branch_name TEXT;
            ALTER TABLE sessions ADD COLUMN is_worktree INTEGER NOT NULL DEFAULT 0
            """,
            3: "ALTER TABLE messages ADD COLUMN tool_use_id TEXT",
            4: "ALTER TABLE sessions ADD COLUMN usage_input_tokens INTEGER NOT NULL DEFAULT 0",
            5: "ALTER TABLE sessions ADD COLUMN usage_reasoning_output_tokens INTEGER NOT NULL DEFAULT 0",
        ]
        for (number, sql) in migrations.sorted(by: { $0.key < $1.key }) where number <= version { try run(sql) }
        try run("PRAGMA user_version = \(version)")
    }

    func run(_ sql: String) throws {
        try database.run(sql)
    }

    /// Saves a session created `second` seconds after 2026-02-03 09:00.
    func add(_ id: String, first: String, at second: Int, branch: String? = nil) throws {
        try run(
            """
            INSERT INTO sessions (id, created_at, first_user_message, last_accessed_at, working_directory)
            VALUES (\(quoted(id)), \(date(second)), \(quoted(first)), \(date(second + 1)), '/home/ada/atlas')
            """)
        if version >= 2, let branch {
            try run("UPDATE sessions SET branch_name = \(quoted(branch)), is_worktree = 1 WHERE id = \(quoted(id))")
        }
    }

    /// Saves a message as the app does, from the message that it shows.
    func add(_ chat: ChatMessage, to sessionId: String, callId: String? = nil) throws {
        let input = try chat.toolInputData.map { try JSONEncoder().encode($0) } ?? Data("null".utf8)
        let second = Double(chat.timestamp.millisecondsSince1970 - Self.start) / 1000
        try run(
            """
            INSERT INTO messages (id, session_id, content, role, timestamp, message_type, tool_name, tool_input_data,
            is_error, is_complete, was_cancelled, task_group_id, is_task_container)
            VALUES (\(quoted(chat.id.uuidString)), \(quoted(sessionId)), \(quoted(chat.content)),
            \(quoted(chat.role.rawValue)), '\(Self.text(second))', \(quoted(chat.messageType.rawValue)),
            \(chat.toolName.map(quoted) ?? "NULL"), \(quoted(input.base64EncodedString())), \(chat.isError ? 1 : 0),
            \(chat.isComplete ? 1 : 0), \(chat.wasCancelled ? 1 : 0),
            \(chat.taskGroupId.map { quoted($0.uuidString) } ?? "NULL"), \(chat.isTaskContainer ? 1 : 0))
            """)
        if version >= 3, let callId {
            try run("UPDATE messages SET tool_use_id = \(quoted(callId)) WHERE id = \(quoted(chat.id.uuidString))")
        }
    }

    func attach(_ file: String, name: String, type: String, to chat: ChatMessage, number: Int = 0) throws {
        let id = chat.id.uuidString
        try run(
            """
            INSERT INTO attachments VALUES ('\(id)_\(number)', '\(id)', \(quoted(name)), \(quoted(file)), \(quoted(type)))
            """)
    }

    func quoted(_ text: String) -> String { "'" + text.replacingOccurrences(of: "'", with: "''") + "'" }

    /// 2026-02-03 09:00 UTC.
    static let start: Int64 = 1_770_109_200_000

    private func date(_ second: Int) -> String { "'\(Self.text(Double(second)))'" }

    private static func text(_ second: Double) -> String {
        let milliseconds = Int((second * 1000).rounded())
        let (minute, rest) = ((milliseconds / 1000) / 60, milliseconds % 60_000)
        return String(format: "2026-02-03T09:%02d:%02d.%03d", minute, rest / 1000, rest % 1000)
    }
}
