import Foundation
import GRDBSQLite
import Recollect

/// Twenty hits with snippets in a million messages, by the kind of query. The baseline is the FTS5 query on the same index,
/// ordered by rank and limited to the same user.
func searchLines(messages count: Int, rounds: Int) async throws -> [Line] {
    let folder = try Folder()
    let configuration = HistoryConfiguration(durability: .relaxed, indexesInBackground: false)
    let history = SQLiteHistoryStore(directory: folder.url, configuration: configuration)
    try await fill(history, messages: count)
    let indexing = try await time { _ = try await history.search(SearchQuery(userId: "bench", text: "zanzibar")) }
    let bare = try BareSearch(path: folder.path("history.sqlite"))

    var lines = [
        Line(
            work: "build the search index of \(count) messages, in all and per message",
            ours: "\(Line.text(Double(indexing) / 1000)), \(Line.text(Double(indexing) / 1000 / Double(count)))")
    ]
    for (kind, query, match) in queries {
        var (ours, baseline) = (Samples(), Samples())
        var found = (ours: 0, baseline: 0)
        for _ in 0..<rounds {
            ours.add(
                try await time {
                    found.ours = try await history.search(SearchQuery(userId: "bench", text: query)).elements.count
                })
            baseline.add(time { found.baseline = bare.search(match, userId: "bench") })
        }
        precondition(found.ours == found.baseline, "\(kind): \(found.ours) hits instead of \(found.baseline)")
        lines.append(
            Line(
                "search over \(count) messages, \(kind) (`\(query)`)", ours, baseline, stretches: rounds, atMost: 3,
                milliseconds: 50))
    }
    await history.close()
    return lines
}

/// A query and its FTS5 expression; the terms of the index are folded words and parts of identifiers.
private let queries = [
    (kind: "rare word", query: "zanzibar", match: "zanzibar"),
    (kind: "misspelled rare word", query: "zanzibra", match: "zanzibar"),
    (kind: "unknown word", query: "quezlorant", match: "quezlorant"),
    (kind: "common word", query: "index", match: "index"),
    (kind: "prefix", query: "persis", match: "persis*"),
    (kind: "worst prefix, of very common words", query: "mess", match: "mess*"),
    (kind: "identifier part", query: "socket", match: "socket"),
    (kind: "two Chinese characters", query: "数据", match: "\"数据\""),
    (
        kind: "common words", query: "save the messages in the index",
        match: "save AND the AND messages AND in AND index"
    ),
    (
        kind: "question with two rare words",
        query: "Where did we save the messages of the search index for kalinter and remasdor?",
        match: "save OR messages OR search OR index OR kalinter OR remasdor"
    ),
    (
        kind: "question of common words, with one unknown",
        query: "Why does the index of the messages in a session save the same file twice unexplainably?",
        match: "index OR messages OR session OR save OR file OR twice OR unexplainably"
    ),
]

/// Sessions of 500 messages by three agents; every tenth session is another user's.
private func fill(_ history: SQLiteHistoryStore, messages count: Int) async throws {
    var chat = InventedChat()
    let size = 500
    for session in 0..<count / size {
        let scope = Scope(
            userId: session % 10 == 9 ? "other" : "bench", sessionId: "session \(session)",
            agentId: "agent \(session % 3)")
        try await history.append((0..<size).map { _ in chat.next() }, to: scope)
    }
}

/// The query of the baseline.
private struct BareSearch {
    private let baseline: Baseline
    private let select: OpaquePointer

    init(path: String) throws {
        baseline = try Baseline(path: path, synchronous: "NORMAL", schema: "")
        select = try baseline.statement(
            """
            SELECT message.message_id, message.text FROM message_search
            JOIN message ON message.sequence = message_search.rowid
            JOIN session ON session.id = message.session_row_id
            WHERE message_search MATCH ? AND session.user_id = ? ORDER BY rank LIMIT 20
            """)
    }

    func search(_ match: String, userId: String) -> Int {
        baseline.bind(match, 1, select)
        baseline.bind(userId, 2, select)
        var count = 0
        while sqlite3_step(select) == SQLITE_ROW {
            _ = sqlite3_column_text(select, 1)
            count += 1
        }
        sqlite3_reset(select)
        return count
    }
}
