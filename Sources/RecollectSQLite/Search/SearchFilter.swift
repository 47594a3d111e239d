import Foundation
import GRDB
import RecollectCore

/// The filter of a query: messages of its user, session, agent, roles and dates, without discarded sessions.
///
/// It caches results for sessions and scopes, so an instance serves one search.
final class SearchFilter {
    private let userId: String
    private let session: SessionRowID?
    private let agentId: String?
    private let roles: Set<ByteString>
    let timestamps: ClosedRange<Int64>
    private let db: Database
    private let message: SQL
    private let sessionUser: SQL
    private let scopeAgent: SQL
    /// The results for sessions and scopes named by rows.
    private var ownSessions: [SessionRowID: Bool] = [:]
    private var ownScopes: [ScopeRowID: Bool] = [:]
    /// Whether sessions are of the user, also discarded ones.
    private var usersSessions: [SessionRowID: Bool] = [:]

    /// Creates the filter of a query, or returns `nil` if no message can pass.
    init?(_ db: Database, _ query: SearchQuery, includesDiscarded: Bool = false) throws {
        userId = query.userId
        agentId = query.agentId
        roles = Set(query.roles.map { ByteString($0.rawValue) })
        let from = query.from?.millisecondsSince1970 ?? .min
        let until = query.until.map { $0.millisecondsSince1970 - 1 } ?? .max
        guard from <= until else { return nil }
        self.db = db
        message = try db.sql("SELECT \(Self.columns) FROM message m WHERE sequence = ?")
        // A branch is hidden along with its discarded session.
        let isListed = """
            AND discarded_at IS NULL AND (
              branch_of IS NULL OR
              (SELECT discarded_at FROM session AS origin WHERE origin.id = session.branch_of) IS NULL)
            """
        sessionUser = try db.sql(
            "SELECT 1 FROM session WHERE id = ? AND user_id = ? \(includesDiscarded ? "" : isListed)")
        scopeAgent = try db.sql("SELECT 1 FROM scope WHERE id = ? AND agent_id = ?")
        timestamps = from...until
        if let sessionId = query.sessionId {
            session = try MessageQueries.number(
                of: SessionKey(userId: query.userId, sessionId: sessionId), db)
            if session == nil { return nil }
        } else {
            session = nil
        }
    }

    /// The filter as an FTS5 expression. It matches all messages passing `matches`, and some others.
    var match: String {
        var groups = [[FilterTokens.user(userId)]]
        if let session { groups.append([FilterTokens.session(session)]) }
        if let agentId { groups.append([FilterTokens.agent(agentId)]) }
        if !roles.isEmpty { groups.append(roles.map { FilterTokens.role($0.string) }.sorted()) }
        if timestamps != .min ... .max { groups.append(FilterTokens.times(timestamps)) }
        return groups.map { tokens in
            "(" + tokens.map { "\"\($0)\"" }.joined(separator: " OR ") + ")"
        }.joined(separator: " AND ")
    }

    /// The number of matches checked one by one, at least.
    private static let fewMatches = 64

    /// Returns the newest messages with an expression that pass, newest first, and the frequency of its first phrases in
    /// them. Those of discarded sessions are among them, so that a discard changes no score.
    ///
    /// The matches are checked one by one, unless most of them are rejected: inside the index, the filter takes as long as
    /// a word in all messages.
    func newest(
        _ match: String, phraseCount: Int = 0, limit: Int, through: SequenceNumber
    ) throws -> [(sequence: SequenceNumber, frequency: Double)] {
        var found: [(sequence: SequenceNumber, frequency: Double)] = []
        var readCount = 0
        var next: SequenceNumber?
        try forEach(match, phraseCount, through: through) { sequence, frequency in
            readCount += 1
            if try passes(sequence) { found.append((sequence, frequency)) }
            if readCount >= Self.fewMatches, found.count < readCount / 4 { next = sequence.previous }
            return next == nil && found.count < limit
        }
        guard let next, found.count < limit else { return found }
        // The index knows times only roughly.
        try forEach("(\(match)) AND \(self.match)", phraseCount, through: next) { sequence, frequency in
            if try passes(sequence) { found.append((sequence, frequency)) }
            return found.count < limit
        }
        return found
    }

