import Foundation
import Recollect
import Testing

@Suite("Reranked searches")
struct SearchRerankerTests {
    private let history = SQLiteHistoryStore.inMemory()

    /// Ranks short messages first, and searches for other words.
    private struct Shortest: SearchReranker {
        var others: [String] = []
        var isIncomplete = false

        func expansions(of query: SearchQuery) async throws -> [String] { others }

        func scores(of candidates: [SearchCandidate], for query: SearchQuery) async throws -> [Double] {
            let scores = candidates.map { -Double($0.message.text.count) }
            return isIncomplete ? scores.dropLast() : scores
        }
    }

    private func save() async throws {
        for (user, texts) in [
            ("ana", ["the ferry to Naxos leaves at noon", "a ferry", "the boat is late", "nothing else"]),
            ("eve", ["boat"]),
        ] {
            let messages = texts.enumerated().map { ConversationMessage(id: "m\($0)", role: .user, text: $1) }
            try await history.append(messages, to: Scope(userId: user, sessionId: "s", agentId: "a"))
        }
    }

    private func ids(_ text: String, _ reranker: Shortest, limit: Int = 20) async throws -> [String] {
        try await history.search(SearchQuery(userId: "ana", text: text, limit: limit), by: reranker).map(\.messageId)
    }

    @Test("The reranker decides the order and the scores of the hits")
    func order() async throws {
        try await save()
        #expect(try await ids("ferry", Shortest()) == ["m1", "m0"])
        #expect(try await ids("ferry", Shortest(), limit: 1) == ["m1"])
        let hits = try await history.search(SearchQuery(userId: "ana", text: "ferry"), by: Shortest())
        #expect(hits.map(\.score) == [-7, -33])
    }

    @Test("Messages found by an expansion are candidates, each once and only of the user")
    func expansions() async throws {
        try await save()
        #expect(try await ids("ferry", Shortest(others: ["boat", "a ferry"])) == ["m1", "m2", "m0"])
        let many = (0..<20).map { _ in "ferry" } + ["boat"]
        #expect(try await ids("ferry", Shortest(others: many)) == ["m1", "m0"], "only the first expansions count")
    }

    @Test("A wrong number of scores is an error")
    func missingScores() async throws {
        try await save()
        let error = await #expect(throws: RecollectError.self) { try await ids("ferry", Shortest(isIncomplete: true)) }
        #expect(error?.code == .invalidArgument && error?.message.contains("1 scores for 2 candidates") == true)
    }

    @Test("The messages around a message are read in order, also at the ends of a session")
    func around() async throws {
        try await save()
        let session = SessionKey(userId: "ana", sessionId: "s")
        for (id, before, after, expected) in [
            ("m1", 1, 1, ["m0", "m1", "m2"]), ("m0", 5, 0, ["m0"]), ("m3", 2, 9, ["m1", "m2", "m3"]),
            ("m2", 0, -1, ["m2"]),
        ] {
            let around = try await history.messages(around: id, in: session, before: before, after: after)
            #expect(around.map(\.message.id) == expected)
        }
        await #expect(throws: RecollectError.self) {
            try await history.messages(around: "m9", in: session, before: 1, after: 1)
        }
    }
}
