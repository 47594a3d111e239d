import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Searches with times and bounds") struct SearchTimeTests {
    private let history = memory()

    private func save(_ texts: [(String, Date)]) async throws {
        try await history.append(
            texts.enumerated().map { index, item in
                ConversationMessage(id: "\(index)", role: .user, text: item.0, timestamp: item.1)
            }, to: scope)
    }

    private func ids(
        _ text: String, _ order: SearchOrder = .relevance, until: Date? = nil, limit: Int = 20
    ) async throws -> [String] {
        let query = SearchQuery(userId: "ann", text: text, until: until, order: order, limit: limit)
        return try await history.search(query).elements.map(\.messageId)
    }

    /// Returns the hits on all pages.
    private func pages(_ query: SearchQuery) async throws -> [SearchHit] {
        var (query, hits) = (query, [SearchHit]())
        repeat {
            let page = try await history.search(query)
            hits += page.elements
            query.cursor = page.next
        } while query.cursor != nil
        return hits
    }

    @Test("Messages with some words are found before a date, though thousands after it have the words, too")
    func upperBound() async throws {
        let start = Date(timeIntervalSince1970: 1_700_000_000)
        try await save(
            (0..<3000).map { ("a common entry, group\($0 % 200)", start.addingTimeInterval(Double($0) * 60)) })
        let until = start.addingTimeInterval(60 * 100)
        for order in [SearchOrder.relevance, .newestFirst, .oldestFirst] {
            #expect(try await ids("common zzzunknown", order, until: until, limit: 200).count == 100, "\(order)")
            #expect(try await ids("group1 zzzunknown", order, until: until).first == "1", "\(order)")
        }
        #expect(try await ids("common zzzunknown", .oldestFirst, limit: 2) == ["0", "1"])
    }

    @Test("A time with a sign is a word")
    func signs() async throws {
        let yesterday = Date().addingTimeInterval(-86_400)
        try await save([
            ("zebra alpha", yesterday), ("zebra mentions yesterday", Date(timeIntervalSince1970: 1_700_000_000)),
            ("zebra beta", Date(timeIntervalSince1970: 1_700_000_001)),
        ])
        #expect(try await Set(ids("zebra -yesterday")) == ["0", "2"])
        #expect(try await ids("zebra +yesterday") == ["1"])
        #expect(try await ids("zebra yesterday").prefix(2) == ["1", "0"])
    }

    @Test("A message of another time than the named one lacks it")
    func missing() async throws {
        try await save([
            ("zebra alpha", Date(timeIntervalSince1970: 1_700_000_000)),
            ("zebra beta", Date(timeIntervalSince1970: 925_800_000)),
        ])
        let query = SearchQuery(userId: "ann", text: "zebra in May 1999", limit: 5)
        let hits = try await history.search(query).elements
        #expect(hits.map(\.messageId) == ["1", "0"])
        #expect(hits.map(\.missingWords) == [[], ["in May 1999"]])
    }

    @Test("By date, messages of a named time come together with those that have its words")
    func byDate() async throws {
        let yesterday = Date().addingTimeInterval(-86_400)
        try await save([
            ("harbor crane", yesterday), ("harbor crane of yesterday", Date(timeIntervalSince1970: 1_700_000_000)),
            ("harbor crane again", yesterday.addingTimeInterval(1)),
            ("harbor crane", Date(timeIntervalSince1970: 1_600_000_000)),
        ])
        #expect(try await ids("harbor crane yesterday", .newestFirst) == ["2", "0", "1"])
        #expect(try await ids("harbor crane yesterday", .oldestFirst) == ["1", "0", "2"])
        let query = SearchQuery(userId: "ann", text: "harbor crane yesterday", order: .newestFirst, limit: 1)
        #expect(try await pages(query).map(\.messageId) == ["2", "0", "1"])
    }

    @Test("By date, pages show all messages of a named time, also thousands of one millisecond")
    func manyByDate() async throws {
        let yesterday = Date().addingTimeInterval(-86_400)
        try await save((0..<1300).map { ("harbor crane \($0)", yesterday) })
        let query = SearchQuery(userId: "ann", text: "harbor crane yesterday", order: .oldestFirst, limit: 120)
        #expect(try await pages(query).map(\.messageId) == (0..<1300).map { "\($0)" })
    }

    @Test("A query of fields alone finds all their messages, the newest first, on pages of any size")
    func fieldsAlone() async throws {
        let start = Date(timeIntervalSince1970: 1_700_000_000)
        try await save((0..<7).map { ("entry \($0)", start.addingTimeInterval(Double($0))) })
        try await history.append(
            [ConversationMessage(id: "tool", role: .tool, text: "a result", timestamp: start)], to: scope)
        #expect(try await ids("role:user") == ["6", "5", "4", "3", "2", "1", "0"])
        #expect(try await ids("role:tool agent:a", .oldestFirst) == ["tool"])
        #expect(try await ids("role:assistant").isEmpty)
        #expect(try await ids("").isEmpty)
        let query = SearchQuery(userId: "ann", text: " role:user ", limit: 3)
        let hits = try await pages(query)
        #expect(hits.allSatisfy { $0.snippet.text.hasPrefix("entry") && $0.missingWords.isEmpty })
        #expect(hits.map(\.messageId) == ["6", "5", "4", "3", "2", "1", "0"])
    }

    @Test("A field after an odd or a typographic quotation mark is a filter, and one inside a quotation is text")
    func quotationMarks() async throws {
        try await save([("the tide rises, role:user", Date(timeIntervalSince1970: 1_700_000_000))])
        try await history.append(
            [ConversationMessage(id: "tool", role: .tool, text: "the tide falls")], to: scope)
        #expect(try await ids("\"tide role:user") == ["0"])
        #expect(try await ids("\u{201C}tide role:tool") == ["tool"])
        #expect(try await ids("tide \u{201C}rises role:user\u{201D}") == ["0"])
        #expect(try await ids("\"the tide\" role:tool") == ["tool"])
    }
}
