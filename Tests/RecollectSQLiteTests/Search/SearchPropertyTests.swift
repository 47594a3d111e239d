import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectSQLite

/// Random searches in random histories, compared with a reading of all messages.
@Suite("Properties of a search")
struct SearchPropertyTests {
    /// A message and its words.
    private struct Written {
        let id: String
        let user, session, agent: String
        let role: Role
        let words: [String]
        let isQuestion: Bool
        let timestamp: Int64
        let index: Int
    }

    /// Words without other forms, none the beginning of another.
    private static let words = (0..<12).map { "w\($0 + 10)x" }

    private struct Query {
        var query: SearchQuery
        var optional: [String] = []
        var required: [String] = []
        var excluded: [String] = []
        var phrase: [String] = []
    }

    private func write(_ count: Int, user: String, in history: SearchedHistory, _ random: inout SeededGenerator) throws
        -> [Written]
    {
        try (0..<count).map { index in
            let written = Written(
                id: "\(user)\(index)", user: user, session: "s\(Int.random(in: 0..<4, using: &random))",
                agent: "a\(Int.random(in: 0..<2, using: &random))",
                role: Bool.random(using: &random) ? .user : .assistant,
                words: (0..<Int.random(in: 1...8, using: &random)).map { _ in
                    Self.words[
                        Int.random(in: 0..<Self.words.count, using: &random) * Int.random(in: 0...1, using: &random)]
                }, isQuestion: Int.random(in: 0..<5, using: &random) == 0,
                timestamp: 1_700_000_000_000 + Int64.random(in: 0..<100, using: &random) * 86_400_000, index: index)
            try history.add(
                // The number makes each text unique, because equal questions are found once.
                written.words.joined(separator: " ") + " n\(index)" + (written.isQuestion ? "?" : "."), id: written.id,
                user: user, session: written.session, agent: written.agent, role: written.role, at: written.timestamp)
            return written
        }
    }

