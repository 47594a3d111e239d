import Foundation
import GRDB
import RecollectCore

/// A row of `compaction`, with the position of its boundary.
///
/// It covers the messages of its scope up to the boundary's position whose numbers are not above `coversThrough`. So a
/// message inserted before the boundary later is not covered. Without the boundary's row, a trim has deleted it and all
/// covered messages before it.
struct CompactionRow {
    let compaction: Compaction
    let boundary: SequenceNumber
    /// The position of the last covered message.
    let position: Position
    /// The greatest number of a covered message.
    let coversThrough: SequenceNumber

    private static let selection = """
        SELECT compaction.compaction_id, compaction.summary, compaction.author, compaction.made_at,
          ifnull(boundary.message_id, compaction.message_id), compaction.message_count, compaction.previous_id,
          compaction.boundary, boundary.position, compaction.covers_through
        FROM session
        JOIN scope ON scope.session_row_id = session.id
        JOIN compaction ON compaction.scope_row_id = scope.id
        LEFT JOIN message AS boundary ON boundary.sequence = compaction.boundary AND boundary.scope_row_id = scope.id
        WHERE session.user_id = ?1 AND session.session_id = ?2 AND scope.agent_id = ?3
          AND \(WindowQueries.isIndexed)
        ORDER BY compaction.id
        """

    private static let last = "\(selection) DESC LIMIT 1"

    private init(_ row: SQL) {
        compaction = Compaction(
            id: row.text(0), summary: row.text(1), author: row.text(2),
            createdAt: Date(millisecondsSince1970: row.integer(3)), lastMessageId: row.text(4),
            messageCount: Int(row.integer(5)), previousId: row.optionalText(6))
        boundary = row.value(7)
        position = row.optionalValue(8) ?? .min
        coversThrough = row.value(9)
    }

    /// Returns the compactions of a scope, the oldest first.
    static func all(of scope: Scope, _ db: Database) throws -> [CompactionRow] {
        var rows: [CompactionRow] = []
        try db.sql(selection).bind(scope.userId, scope.sessionId, scope.agentId).forEachRow {
            rows.append(CompactionRow($0))
        }
        return rows
    }

    /// Returns the compaction in effect: the last one.
    static func inEffect(in scope: Scope, _ db: Database) throws -> CompactionRow? {
        let rows = try db.sql(last).bind(scope.userId, scope.sessionId, scope.agentId)
        defer { rows.reset() }
        return try rows.step() ? CompactionRow(rows) : nil
    }
}
