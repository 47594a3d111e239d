import GRDB
import RecollectCore

/// Finds the positions of an agent's new messages before the end of its session, as for a sub-agent's file imported after
/// the session's. Inside a write transaction.
///
/// The messages are placed in order, so the search goes on from the last one: a few rows for each.
struct MessagePlacement {
    /// Another agent of the session, with its first message behind the last one placed.
    private struct Other {
        let scope: ScopeRowID
        let agentId: ByteString
        var next: Row?
    }

    private struct Row {
        let position: Position
        let time: Int64
    }

    private let session: SessionRowID
    private let scope: ScopeRowID
    private var others: [Other] = []
    /// The position of the agent's last message, or the last one outside its window.
    private var last = Position.start
    /// The position of the message behind the last one placed.
    private var next: Position?
    /// Whether messages of the session got other positions.
    private(set) var hasMovedMessages = false

    init(in session: SessionRowID, of scope: ScopeRowID, _ db: Database) throws {
        self.session = session
        self.scope = scope
        try start(db)
    }

    private mutating func start(_ db: Database) throws {
        last =
            try db.value(
                """
                SELECT max(0, window_start - 1, ifnull((SELECT max(position) FROM message WHERE scope_row_id = scope.id), 0))
                FROM scope WHERE id = ?
                """, scope) ?? .start
        next = nil
        others = try SessionRow.scopes(of: session, db).filter { $0.id != scope }.map {
            Other(
                scope: $0.id, agentId: ByteString($0.agentId), next: try Self.row(of: $0.id, from: last + 1, db))
        }
    }

    /// Returns the position of the next message, or `nil` for one at the session's end.
    /// - Parameter count: The number of messages of its batch still to be placed, with this one.
    mutating func position(of key: MessageSortKey, count: Int, _ db: Database) throws -> Position? {
        var found = try find(key, count: count, db)
        if found == .noRoom {
            try MessageMoves.makeRoom(at: last, in: session, db)
            hasMovedMessages = true
            try start(db)
            found = try find(key, count: count, db)
        }
        switch found {
        case .position(let position): return position
        case .end: return nil
        case .noRoom: throw DatabaseError.damagedIndex
        }
    }

    private enum Found: Equatable {
        case position(Position), end, noRoom
    }

    private mutating func find(_ key: MessageSortKey, count: Int, _ db: Database) throws -> Found {
        for index in others.indices { try advance(&others[index], to: key, db) }
        guard let next = others.compactMap(\.next?.position).min() else { return .end }
        if next != self.next {
            last = try max(last, MessageMoves.position(before: next, in: session, db) ?? .start)
            self.next = next
        }
        let room = next - last
        guard room > 1 else { return .noRoom }
        // Even steps for a batch, and small ones for single messages: many of them may follow.
        last = last + max(1, room / Int64(max(count + 1, 16)))
        return .position(last)
    }

    /// Moves on to the first message of an agent behind a key: by single messages, and by bisection for more.
    private func advance(_ other: inout Other, to key: MessageSortKey, _ db: Database) throws {
        func isBefore(_ row: Row) -> Bool { MessageSortKey(time: row.time, agentId: other.agentId) < key }
        for _ in 0..<4 {
            guard let next = other.next, isBefore(next) else { return }
            other.next = try Self.row(of: other.scope, from: next.position + 1, db)
        }
        guard var before = other.next, isBefore(before) else { return }
        guard let end = try Self.lastRow(of: other.scope, db), !isBefore(end) else { return other.next = nil }
        var found = end
        var limit = end.position
        while limit - before.position > 1 {
            let middle = before.position + (limit - before.position) / 2
            guard let row = try Self.row(of: other.scope, from: middle, db) else { break }
            if isBefore(row) {
                before = row
            } else {
                found = row
                limit = middle
            }
        }
        other.next = found
    }

    private static func row(of scope: ScopeRowID, from position: Position, _ db: Database) throws -> Row? {
        try row(
            db.sql(
                """
                SELECT position, \(MessageSortKey.sqlTime) FROM message WHERE scope_row_id = ? AND position >= ?
                ORDER BY position LIMIT 1
                """
            ).bind(scope, position))
    }

    private static func lastRow(of scope: ScopeRowID, _ db: Database) throws -> Row? {
        try row(
            db.sql(
                """
                SELECT position, \(MessageSortKey.sqlTime) FROM message WHERE scope_row_id = ? ORDER BY position DESC LIMIT 1
                """
            ).bind(scope))
    }

    private static func row(_ statement: SQL) throws -> Row? {
        defer { statement.reset() }
        return try statement.step() ? Row(position: statement.value(0), time: statement.integer(1)) : nil
    }
}