    private func query(_ random: inout SeededGenerator) -> Query {
        var query = Query(query: SearchQuery(userId: "u", text: "", limit: 1000))
        var parts: [String] = []
        func sometimes() -> Bool { Int.random(in: 0..<5, using: &random) == 0 }
        // In a query of more than six words, they are no beginnings.
        for word in Self.words.shuffled(using: &random).prefix(
            Int.random(in: 1...(sometimes() ? 9 : 4), using: &random))
        {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                query.required.append(word)
                parts.append("+" + word)
            case 1:
                query.excluded.append(word)
                parts.append("-" + word)
            default:
                query.optional.append(word)
                parts.append(word)
            }
        }
        if Int.random(in: 0..<6, using: &random) == 0 {
            query.phrase = Array(Self.words.shuffled(using: &random).prefix(2))
            parts.append("\"\(query.phrase.joined(separator: " "))\"")
        }
        if sometimes() { query.query.sessionId = "s1" }
        if sometimes() { query.query.agentId = "a1" }
        if sometimes() { query.query.roles = [.assistant] }
        if sometimes() { query.query.from = Date(millisecondsSince1970: 1_700_000_000_000 + 30 * 86_400_000) }
        if sometimes() { query.query.until = Date(millisecondsSince1970: 1_700_000_000_000 + 70 * 86_400_000) }
        query.query.text = parts.joined(separator: " ") + (sometimes() ? "?" : "")
        return query
    }

    private func passes(_ message: Written, _ query: Query) -> Bool {
        let date = Date(millisecondsSince1970: message.timestamp)
        return message.user == query.query.userId && query.query.sessionId.map { $0 == message.session } ?? true
            && query.query.agentId.map { $0 == message.agent } ?? true
            && (query.query.roles.isEmpty || query.query.roles.contains(message.role))
            && query.query.from.map { date >= $0 } ?? true && query.query.until.map { date < $0 } ?? true
    }

    private func has(_ phrase: [String], _ message: Written) -> Bool {
        phrase.isEmpty || zip(message.words, message.words.dropFirst()).contains { [$0, $1] == phrase }
    }

    private func isAllowed(_ message: Written, _ query: Query) -> Bool {
        passes(message, query) && query.required.allSatisfy(message.words.contains)
            && !query.excluded.contains(where: message.words.contains) && has(query.phrase, message)
    }

    /// Returns the hits on all pages.
    private func every(_ query: SearchQuery, limit: Int, in history: SearchedHistory) throws -> [SearchHit] {
        var (page, hits) = (query, [SearchHit]())
        page.limit = limit
        repeat {
            let next = try history.search(page)
            hits += next.elements
            page.cursor = next.next
        } while page.cursor != nil
        return hits
    }

    @Test("Random searches by date find all messages with all words in order, in pages of any size")
    func byDate() async {
        await Seeds.run(6) { seed in
            var random = SeededGenerator(seed: seed)
            let history = try SearchedHistory()
            let messages = try write(Int.random(in: 1...60, using: &random), user: "u", in: history, &random)
            _ = try write(40, user: "v", in: history, &random)
            for _ in 0..<20 {
                var query = query(&random)
                query.query.order = Bool.random(using: &random) ? .newestFirst : .oldestFirst
                let hasWords = !(query.optional + query.required + query.phrase).isEmpty
                let wanted = messages.filter { message in
                    hasWords && isAllowed(message, query) && query.optional.allSatisfy(message.words.contains)
                }
                .sorted { ($0.timestamp, $0.index) < ($1.timestamp, $1.index) }.map(\.id)
                let ordered = query.query.order == .oldestFirst ? wanted : wanted.reversed()
                let hits = try every(query.query, limit: 1000, in: history)
                if !wanted.isEmpty { #expect(hits.map(\.messageId) == ordered, "\(query.query)") }
                let dates = hits.map(\.timestamp)
                #expect(dates == (query.query.order == .oldestFirst ? dates.sorted() : dates.sorted(by: >)))
                for limit in [1, 3, 7] {
                    #expect(try every(query.query, limit: limit, in: history) == hits, "\(query.query)")
                }
                query.query.maxHitsPerSession = 1
                let first = try every(query.query, limit: 2, in: history)
                var sessions: Set<SessionKey> = []
                #expect(first == hits.filter { sessions.insert($0.session).inserted }, "\(query.query)")
            }
        }
    }

    @Test("Random searches find what a reading of all messages finds, in pages of any size")
    func search() async {
        await Seeds.run(6) { seed in
            var random = SeededGenerator(seed: seed)
            let history = try SearchedHistory()
            let messages = try write(Int.random(in: 1...60, using: &random), user: "u", in: history, &random)
            let queries = (0..<20).map { _ in query(&random) }
            let alone = try queries.map { try history.search($0.query).elements }
            for (query, hits) in zip(queries, alone) { try check(hits, of: query, in: messages, history) }
            // Messages of another user change nothing.
            _ = try write(40, user: "v", in: history, &random)
            for (query, hits) in zip(queries, alone) {
                #expect(try history.search(query.query).elements == hits, "\(query.query)")
            }
        }
    }

    private func check(
        _ hits: [SearchHit], of query: Query, in messages: [Written], _ history: SearchedHistory
    ) throws {
        let text = Comment(rawValue: "\(query.query)")
        let byId = Dictionary(uniqueKeysWithValues: messages.map { ($0.id, $0) })
        let found = try hits.map { try #require(byId[$0.messageId], text) }
        #expect(Set(found.map(\.id)).count == found.count, text)
        func isAllowed(_ message: Written) -> Bool { self.isAllowed(message, query) }
        func hasAll(_ message: Written) -> Bool { query.optional.allSatisfy(message.words.contains) }
        func isLate(_ message: Written) -> Bool { message.isQuestion && query.query.text.hasSuffix("?") }
        let hasWords = !(query.optional + query.required + query.phrase).isEmpty
        for message in found { #expect(isAllowed(message), text) }
        let wanted = messages.filter {
            hasWords && isAllowed($0)
                && (!(query.required + query.phrase).isEmpty || query.optional.contains(where: $0.words.contains))
        }
        #expect(Set(wanted.map(\.id)).subtracting(found.map(\.id)) == [], text)
        for (hit, message) in zip(hits, found) {
            #expect(Set(hit.missingWords) == Set(query.optional.filter { !message.words.contains($0) }), text)
            let marked = Set(
                hit.snippet.runs.filter(\.isMatch).flatMap { $0.text.split(separator: " ").map(String.init) })
            #expect(marked.isSubset(of: query.optional + query.required + query.phrase), text)
        }
        let firstPartial = found.firstIndex { !hasAll($0) } ?? found.count
        for message in found[firstPartial...] where hasAll(message) { #expect(isLate(message), text) }
        #expect(hits.map(\.score) == hits.map(\.score).sorted(by: >), text)
        for limit in [1, 3, 7] {
            #expect(try every(query.query, limit: limit, in: history) == hits, text)
        }
    }
}
