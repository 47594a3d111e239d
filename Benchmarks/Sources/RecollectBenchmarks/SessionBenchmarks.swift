import Foundation
import GRDBSQLite
import Recollect

/// The first page of a long list of sessions. The baseline is the keyset query of a table with all columns of a summary.
func sessionListLines(sessions count: Int, rounds: Int) async throws -> [Line] {
    let folder = try Folder()
    let configuration = HistoryConfiguration(durability: .relaxed, indexesInBackground: false)
    let history = SQLiteHistoryStore(directory: folder.url, configuration: configuration)
    let bare = try BareSessions(path: folder.path("bare.sqlite"))
    try bare.begin()
    for start in stride(from: 0, to: count, by: 500) {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in start..<min(count, start + 500) {
                group.addTask {
                    let scope = Scope(userId: "bench", sessionId: "session \(number)", agentId: "agent")
                    try await history.append(Turn.messages(number), to: scope)
                }
            }
            try await group.waitForAll()
        }
        for number in start..<min(count, start + 500) { try bare.insert(number) }
    }
    try bare.commit()

    let request = PageRequest<SessionCursor>(limit: pageSize)
    var (ours, baseline) = (Samples(), Samples())
    var read = (sessions: 0, bytes: 0)
    for _ in 0..<rounds {
        for _ in 0..<50 {
            ours.add(
                try await time {
                    read.sessions += try await history.sessions(of: "bench", page: request).elements.count
                })
        }
        for _ in 0..<50 { baseline.add(time { read.bytes += bare.readFirstPage() }) }
    }
    await history.close()
    precondition(read.sessions == rounds * 50 * pageSize && read.bytes > 0)
    return [Line("the first \(pageSize) of \(count) sessions", ours, baseline, stretches: rounds, atMost: 5)]
}

private let pageSize = 50

/// The list of the baseline: one table, one index, prepared statements.
private struct BareSessions {
    private let baseline: Baseline
    private let insertion, selection: OpaquePointer

    init(path: String) throws {
        baseline = try Baseline(
            path: path, synchronous: "NORMAL",
            schema: """
                CREATE TABLE session (
                  id TEXT PRIMARY KEY, user TEXT NOT NULL, preview TEXT NOT NULL, created INTEGER NOT NULL,
                  activity INTEGER NOT NULL, count INTEGER NOT NULL, agents TEXT NOT NULL, title TEXT, directory TEXT,
                  branch TEXT, metadata TEXT, tags TEXT, access INTEGER NOT NULL DEFAULT 1, pinned INTEGER NOT NULL DEFAULT 0,
                  archived INTEGER NOT NULL DEFAULT 0, unread INTEGER NOT NULL DEFAULT 1, input INTEGER NOT NULL DEFAULT 0,
                  output INTEGER NOT NULL DEFAULT 0, cache_creation INTEGER NOT NULL DEFAULT 0,
                  cache_read INTEGER NOT NULL DEFAULT 0);
                CREATE INDEX session_by_activity ON session (user, activity, id);
                """)
        insertion = try baseline.statement(
            """
            INSERT INTO session (id, user, preview, created, activity, count, agents)
            VALUES (?, 'bench', ?, ?, ?, 2, 'agent')
            """)
        selection = try baseline.statement(
            """
            SELECT id, preview, agents, title, directory, branch, metadata, tags, created, activity, count, access, pinned,
              archived, unread, input, output, cache_creation, cache_read
            FROM session WHERE user = 'bench' ORDER BY activity DESC, id DESC LIMIT \(pageSize + 1)
            """)
    }

    func begin() throws { try baseline.execute("BEGIN") }
    func commit() throws { try baseline.execute("COMMIT") }

    func insert(_ number: Int) throws {
        baseline.bind("session \(number)", 1, insertion)
        baseline.bind(Turn.question, 2, insertion)
        sqlite3_bind_int64(insertion, 3, Int64(number))
        sqlite3_bind_int64(insertion, 4, Int64(number))
        try baseline.run(insertion)
    }

