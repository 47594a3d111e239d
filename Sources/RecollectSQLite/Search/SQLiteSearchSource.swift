import GRDB
import RecollectCore
import RecollectSearch

/// The messages of a user in the database, for one search. In a read transaction.
///
/// It caches what it has read of sessions and scopes, and its statements.
final class SQLiteSearchSource: SearchSource {
    let db: Database
    let userId: String
    /// The last indexed message.
    private let last: SequenceNumber
    private let facts: SQL
    private let message: SQL
    private let text: SQL
    private let sessionUser: SQL
    private let listedSession: SQL
    private let scopeAgent: SQL
    /// Whether sessions are of the user, also discarded ones, and whether they are of the user and listed.
    private var usersSessions: [SessionRowID: Bool] = [:]
    private var listedSessions: [SessionRowID: Bool] = [:]
    /// The agents of scopes.
    private var agents: [ScopeRowID: ByteString] = [:]

    init(_ db: Database, userId: String) throws {
        try FTS5Functions.install(on: db)
        self.db = db
        self.userId = userId
        last = try SearchIndex.indexedThrough(db)
        facts = try db.sql("SELECT \(Self.columns), m.text IS NOT NULL FROM message m WHERE sequence = ?")
        // The user is checked again with the read of a message, independently of the filter.
        message = try db.sql(
            """
            SELECT \(Self.columns), m.message_id, c.session_id, s.agent_id, ifnull(m.copied_from, m.sequence),
              CASE WHEN json_valid(m.metadata) THEN
                CASE WHEN json_type(m.metadata, '$.name') = 'text' THEN json_extract(m.metadata, '$.name') END END,
              \(Self.quotation),
              m.text, m.parts
            FROM message m JOIN session c ON c.id = m.session_row_id JOIN scope s ON s.id = m.scope_row_id
            WHERE m.sequence = ? AND c.user_id = ?
            """)
        text = try db.sql("SELECT text, parts FROM message WHERE sequence = ?")
        sessionUser = try db.sql("SELECT 1 FROM session WHERE id = ? AND user_id = ?")
        // A branch is hidden along with its discarded session.
        listedSession = try db.sql(
            """
            SELECT 1 FROM session WHERE id = ? AND user_id = ? AND discarded_at IS NULL AND (
              branch_of IS NULL OR
              (SELECT discarded_at FROM session AS origin WHERE origin.id = session.branch_of) IS NULL)
            """)
        scopeAgent = try db.sql("SELECT agent_id FROM scope WHERE id = ?")
    }

    /// The columns of `message m` read by `passes`, in its order.
    static let columns = "m.session_row_id, m.scope_row_id, m.timestamp, m.role"

    /// Whether a message of `message m` quotes the history (`MessageEcho`).
    private static let quotation = """
        (coalesce(CASE
          WHEN (\(HistoryQuotation.tools.map { "instr(m.parts, '\($0)')" }.joined(separator: " OR "))) AND json_valid(m.parts) THEN
            EXISTS (SELECT 1 FROM json_each(m.parts) WHERE CASE WHEN type = 'object' THEN
              \(HistoryQuotation.tools.map { "json_extract(value, '$.toolCall.name') GLOB '*\($0)'" }.joined(separator: " OR ")) END)
        END, 0) OR coalesce(CASE
          WHEN instr(m.metadata, '"\(HistoryQuotation.metadataKey)"') AND json_valid(m.metadata) THEN
            json_type(m.metadata, '$.\(HistoryQuotation.metadataKey)[0].messageId') IS NOT NULL
        END, 0))
        """

    func bounds() -> ClosedRange<SequenceNumber> { .zero...last }

    func session(_ sessionId: String) throws -> SessionRowID? {
        try MessageQueries.number(of: SessionKey(userId: userId, sessionId: sessionId), db)
    }

    func sessionIDs(beginningWith text: String) throws -> [String] {
        var ids: [String] = []
        try db.sql(
            """
            SELECT session_id FROM session
            WHERE user_id = ? AND session_id >= ? AND branch_of IS NULL AND discarded_at IS NULL
            ORDER BY session_id LIMIT 2
            """
        ).bind(userId, text).forEachRow { ids.append($0.text(0)) }
        return ids.filter { $0.utf8.starts(with: text.utf8) }
    }

    func hasAgent(_ agentId: String) throws -> Bool {
        try db.integer(
            """
            SELECT 1 FROM session JOIN scope ON scope.session_row_id = session.id
            WHERE session.user_id = ? AND scope.agent_id = ? LIMIT 1
            """, userId, agentId) != nil
    }

    func terms(longerThan term: [UInt8]) throws -> [[UInt8]]? {
        try SearchVocabulary(db).words(longerThan: term)
    }

    func passes(_ sequence: SequenceNumber, _ filter: SearchFilter) throws -> Bool {
        try facts.bind(sequence, at: 1)
        defer { facts.reset() }
        return try facts.step() && passes(facts, columnsFrom: 0, filter, listed: !filter.includesDiscarded)
    }

