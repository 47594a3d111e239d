import Foundation
import GRDB
import RecollectCore

/// The mapping of messages to rows: prose in a column of its own, all other content as the JSON of its parts.
enum MessageRow {
    /// A message's own columns.
    static let columns = "message_id, role, timestamp, text, parts, metadata, unknown_fields"
    /// The same columns as `read(_:from:)` expects them, in queries that join other tables.
    static let selected = """
        message.message_id, message.role, message.timestamp, message.text, message.parts, message.metadata,
        message.unknown_fields
        """

    /// Reads a message from a row with its columns starting at `first`. A message of prose needs no decoding.
    ///
    /// Damaged JSON must not hide other messages: it is returned as an unknown part with the stored text, and the
    /// row stays unchanged.
    static func read(_ row: SQL, from first: Int32 = 0) -> ConversationMessage {
        ConversationMessage(
            id: row.text(first),
            role: Role(rawValue: row.text(first + 1)),
            parts: row.isNull(first + 4)
                ? [.text(row.text(first + 3))] : parts(row, first + 4),
            timestamp: Date(millisecondsSince1970: row.integer(first + 2)),
            metadata: object(row, first + 5),
            unknownFields: object(row, first + 6))
    }

    static func parts(_ row: SQL, _ column: Int32) -> [ContentPart] {
        do {
            return try row.withBytes(column, ContentPart.parse(list:))
        } catch {
            return [.unknown(["unreadable": .string(row.text(column))])]
        }
    }

    static func object(_ row: SQL, _ column: Int32) -> [String: JSONValue] {
        guard !row.isNull(column) else { return [:] }
        do {
            return try row.withBytes(column, JSONValue.parse(object:))
        } catch {
            return ["unreadable": .string(row.text(column))]
        }
    }

    static let insertion = """
        INSERT INTO message (sequence, session_row_id, scope_row_id, position, \(columns), checksum, placed_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// Inserts a message with an ID new to its scope, at the session's end unless a position is given.
    /// - Parameters:
    ///   - time: The time of its `MessageSortKey`.
    ///   - statement: A statement of `insertion`.
    static func insert(
        _ message: ConversationMessage, sequence: SequenceNumber, session: SessionRowID, scope: ScopeRowID,
        position: Position? = nil, time: Int64? = nil,
        with statement: SQL
    ) throws {
        try statement.bind(sequence, at: 1)
        try statement.bind(session, at: 2)
        try statement.bind(scope, at: 3)
        try statement.bind(position ?? Position.appended(sequence), at: 4)
        try statement.bind(message.id, at: 5)
        try bindContent(of: message, from: 6, to: statement)
        if let time, time != message.timestamp.millisecondsSince1970 {
            try statement.bind(time, at: 13)
        } else {
            try statement.bindNull(at: 13)
        }
        try statement.run()
    }

    private static let replacement = """
        UPDATE message SET role = ?2, timestamp = ?3, text = ?4, parts = ?5, metadata = ?6, unknown_fields = ?7,
        checksum = ?8, copied_from = NULL, placed_at = ifnull(placed_at, nullif(timestamp, ?3)) WHERE sequence = ?1
        """

    /// Replaces the content of a row. Its ID and place stay. A copy of another message is then no copy.
    static func replace(_ sequence: SequenceNumber, with message: ConversationMessage, _ db: Database) throws {
        let statement = try db.sql(replacement)
        try statement.bind(sequence, at: 1)
        try bindContent(of: message, from: 2, to: statement)
        try statement.run()
    }

    /// Binds role, timestamp, text, parts, metadata, unknown fields and their checksum, in this order.
    private static func bindContent(of message: ConversationMessage, from first: Int32, to statement: SQL) throws {
        var checksum = MessageChecksum()
        let timestamp = message.timestamp.millisecondsSince1970
        checksum.add(message.role.rawValue)
        checksum.add(timestamp)
        try statement.bind(message.role.rawValue, at: first)
        try statement.bind(timestamp, at: first + 1)
        if message.parts.count == 1, case .text(let text) = message.parts[0] {
            try bind(text, at: first + 2, of: statement, &checksum)
            try bind(nil, at: first + 3, of: statement, &checksum)
        } else {
            try bind(nil, at: first + 2, of: statement, &checksum)
            try bind(ContentPart.write(list: message.parts), at: first + 3, of: statement, &checksum)
        }
        for (object, index) in [(message.metadata, first + 4), (message.unknownFields, first + 5)] {
            try bind(object.isEmpty ? nil : JSONValue.write(object: object), at: index, of: statement, &checksum)
        }
        try statement.bind(checksum.value, at: first + 6)
    }

    private static func bind(
        _ text: String?, at index: Int32, of statement: SQL, _ checksum: inout MessageChecksum
    ) throws {
        if let text {
            checksum.add(text)
            try statement.bind(text, at: index)
        } else {
            checksum.addNull()
            try statement.bindNull(at: index)
        }
    }
}

extension MessageChecksum {
    /// The columns covered by the checksum of a row, in this order: not the owner, the ID and the position, which change with
    /// moves of messages and are in indexes, too.
    static let columns = ["role", "timestamp", "text", "parts", "metadata", "unknown_fields"]
}
