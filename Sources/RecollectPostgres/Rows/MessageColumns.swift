#if Postgres
    import Foundation
    import RecollectCore

    /// The columns of a message's content: prose in a column of its own, all other content as the JSON of its parts. JSON has one
    /// form, so messages with the same content have the same columns.
    enum MessageColumns {
        /// The columns as `read` expects them.
        static let selected = """
            message.message_id, message.role, message.timestamp, message.metadata, message.unknown_fields, message.text,
            message.parts
            """
        /// The number of these columns.
        static let count = 7

        /// Reads a message from a row with its columns starting at `first`.
        ///
        /// Damaged JSON must not hide other messages: it is returned as an unknown part with the stored text.
        static func read(_ rows: PostgresResult, _ row: Int, from first: Int = 0) -> ConversationMessage {
            ConversationMessage(
                id: rows.text(row, first),
                role: Role(rawValue: rows.text(row, first + 1)),
                parts: rows.isNull(row, first + 6) ? [.text(rows.text(row, first + 5))] : parts(rows, row, first + 6),
                timestamp: Date(millisecondsSince1970: rows.integer(row, first + 2)),
                metadata: object(rows, row, first + 3),
                unknownFields: object(rows, row, first + 4))
        }

        static func parts(_ rows: PostgresResult, _ row: Int, _ column: Int) -> [ContentPart] {
            do {
                return try rows.withBytes(row, column, ContentPart.parse(list:))
            } catch {
                return [.unknown(["unreadable": .string(rows.text(row, column))])]
            }
        }

        static func object(_ rows: PostgresResult, _ row: Int, _ column: Int) -> [String: JSONValue] {
            guard !rows.isNull(row, column) else { return [:] }
            do {
                return try rows.withBytes(row, column, JSONValue.parse(object:))
            } catch {
                return ["unreadable": .string(rows.text(row, column))]
            }
        }

        /// Returns the values of a message for the columns `role`, `metadata`, `unknown_fields`, `text` and `parts`.
        static func content(of message: ConversationMessage) -> Content {
            var content = Content(
                role: message.role.rawValue.bytes, metadata: bytes(of: message.metadata),
                unknownFields: bytes(of: message.unknownFields))
            if message.parts.count == 1, case .text(let text) = message.parts[0] {
                content.text = text.bytes
            } else {
                content.parts = ContentPart.write(list: message.parts).bytes
            }
            return content
        }

        /// The values of a message's content.
        struct Content {
            let role: [UInt8]
            let metadata: [UInt8]?
            let unknownFields: [UInt8]?
            var text: [UInt8]?
            var parts: [UInt8]?
        }

        static func bytes(of object: [String: JSONValue]) -> [UInt8]? {
            object.isEmpty ? nil : JSONValue.write(object: object).bytes
        }
    }

#endif
