import Foundation
import GRDBSQLite
import Recollect

/// 64 tasks save durably, each in a session of its own. The baseline writes the same rows into the same tables on the C API, with 64
/// turns in a commit.
func groupLines(rounds: Int) async throws -> [Line] {
    let (tasks, turnsEach) = (64, 10)
    let configuration = HistoryConfiguration(durability: .full, indexesInBackground: false)
    let folder = try Folder()
    let history = SQLiteHistoryStore(directory: folder.url.appendingPathComponent("ours"), configuration: configuration)
    let store = DeviceChatStorage(history: history, userId: "bench")
    let baselineFolder = folder.url.appendingPathComponent("baseline")
    let tables = SQLiteHistoryStore(directory: baselineFolder, configuration: configuration)
    for task in 0..<tasks {
        for history in [history, tables] {
            try await history.append(
                Turn.messages(0), to: Scope(userId: "bench", sessionId: "session \(task)", agentId: "agent"))
        }
    }
    let bare = try BareRows(path: baselineFolder.appendingPathComponent("history.sqlite").path)

    var (ours, baseline) = (Samples(), Samples())
    for round in 1...rounds {
        let turns = (0..<tasks).map { _ in (0..<turnsEach).map { Turn.messages(round * turnsEach + $0) } }
        ours.add(
            try await time {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (task, turns) in turns.enumerated() {
                        group.addTask {
                            for messages in turns {
                                try await store.saveMessages(
                                    messages, userId: "bench", sessionId: "session \(task)", agentId: "agent",
                                    maxMessages: nil)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            })
        baseline.add(
            try time {
                for turn in 0..<turnsEach { try bare.commit(turns.map { $0[turn] }) }
            })
    }
    await history.close()
    await tables.close()

    let turns = Double(tasks * turnsEach)
    func rate(_ microseconds: Double) -> String { "\(Int(turns / microseconds * 1_000_000)) turns/s" }
    let share = Samples.ratio(baseline, ours, stretches: rounds)
    return [
        Line(
            work: "64 tasks saving durably; the baseline commits 64 turns at a time into the same tables",
            ours: rate(ours.median), worst: rate(ours.worst), baseline: rate(baseline.median), ratio: share,
            target: "≥ 0.75", isMet: share >= 0.75)
    ]
}

/// Turns written on the C API into the tables of a history: the rows of appends, with derived IDs and counts updated every 512
/// messages, as in a history. Session n has session row n and scope n.
private struct BareRows {
    private let baseline: Baseline
    private let begin, insert, commit, last: OpaquePointer
    private let settling: [OpaquePointer]

    init(path: String) throws {
        baseline = try Baseline(path: path, synchronous: "FULL", schema: "")
        begin = try baseline.statement("BEGIN IMMEDIATE")
        insert = try baseline.statement(
            """
            INSERT INTO message (sequence, session_row_id, scope_row_id, position, message_id, role, timestamp, text)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """)
        commit = try baseline.statement("COMMIT")
        last = try baseline.statement("SELECT max(sequence), (SELECT through FROM derived_data) FROM message")
        settling = try [
            """
            INSERT INTO message_id (scope_row_id, message_id, sequence)
            SELECT scope_row_id, message_id, sequence FROM message WHERE sequence > (SELECT through FROM derived_data)
            ORDER BY scope_row_id, message_id
            """,
            """
            UPDATE session SET message_count = message_count + new.count,
            last_activity = max(last_activity, new.latest)
            FROM (SELECT session_row_id, count(*) AS count, max(timestamp) AS latest FROM message
                  WHERE sequence > (SELECT through FROM derived_data) GROUP BY session_row_id) AS new
            WHERE session.id = new.session_row_id
            """,
            "UPDATE derived_data SET through = (SELECT max(sequence) FROM message)",
        ].map(baseline.statement)
    }

    /// Commits one turn for each session.
    func commit(_ turns: [[ConversationMessage]]) throws {
        try baseline.run(begin)
        sqlite3_step(last)
        var sequence = sqlite3_column_int64(last, 0)
        let resolved = sqlite3_column_int64(last, 1)
        sqlite3_reset(last)
        for (session, messages) in turns.enumerated() {
            let id = Int64(session + 1)
            for message in messages {
                sequence += 1
                let timestamp = Int64(message.timestamp.timeIntervalSince1970 * 1000)
                for (column, value) in [sequence, id, id, sequence << 20].enumerated() {
                    sqlite3_bind_int64(insert, Int32(column + 1), value)
                }
                baseline.bind(message.id, 5, insert)
                baseline.bind(message.role.rawValue, 6, insert)
                sqlite3_bind_int64(insert, 7, timestamp)
                baseline.bind(message.role == .user ? Turn.question : Turn.answer, 8, insert)
                try baseline.run(insert)
            }
        }
        if sequence - resolved > 512 { try settling.forEach(baseline.run) }
        try baseline.run(commit)
    }
}