    /// Reads a page and every byte of its text, without creating strings.
    func readFirstPage() -> Int {
        var bytes = 0
        while sqlite3_step(selection) == SQLITE_ROW {
            for column: Int32 in 0..<8 {
                _ = sqlite3_column_text(selection, column)
                bytes += Int(sqlite3_column_bytes(selection, column))
            }
            for column: Int32 in 8..<19 { _ = sqlite3_column_int64(selection, column) }
        }
        sqlite3_reset(selection)
        return bytes
    }
}

/// Saves a whole transcript after one change, in a long session and, as the baseline, in a short one.
func transcriptLines(rounds: Int) async throws -> [Line] {
    let folder = try Folder()
    let history = SQLiteHistoryStore(
        directory: folder.url, configuration: HistoryConfiguration(indexesInBackground: false))
    let storage = SQLiteSessionStorage(history: history, userId: "bench")
    let (long, short) = (5_000, 50)
    var transcripts = [long: transcript(long), short: transcript(short)]
    for (count, transcript) in transcripts {
        try await storage.updateSessionMessages(id: "\(count)", messages: transcript)
    }
    var lines: [Line] = []
    for change in TranscriptChange.allCases {
        var samples = [long: Samples(), short: Samples()]
        for _ in 0..<rounds {
            for count in [long, short] {
                for position in 0..<20 {
                    var transcript = transcripts[count, default: []]
                    let before = transcript
                    change.make(in: &transcript, position)
                    samples[count]?.add(
                        try await time {
                            try await storage.updateSessionMessages(id: "\(count)", messages: transcript)
                        })
                    // Restores the length, outside the measured time.
                    try await storage.updateSessionMessages(id: "\(count)", messages: before)
                    transcripts[count] = before
                }
            }
        }
        lines.append(
            Line(
                "save a transcript of \(long) after \(change.rawValue); the baseline is a transcript of \(short)",
                samples[long] ?? Samples(), samples[short] ?? Samples(), stretches: rounds, atMost: 3))
    }
    await history.close()
    return lines
}

private enum TranscriptChange: String, CaseIterable {
    case append = "one message was appended"
    case edit = "one was edited in the middle"
    case delete = "one was deleted in the middle"

    /// - Parameter position: A different one for each call, so that the message deleted is not the one just restored.
    func make(in transcript: inout [ChatMessage], _ position: Int) {
        switch self {
        case .append: transcript.append(ChatMessage(role: .assistant, content: Turn.answer))
        case .edit: transcript[transcript.count / 2 + position].content = UUID().uuidString
        case .delete: transcript.remove(at: transcript.count / 2 + position)
        }
    }
}

private func transcript(_ count: Int) -> [ChatMessage] {
    (0..<count).map { number in
        ChatMessage(
            role: number.isMultiple(of: 2) ? .user : .assistant,
            content: number.isMultiple(of: 2) ? Turn.question : Turn.answer,
            timestamp: Date(timeIntervalSince1970: 1_760_000_000 + Double(number)))
    }
}

/// The last 100 entries of a long session and, as the baseline, of a short one.
func openingLines(messages count: Int, rounds: Int) async throws -> [Line] {
    let folder = try Folder()
    let configuration = HistoryConfiguration(durability: .relaxed, indexesInBackground: false)
    let history = SQLiteHistoryStore(directory: folder.url, configuration: configuration)
    let storage = SQLiteSessionStorage(history: history, userId: "bench", agentId: "agent")
    for (id, turns) in [("long", count / 2), ("short", 100)] {
        let scope = Scope(userId: "bench", sessionId: id, agentId: "agent")
        for start in stride(from: 0, to: turns, by: 2500) {
            try await history.append((start..<min(turns, start + 2500)).flatMap(Turn.messages), to: scope)
        }
    }
    var (ours, baseline) = (Samples(), Samples())
    var read = 0
    let request = PageRequest<MessageCursor>(limit: 100, before: nil)
    for _ in 0..<rounds {
        for _ in 0..<50 {
            ours.add(try await time { read += try await storage.messages(in: "long", page: request).elements.count })
        }
        for _ in 0..<50 {
            baseline.add(
                try await time { read += try await storage.messages(in: "short", page: request).elements.count })
        }
    }
    await history.close()
    precondition(read == rounds * 100 * 100)
    return [
        Line(
            "open a session of \(count) messages at its end (100); the baseline is a session of 200", ours, baseline,
            stretches: rounds, atMost: 2)
    ]
}
