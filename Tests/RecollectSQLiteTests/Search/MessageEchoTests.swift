import RecollectCore
import Testing

@testable import RecollectSQLite

@Suite("Messages that repeat others in a search")
struct MessageEchoTests {
    private let history: SearchedHistory

    init() throws {
        history = try SearchedHistory()
    }

    private func reply(_ tool: String, _ text: String) -> SearchedHistory.Body {
        .parts([
            .toolCall(id: "1", name: tool, arguments: ["query": "polar night"]),
            .toolResult(id: "1", content: ["hits": [["snippet": "the polar night is long"]]]),
            .text(text),
        ])
    }

    @Test(
        "Calls and results of the tools that quote the history are not found, and those of others are",
        arguments: [("search_history", 0), ("read_session", 0), ("mcp__recall__search_history", 0), ("search_web", 1)])
    func calls(tool: String, count: Int) throws {
        try history.add(reply(tool, "Here it is"), id: "reply", role: .assistant)
        #expect(try history.ids("polar night").count == count)
        #expect(try history.ids("snippet").isEmpty)
        #expect(try history.ids("Here it is") == ["reply"])
    }

    @Test("The source of an answer stays first when the same question is asked ten times")
    func tenTimes() throws {
        for index in 0..<40 {
            try history.add("a long message about something else \(index)", session: "other \(index % 4)")
        }
        try history.add(
            "In Tromsø the polar night lasts from late November to mid January, so pack lamps", id: "source",
            session: "source")
        for index in 0..<10 {
            let session = "ask \(index)"
            try history.add("How long is the polar night in Tromsø?", id: "question \(index)", session: session)
            try history.add(
                reply(
                    "search_history",
                    "The polar night in Tromsø is long: you noted \(index) times that it lasts two months"),
                id: "answer \(index)", session: session, role: .assistant)
        }
        #expect(try history.ids("How long is the polar night in Tromsø?").first == "source")
        for query in ["How long is the polar night in Tromsø?", "how long is the polar night", "polar night"] {
            let ids = try history.ids(query, limit: 100)
            #expect(ids.prefix(2).contains("source"), "\(query): \(ids)")
            #expect(ids.count { $0.hasPrefix("question") } == 1)
            #expect(ids.count { $0.hasPrefix("answer") } == 10)
        }
    }

    @Test("A reply that lists quotes comes after the quoted message, and one with other metadata does not")
    func quotes() throws {
        for (id, metadata) in [("quoting", #"{"quotes":[{"messageId":"source"}]}"#), ("own", #"{"quotes":"none"}"#)] {
            try history.add("you said: the polar night is long", id: id, session: id, role: .assistant)
            try history.database.write {
                try $0.run("UPDATE message SET metadata = ? WHERE message_id = ?", metadata, id)
            }
        }
        try history.add(
            "the polar night is very long and dark and cold, and it begins in November", id: "source", session: "s")
        #expect(try history.ids("polar night") == ["own", "source", "quoting"])
    }

    @Test("A reply that lists quotes comes after the quoted message even if it names a tool of the history")
    func quotesAndName() throws {
        try history.add(
            .parts([.thinking("search_history finds it", signature: nil), .text("you said: the polar night is long")]),
            id: "quoting",
            session: "q", role: .assistant)
        try history.database.write {
            try $0.run(#"UPDATE message SET metadata = '{"quotes":[{"messageId":"source"}]}'"#)
        }
        try history.add(
            "the polar night is very long and dark and cold, and it begins in November", id: "source", session: "s")
        #expect(try history.ids("polar night") == ["source", "quoting"])
    }

    @Test("A question asked several times in the same words is found once, or each time in a single session")
    func repeatedQuestion() throws {
        for index in 0..<3 { try history.add("Is the ferry late?", id: "\(index)", session: "s") }
        try history.add("The ferry is late", id: "answer", session: "s")
        #expect(try history.ids("ferry late").count == 2)
        #expect(try history.ids("Is the ferry late?").first == "answer")
        #expect(try history.search(SearchQuery(userId: "u", text: "ferry late", sessionId: "s")).elements.count == 4)
    }

    @Test("Messages with unreadable parts or metadata are searched without an error")
    func unreadable() throws {
        for (id, parts, metadata) in [
            ("a", #"["search_history"]"#, #""quotes""#), ("b", "[search_history", #"{"quotes":"#),
            ("c", #"[{"toolCall":{"name":5,"id":"search_history"}}]"#, "[]"),
            ("d", #"[{"text":{"_0":"polar search_history"}}]"#, nil),
        ] as [(String, String, String?)] {
            try history.add(.parts([.text("polar")]), id: id, session: id)
            try history.database.write {
                try $0.run("UPDATE message SET parts = ?, metadata = ? WHERE message_id = ?", parts, metadata, id)
            }
        }
        #expect(try history.ids("polar night") == ["d"])
    }
}
