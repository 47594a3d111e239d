import Foundation
import GRDBSQLite
import Recollect

/// Finds the evidence of questions about long conversations: the part of it among the first 5, 10 and 20 hits. The baseline is FTS5 with
/// the Porter stemmer, any word, `bm25`, and a share of the scores of the neighbors.
///
/// With a command for the similarity of texts, a search with `SimilarityReranker` is measured, too.
///
/// The conversations are those of LoCoMo, as JSON files `locomo/conv-*.json`.
func recallLines(folder: String?, similarity: String? = nil) async throws -> [Line] {
    let work = "recall of the evidence of questions about long conversations (LoCoMo), at 5 / 10 / 20"
    let files = try folder.map { try Conversation.files(in: URL(fileURLWithPath: $0)) } ?? []
    guard !files.isEmpty else {
        return [Line(work: work, ours: "skipped: no folder with `locomo/conv-*.json` given (`RECOLLECT_SHARED_DATA`)")]
    }
    var (all, several, baseline, reranked) = (Recall(), Recall(), Recall(), Recall())
    let reranker = try similarity.map(SimilarityReranker.init(command:))
    var times = Samples()
    let folder = try Folder()
    var each: [String] = []
    for file in files {
        let conversation = try JSONDecoder().decode(Conversation.self, from: Data(contentsOf: file))
        let name = file.deletingPathExtension().lastPathComponent
        let history = SQLiteHistoryStore(directory: folder.url.appendingPathComponent(name))
        try await conversation.save(in: history)
        let bare = try BareRecall(path: folder.path(name + ".sqlite"), conversation)
        var own = Recall()
        for question in conversation.questions {
            let query = SearchQuery(userId: "bench", text: question.question, limit: 20)
            var found: [String] = []
            times.add(try await time { found = try await history.search(query).elements.map(\.messageId) })
            own.add(found, question)
            all.add(found, question)
            if question.category == 1 { several.add(found, question) }
            if let reranker {
                reranked.add(try await history.search(query, by: reranker).map(\.messageId), question)
            }
            baseline.add(bare.search(question.question), question)
        }
        each.append("\(name) \(own.text)")
        await history.close()
    }
    let rerankedLines = similarity.map { [Line(work: "the same, reranked by \($0)", ours: reranked.text)] } ?? []
    return [
        Line(
            work: work + ": \(all.count) questions, median time", ours: "\(all.text); \(Line.text(times.median))",
            baseline: baseline.text, target: "≥ .68 / .76 / .83",
            isMet: all.mean(5) >= 0.68 && all.mean(10) >= 0.76 && all.mean(20) >= 0.83),
        Line(
            work: "the same, evidence in several messages: \(several.count) questions", ours: several.text,
            target: "≥ .45 at 10", isMet: several.mean(10) >= 0.45),
        Line(work: "the same, by conversation", ours: each.joined(separator: "; ")),
    ] + rerankedLines
}

/// A conversation with questions.
struct Conversation: Decodable {
    struct Message: Decodable {
        let id: String
        let session: Int
        let speaker: String
        let text: String
        let timestamp: String
    }

    struct Question: Decodable {
        let question: String
        let evidence: [String]
        let category: Int
    }

    let messages: [Message]
    let questions: [Question]

    static func files(in folder: URL) throws -> [URL] {
        let folder = folder.appendingPathComponent("locomo")
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix("conv-") && $0.pathExtension == "json" }
            .sorted { $0.path < $1.path }
    }

    func save(in history: SQLiteHistoryStore) async throws {
        for (session, messages) in Dictionary(grouping: messages, by: \.session).sorted(by: { $0.key < $1.key }) {
            let scope = Scope(userId: "bench", sessionId: "session \(session)", agentId: "chat")
            let speakers = Set(messages.map(\.speaker)).sorted()
            try await history.append(
                messages.map { message in
                    ConversationMessage(
                        id: message.id, role: message.speaker == speakers[0] ? .user : .assistant, text: message.text,
                        timestamp: try Date(message.timestamp, strategy: .iso8601),
                        metadata: ["name": .string(message.speaker)])
                }, to: scope)
        }
    }
}

/// The mean part of the evidence among the first hits.
private struct Recall {
    private var sums = [5: 0.0, 10: 0.0, 20: 0.0]
    private(set) var count = 0

    mutating func add(_ found: [String], _ question: Conversation.Question) {
        let evidence = Set(question.evidence)
        for limit in sums.keys {
            sums[limit, default: 0] += Double(evidence.intersection(found.prefix(limit)).count) / Double(evidence.count)
        }
        count += 1
    }

    func mean(_ limit: Int) -> Double { (sums[limit] ?? 0) / Double(max(1, count)) }

    var text: String {
        [5, 10, 20].map { String(String(format: "%.3f", mean($0)).drop { $0 == "0" }) }.joined(separator: " / ")
    }
}

/// FTS5 alone.
private struct BareRecall {
    private let baseline: Baseline
    private let insert, select: OpaquePointer
    private let ids: [String]
    private let sessions: [Int]

    init(path: String, _ conversation: Conversation) throws {
        baseline = try Baseline(
            path: path, synchronous: "OFF",
            schema: "CREATE VIRTUAL TABLE search USING fts5 (body, tokenize = 'porter unicode61')")
        insert = try baseline.statement("INSERT INTO search (rowid, body) VALUES (?, ?)")
        select = try baseline.statement("SELECT rowid, -bm25(search) FROM search WHERE search MATCH ?")
        ids = conversation.messages.map(\.id)
        sessions = conversation.messages.map(\.session)
        for (index, message) in conversation.messages.enumerated() {
            sqlite3_bind_int64(insert, 1, Int64(index))
            baseline.bind(message.text, 2, insert)
            try baseline.run(insert)
        }
    }

    func search(_ question: String) -> [String] {
        let words = question.lowercased().split { !$0.isLetter && !$0.isNumber }
        baseline.bind(words.map { "\"\($0)\"" }.joined(separator: " OR "), 1, select)
        var scores: [Int: Double] = [:]
        while sqlite3_step(select) == SQLITE_ROW {
            scores[Int(sqlite3_column_int64(select, 0))] = sqlite3_column_double(select, 1)
        }
        sqlite3_reset(select)
        let ranked = ids.indices.map { index in
            var score = scores[index] ?? 0
            for distance in [-2, -1, 1, 2] {
                let other = index + distance
                guard ids.indices.contains(other), sessions[other] == sessions[index] else { continue }
                score += 0.4 * (scores[other] ?? 0) / Double(abs(distance))
            }
            return (index: index, score: score)
        }
        return ranked.sorted { $0.score > $1.score }.prefix(20).map { ids[$0.index] }
    }
}