    /// Returns the message before the newest `count` with an expression, or `nil` if there are no more. It reads the index alone,
    /// and none of these messages. Returns `nil` for a filter of times: the index knows times only roughly.
    func sequence(
        afterNewest count: Int, _ match: String, through bound: SequenceNumber
    ) throws -> SequenceNumber? {
        guard timestamps == .min ... .max else { return nil }
        var found: SequenceNumber?
        // A word in few messages of all users needs no second look, nor does a filter that all messages pass.
        for match in try isOfOnlyUser() ? [match] : [match, "(\(match)) AND \(self.match)"] {
            found = try db.value(
                """
                SELECT rowid FROM message_search WHERE message_search MATCH ? AND rowid <= ?
                ORDER BY rowid DESC LIMIT 1 OFFSET ?
                """, match, bound, count)
            if found == nil { return nil }
        }
        return found
    }

    /// Whether all messages pass, because the history has no other user.
    private func isOfOnlyUser() throws -> Bool {
        guard session == nil, agentId == nil, roles.isEmpty, timestamps == .min ... .max else { return false }
        let other = try db.integer(
            "SELECT 1 FROM session WHERE user_id < ?1 UNION ALL SELECT 1 FROM session WHERE user_id > ?1 LIMIT 1",
            userId)
        return other == nil
    }

    /// Calls `body` with the matches, newest first, until it returns false.
    private func forEach(
        _ match: String, _ phraseCount: Int, through bound: SequenceNumber,
        _ body: (_ sequence: SequenceNumber, _ frequency: Double) throws -> Bool
    ) throws {
        let rows = try db.sql(
            """
            SELECT rowid, recollect_frequency(message_search, ?) FROM message_search
            WHERE message_search MATCH ? AND rowid <= ? ORDER BY rowid DESC
            """
        ).bind(phraseCount, match, bound)
        defer { rows.reset() }
        while try rows.step(), try body(rows.value(0), rows.double(1)) {}
    }

    /// Whether the filter is likely to reject most messages. Only speed depends on it.
    func isNarrow(_ db: Database) throws -> Bool {
        if session != nil || agentId != nil || !roles.isEmpty || timestamps != .min ... .max { return true }
        let own = try db.integer("SELECT count(*) FROM session WHERE user_id = ?", userId) ?? 0
        return try own < (db.integer("SELECT max(id) FROM session") ?? 0) / 4
    }

    /// Whether a message passes. Returns false for a deleted message.
    func matches(_ sequence: SequenceNumber) throws -> Bool {
        try message.bind(sequence, at: 1)
        defer { message.reset() }
        return try message.step() && matches(message, columnsFrom: 0)
    }

    /// The columns of `message m` read by `matches`, in its order.
    static let columns = "m.session_row_id, m.scope_row_id, m.timestamp, m.role"

    /// Whether the message of a row with `columns` from an index on passes.
    func matches(_ row: SQL, columnsFrom column: Int32) throws -> Bool {
        let session: SessionRowID = row.value(column)
        guard try owns(session: session), self.session ?? session == session else {
            return false
        }
        if let agentId, try !owns(scope: row.value(column + 1), of: agentId) { return false }
        guard timestamps.contains(row.integer(column + 2)) else { return false }
        return roles.isEmpty || roles.contains(ByteString(row.text(column + 3)))
    }

    /// Whether a message passes, also in a discarded session.
    private func passes(_ sequence: SequenceNumber) throws -> Bool {
        try message.bind(sequence, at: 1)
        defer { message.reset() }
        guard try message.step() else { return false }
        let session: SessionRowID = message.value(0)
        guard self.session ?? session == session, try isOfUser(session) else { return false }
        if let agentId, try !owns(scope: message.value(1), of: agentId) { return false }
        guard timestamps.contains(message.integer(2)) else { return false }
        return roles.isEmpty || roles.contains(ByteString(message.text(3)))
    }

    private func isOfUser(_ id: SessionRowID) throws -> Bool {
        if let known = usersSessions[id] { return known }
        let isOfUser = try db.integer("SELECT 1 FROM session WHERE id = ? AND user_id = ?", id, userId) != nil
        usersSessions[id] = isOfUser
        return isOfUser
    }

    private func owns(session id: SessionRowID) throws -> Bool {
        if let known = ownSessions[id] { return known }
        try sessionUser.bind(id, at: 1)
        try sessionUser.bind(userId, at: 2)
        defer { sessionUser.reset() }
        let isOwn = try sessionUser.step()
        ownSessions[id] = isOwn
        return isOwn
    }

    private func owns(scope id: ScopeRowID, of agentId: String) throws -> Bool {
        if let known = ownScopes[id] { return known }
        try scopeAgent.bind(id, at: 1)
        try scopeAgent.bind(agentId, at: 2)
        defer { scopeAgent.reset() }
        let isOwn = try scopeAgent.step()
        ownScopes[id] = isOwn
        return isOwn
    }
}
