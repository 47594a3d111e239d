import Foundation
import GRDB
import RecollectTestSupport

@testable import RecollectCore
@testable import RecollectSQLite

/// A copy of a user's library, updated by following the change feed and reading the sessions named in it.
struct LibraryReplica {
    struct ModelSession: Equatable {
        var summary: Session
        var messages: [LibraryModel.Message]
    }

    private(set) var sessions: [ByteString: ModelSession] = [:]
    private var cursor = ChangeCursor.beginning

    init() {}

    init(reading history: SQLiteHistoryStore, _ user: String) async throws {
        for isDiscarded in [false, true] {
            let listed = try await history.sessions(
                SessionQuery(userId: user, isDiscarded: isDiscarded), page: PageRequest(limit: 1000))
            for session in listed.elements { try await read(session.id, history) }
        }
    }

    mutating func follow(_ history: SQLiteHistoryStore, _ user: String) async throws {
        let changes = try await history.changes(after: cursor, limit: .max)
        var named: Set<SessionKey> = []
        for change in changes {
            cursor = change.cursor
            switch change.kind {
            case .userDeleted: sessions = [:]
            case .sessionDeleted: forget(change.session)
            default: break
            }
            named.insert(change.session)
        }
        for session in named where session.userId == user {
            // Branches are read with their session.
            forget(session)
            try await read(session, history)
        }
    }

    private mutating func forget(_ id: SessionKey) {
        sessions[ByteString(id.sessionId)] = nil
        for session in sessions.values
        where session.summary.branchPoint?.sessionId.hasSameBytes(as: id.sessionId) == true {
            forget(session.summary.id)
        }
    }

    private mutating func read(_ id: SessionKey, _ history: SQLiteHistoryStore) async throws {
        guard var summary = try await history.session(id) else { return }
        // Each read changes the date of the last access, which the change feed does not report.
        summary.lastAccessedAt = summary.createdAt
        sessions[ByteString(id.sessionId)] = ModelSession(
            summary: summary, messages: try await Self.messages(of: id, in: history))
        for branch in try await history.branches(of: id) { try await read(branch.id, history) }
    }

    static func messages(
        of id: SessionKey, in history: SQLiteHistoryStore
    ) async throws -> [LibraryModel.Message] {
        var messages: [LibraryModel.Message] = []
        var cursor: MessageCursor?
        repeat {
            let page = try await history.messages(of: id, agentId: nil, page: PageRequest(limit: 7, after: cursor))
            messages += page.elements.map { LibraryModel.Message(agent: $0.agentId, message: $0.message) }
            cursor = page.next
        } while cursor != nil
        return messages
    }

    /// A description of the first difference, or `nil` if there is none.
    func difference(from fresh: LibraryReplica) -> String? {
        for name in Set(sessions.keys).union(fresh.sessions.keys) where sessions[name] != fresh.sessions[name] {
            guard let own = sessions[name] else { return "no \(name.string)" }
            guard let other = fresh.sessions[name] else { return "\(name.string), which no longer exists" }
            return "a different \(name.string): "
                + (own.summary == other.summary ? "its messages" : "\(own.summary) and not \(other.summary)")
        }
        return nil
    }
}

/// The derived data of a history as text, for comparison with rebuilt data.
struct DerivedTables {
    private let lines: [String]

    init(settling db: Database) throws {
        try DerivedData.update(db)
        lines = try Self.dump(db)
    }

    /// Rebuilds all derived data first.
    init(rebuilding db: Database) throws {
        try DerivedData.rebuild(db)
        let sessions: [SessionRowID] = try db.values("SELECT id FROM session")
        for session in sessions { try DerivedData.recount(session, db) }
        lines = try Self.dump(db)
    }

    private static func dump(_ db: Database) throws -> [String] {
        var lines: [String] = []
        try db.sql(
            """
            SELECT session_id, message_count, last_activity, last_sequence, preview, input_tokens, output_tokens
            FROM session ORDER BY id
            """
        ).forEachRow { row in
            lines.append((0..<7).map { row.text($0) }.joined(separator: "|"))
        }
        try db.sql("SELECT scope_row_id, message_id, sequence FROM message_id ORDER BY 1, 2").forEachRow { row in
            lines.append((0..<3).map { row.text($0) }.joined(separator: "|"))
        }
        return lines
    }

    func differences(from rebuilt: DerivedTables) -> [String] {
        zip(lines, rebuilt.lines).filter { $0 != $1 }.prefix(3).map { "derived \($0), rebuilt \($1)" }
            + (lines.count == rebuilt.lines.count ? [] : ["\(lines.count) rows, rebuilt \(rebuilt.lines.count)"])
    }

    static func attachments(_ db: Database) throws -> Set<String> {
        var hashes: Set<String> = []
        try db.sql("SELECT sha256 FROM attachment_use").forEachRow { hashes.insert($0.text(0)) }
        return hashes
    }

    /// The queries that find orphaned rows, duplicate message IDs or duplicate positions.
    static func orphans(_ db: Database) throws -> [String] {
        try [
            "SELECT count(*) FROM message_id LEFT JOIN message USING (sequence, scope_row_id, message_id) WHERE role IS NULL",
            "SELECT count(*) FROM (SELECT 1 FROM message GROUP BY scope_row_id, message_id HAVING count(*) > 1)",
            "SELECT count(*) FROM message WHERE scope_row_id NOT IN (SELECT id FROM scope WHERE scope.session_row_id = message.session_row_id)",
            "SELECT count(*) FROM message WHERE session_row_id NOT IN (SELECT id FROM session)",
            "SELECT count(*) FROM scope WHERE session_row_id NOT IN (SELECT id FROM session)",
            "SELECT count(*) FROM tag WHERE session_row_id NOT IN (SELECT id FROM session)",
            "SELECT count(*) FROM streaming_reply WHERE session_row_id NOT IN (SELECT id FROM session)",
            "SELECT count(*) FROM session WHERE branch_of NOT IN (SELECT id FROM session)",
            "SELECT count(*) FROM attachment_use WHERE sequence NOT IN (SELECT sequence FROM message)",
            "SELECT count(*) FROM (SELECT 1 FROM message GROUP BY session_row_id, position HAVING count(*) > 1)",
        ].filter { try db.integer($0) != 0 }
    }
}