    /// Whether the message of a row with `columns` from an index on passes.
    /// - Parameter listed: Whether messages of discarded sessions do not pass.
    func passes(_ row: SQL, columnsFrom column: Int32, _ filter: SearchFilter, listed: Bool) throws -> Bool {
        let session: SessionRowID = row.value(column)
        guard filter.session ?? session == session else { return false }
        guard try listed ? isListed(session) : isOfUser(session) else { return false }
        if let agentId = filter.agentId, try agent(of: row.value(column + 1)) != agentId { return false }
        guard filter.timestamps.contains(row.integer(column + 2)) else { return false }
        return filter.roles.isEmpty || filter.roles.contains(ByteString(row.text(column + 3)))
    }

    /// Whether a message passes, also in a discarded session.
    func passesAlsoDiscarded(_ sequence: SequenceNumber, _ filter: SearchFilter) throws -> Bool {
        try facts.bind(sequence, at: 1)
        defer { facts.reset() }
        return try facts.step() && passes(facts, columnsFrom: 0, filter, listed: false)
    }

    func facts(_ sequence: SequenceNumber, passing filter: SearchFilter?) throws -> MessageFacts? {
        try facts.bind(sequence, at: 1)
        defer { facts.reset() }
        guard try facts.step() else { return nil }
        if let filter, try !passes(facts, columnsFrom: 0, filter, listed: !filter.includesDiscarded) { return nil }
        return MessageFacts(
            role: ByteString(facts.text(3)), timestamp: facts.integer(2), isProse: facts.integer(4) != 0)
    }

    func message(_ sequence: SequenceNumber, passing filter: SearchFilter?) throws -> SearchedMessage? {
        try message.bind(sequence, at: 1)
        try message.bind(userId, at: 2)
        defer { message.reset() }
        guard try message.step() else { return nil }
        if let filter, try !passes(message, columnsFrom: 0, filter, listed: !filter.includesDiscarded) { return nil }
        let isQuotation = (message.optionalInteger(9) ?? 0) != 0
        let (echo, length) = message.withBytes(10) {
            (MessageEcho(isQuotation: isQuotation, text: $0), $0.count)
        }
        return SearchedMessage(
            messageId: message.text(4),
            facts: MessageFacts(
                role: ByteString(message.text(3)), timestamp: message.integer(2), isProse: !message.isNull(10)),
            session: message.value(0), sessionId: message.text(5), agentId: message.text(6),
            original: message.value(7), name: message.optionalText(8), echo: echo,
            byteCount: length + message.withBytes(11, \.count))
    }

    func withText<Result>(
        of sequence: SequenceNumber, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) throws -> Result? {
        try text.bind(sequence, at: 1)
        defer { text.reset() }
        guard try text.step() else { return nil }
        return try MessageText.withBytes(of: text, textColumn: 0, partsColumn: 1, body)
    }

    func neighbors(of sequence: SequenceNumber, count: Int) throws -> [[SequenceNumber]] {
        try [("<", "DESC"), (">", "ASC")].map { direction, order in
            try db.values(
                """
                SELECT other.sequence FROM message JOIN message AS other
                ON other.scope_row_id = message.scope_row_id AND other.position \(direction) message.position
                WHERE message.sequence = ? ORDER BY other.position \(order) LIMIT \(count)
                """, [sequence])
        }
    }

    func haveSameContent(_ sequence: SequenceNumber, _ other: SequenceNumber) throws -> Bool {
        try db.integer(
            """
            SELECT 1 FROM message JOIN message AS other USING (role)
            WHERE message.sequence = ? AND other.sequence = ?
            AND message.text IS other.text AND message.parts IS other.parts
            """, sequence, other) != nil
    }

    private func isOfUser(_ id: SessionRowID) throws -> Bool {
        if let known = usersSessions[id] { return known }
        let isOfUser = try exists(id, sessionUser)
        usersSessions[id] = isOfUser
        return isOfUser
    }

    private func isListed(_ id: SessionRowID) throws -> Bool {
        if let known = listedSessions[id] { return known }
        let isListed = try exists(id, listedSession)
        listedSessions[id] = isListed
        return isListed
    }

    private func exists(_ id: SessionRowID, _ session: SQL) throws -> Bool {
        try session.bind(id, at: 1)
        try session.bind(userId, at: 2)
        defer { session.reset() }
        return try session.step()
    }

    private func agent(of scope: ScopeRowID) throws -> ByteString? {
        if let known = agents[scope] { return known }
        try scopeAgent.bind(scope, at: 1)
        defer { scopeAgent.reset() }
        guard try scopeAgent.step() else { return nil }
        let agent = ByteString(scopeAgent.text(0))
        agents[scope] = agent
        return agent
    }
}

extension MessageText {
    /// Calls `body` with the searched text of a row with the columns `text` and `parts`.
    static func withBytes<Result>(
        of row: SQL, textColumn: Int32, partsColumn: Int32,
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result {
        guard row.isNull(textColumn) else {
            return try row.withBytes(textColumn) { text in
                try withBytes(text: text, parts: UnsafeRawBufferPointer(start: nil, count: 0), body)
            }
        }
        return try row.withBytes(partsColumn) { parts in try withBytes(text: nil, parts: parts, body) }
    }
}
