import Foundation
import RecollectAgents
import RecollectBuiltInAgents
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@Suite("History tools")
struct HistoryToolsTests {
    private let history = SQLiteHistoryStore.inMemory()
    private var tools: HistoryTools { HistoryTools(history: history, calendar: utc) }
    private let context = AgentContext(userId: "ada", sessionId: "now")

    private func say(_ range: Range<Int>, session: String, user: String = "ada", text: String = "budget") async throws {
        let messages = range.map {
            ConversationMessage(
                id: "m\($0)", role: $0.isMultiple(of: 2) ? .user : .assistant, text: "\(text) \($0)",
                timestamp: morning.addingTimeInterval(Double($0) * 86_400))
        }
        try await history.append(messages, to: Scope(userId: user, sessionId: session, agentId: "coder"))
    }

    private func ids(_ result: ToolResult, _ list: String) -> [String] {
        result.content[list]?.arrayValue?.compactMap { $0["message"]?.stringValue } ?? []
    }

    @Test("A search covers this user's history, with the given conditions")
    func search() async throws {
        try await say(0..<4, session: "5b1f-one")
        try await say(4..<6, session: "other")
        try await say(6..<8, session: "eve", user: "eve")
        let search = tools.searchHistory
        let all = try await search.call(["query": "budget"], context: context)
        #expect(Set(ids(all, "hits")) == ["m0", "m1", "m2", "m3", "m4", "m5"])
        let hit = try #require(all.content["hits"]?.arrayValue?.first { $0["message"] == "m0" })
        #expect(hit["session"] == "5b1f-one" && hit["agent"] == "coder" && hit["role"] == "user")
        #expect(hit["when"] == "2026-11-21T09:12:07Z" && hit["snippet"] == "budget 0")
        for (arguments, expected) in [
            (["query": "budget", "session": "5b1f"], ["m0", "m1", "m2", "m3"]),
            (["query": "budget", "role": "assistant", "agent": "coder"], ["m1", "m3", "m5"]),
            (["query": "budget", "since": "2026-11-23", "until": "2026-11-24"], ["m2", "m3"]),
            (["query": "budget", "until": "2026-11-22T00:00:00Z"], ["m0"]),
            (["query": "budget", "agent": "nobody"], []),
        ] as [(JSONValue, Set<String>)] {
            let result = try await search.call(arguments, context: context)
            #expect(Set(ids(result, "hits")) == expected, "\(arguments)")
        }
        let two = try await search.call(["query": "budget", "limit": 2], context: context)
        #expect(ids(two, "hits").count == 2 && two.content["note"]?.stringValue?.contains("more hits") == true)
    }

    @Test("A search omits the current input and still returns the requested number of hits")
    func currentQuestion() async throws {
        for session in ["now", "then"] { try await say(0..<3, session: session) }
        let asking = AgentContext(userId: "ada", sessionId: "now", inputId: "m2")
        let result = try await tools.searchHistory.call(["query": "budget", "limit": 5], context: asking)
        let locations = result.content["hits"]?.arrayValue?.map { [$0["session"], $0["message"]] } ?? []
        #expect(locations.count == 5 && !locations.contains(["now", "m2"]) && locations.contains(["then", "m2"]))
        #expect(result.content["note"] == nil)
    }

    /// A model that searches for the user's text, and answers with the first found passage.
    private struct SearchingModel: LLMClient {
        func complete(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error> {
            AsyncThrowingStream { stream in
                if case .toolResult(_, let content)? = request.messages.last?.parts.last {
                    let found = content["hits"]?.arrayValue?.first?["snippet"]?.stringValue ?? "nothing"
                    stream.yield(.textDelta("Your notes say: \(found)"))
                } else {
                    let question = request.messages.last { $0.role == .user }?.text ?? ""
                    stream.yield(.toolCall(id: "", name: "search_history", arguments: ["query": .string(question)]))
                }
                stream.yield(.done(LLMCompletion(reason: .stop)))
                stream.finish()
            }
        }
    }

    @Test("A question asked ten times finds its source each time, and not the earlier answers")
    func sameQuestion() async throws {
        let source = ConversationMessage(
            id: "source", role: .user,
            text: "In Tromsø the polar night lasts from late November to mid January: pack lamps.")
        try await history.append([source], to: Scope(userId: "user", sessionId: "travel", agentId: "coder"))
        try await say(0..<30, session: "work", user: "user", text: "How long will the budget last in the night shift?")
        let assistant = Agent(
            name: "Assistant", description: "Answers from the history.", model: SearchingModel(), tools: tools.all)
        let orchestrator = Orchestrator(
            agents: [assistant], store: DeviceChatStorage(history: history, userId: "user"))
        for number in 0..<10 {
            let question = AgentInput.text("How long is the polar night in Tromsø?")
            let reply = try #require(try await orchestrator.say(question, session: "ask \(number)").reply)
            let results = reply.parts.compactMap { part -> [String]? in
                guard case .toolResult(_, let content) = part else { return nil }
                return content["hits"]?.arrayValue?.compactMap { $0["message"]?.stringValue }
            }
            #expect(results.count == 1)
            #expect(results.first?.first == "source", "time \(number): \(results)")
            #expect(reply.text.contains("pack lamps"))
        }
    }

    @Test("Discarded sessions are neither found nor read")
    func discarded() async throws {
        try await say(0..<2, session: "gone")
        try await history.discardSession(SessionKey(userId: "ada", sessionId: "gone"))
        #expect(ids(try await tools.searchHistory.call(["query": "budget"], context: context), "hits").isEmpty)
        for session in ["gone", "go"] {
            #expect(try await tools.readSession.call(["session": .string(session)], context: context).isError)
        }
    }

    @Test("Pages of a session return each message once, in either direction")
    func pages() async throws {
        try await say(0..<25, session: "long")
        for direction in ["after", "before"] {
            var read: [String] = []
            var arguments: [String: JSONValue] = ["session": "lo", "limit": 10]
            if direction == "before" { arguments["before"] = "m24" }
            while true {
                let page = ids(try await tools.readSession.call(.object(arguments), context: context), "messages")
                read = direction == "after" ? read + page : page + read
                guard page.count == 10, let next = direction == "after" ? page.last : page.first else { break }
                arguments[direction] = .string(next)
            }
            #expect(read == (0..<(direction == "after" ? 25 : 24)).map { "m\($0)" })
        }
    }

    @Test("Reading around a message returns it with its neighbors, and how to continue on both sides")
    func around() async throws {
        try await say(0..<25, session: "long")
        for (limit, expected, continuations) in [
            (1, 12..<13, []), (2, 11..<13, ["before = m11"]), (5, 10..<15, ["before = m10", "after = m14"]),
        ] {
            let result = try await tools.readSession.call(
                ["session": "long", "around": "m12", "limit": .integer(Int64(limit))], context: context)
            #expect(ids(result, "messages") == expected.map { "m\($0)" })
            let note = result.content["note"]?.stringValue ?? ""
            #expect(continuations.allSatisfy(note.contains), "\(note)")
        }
        let start = try await tools.readSession.call(["session": "long", "around": "m0", "limit": 5], context: context)
        #expect(ids(start, "messages") == ["m0", "m1", "m2"])
        #expect(start.content["note"] == "There are more messages. To continue: after = m2")
        try await say(0..<9, session: "wide", text: String(repeating: "漢", count: 3000))
        let wide = try await tools.readSession.call(["session": "wide", "around": "m4"], context: context)
        #expect(ids(wide, "messages").contains("m4") && wide.content.jsonString.utf8.count < 20_000)
    }

    @Test("The list of sessions has the latest activity first, in pages, and no sessions of another user")
    func sessions() async throws {
        for number in 0..<5 { try await say(number..<(number + 1), session: "s\(number)") }
        try await say(0..<1, session: "eve", user: "eve")
        try await history.discardSession(SessionKey(userId: "ada", sessionId: "s3"))
        func list(_ arguments: JSONValue) async throws -> (ids: [String], note: String?) {
            let result = try await tools.listSessions.call(arguments, context: context)
            let ids = result.content["sessions"]?.arrayValue?.compactMap { $0["session"]?.stringValue } ?? []
            return (ids, result.content["note"]?.stringValue)
        }
        #expect(try await list([:]).ids == ["s4", "s2", "s1", "s0"])
        let first = try await list(["limit": 3])
        #expect(first.ids == ["s4", "s2", "s1"] && first.note?.hasSuffix("after = s1") == true)
        #expect(try await list(["limit": 3, "after": "s1"]).ids == ["s0"])
        #expect(try await list(["query": "budget 2"]).ids == ["s2"])
        #expect(try await list(["since": "2026-11-22", "until": "2026-11-23"]).ids == ["s2", "s1"])
        #expect(try await list(["query": "nothing"]).note == "There are no such sessions.")
        #expect(try await tools.listSessions.call(["after": "eve"], context: context).isError)
    }

    @Test("A search by date returns the latest mention first")
    func latest() async throws {
        try await say(0..<4, session: "one")
        let result = try await tools.searchHistory.call(["query": "budget", "order": "newest"], context: context)
        #expect(ids(result, "hits") == ["m3", "m2", "m1", "m0"])
    }

    @Test("Reading continues after a message whose ID exists with several agents")
    func sharedIds() async throws {
        let question = ConversationMessage(id: "q", role: .user, text: "Which budget?")
        for agent in ["coder", "planner"] {
            // At the same time, so that the order depends on the agents alone.
            let answer = ConversationMessage(
                id: agent, role: .assistant, text: "Mine.", timestamp: question.timestamp)
            try await history.append(
                [question, answer], to: Scope(userId: "ada", sessionId: "shared", agentId: agent))
        }
        let first = try await tools.readSession.call(["session": "shared", "limit": 3], context: context)
        #expect(ids(first, "messages") == ["q", "coder", "q"])
        #expect(first.content["note"]?.stringValue?.hasSuffix("after = q and agent = planner") == true)
        let rest = try await tools.readSession.call(
            ["session": "shared", "after": "q", "agent": "planner"], context: context)
        #expect(ids(rest, "messages") == ["planner"])
    }

    @Test("A page has a byte limit, a long message is cut between characters, and a note names the next page")
    func bounds() async throws {
        try await say(0..<10, session: "long", text: String(repeating: "漢", count: 3000))
        let first = try await tools.readSession.call(["session": "long"], context: context)
        let texts = first.content["messages"]?.arrayValue ?? []
        #expect((1...5).contains(texts.count))
        #expect(texts.allSatisfy { $0["cut"] == true && ($0["text"]?.stringValue?.utf8.count ?? 0) <= 4000 })
        #expect(texts.allSatisfy { $0["text"]?.stringValue?.allSatisfy { $0 == "漢" } == true })
        let last = try #require(ids(first, "messages").last)
        #expect(first.content["note"]?.stringValue?.contains("after = \(last)") == true)
    }

    @Test("Invalid arguments return an error that explains the problem")
    func invalid() async throws {
        try await say(0..<2, session: "same-a")
        try await say(2..<4, session: "same-b")
        for (arguments, words) in [
            ([:], "“query” is missing"), (["query": "  "], "non-empty"), (["query": 3], "non-empty string"),
            (["query": "x", "limit": 100], "1 to 20"), (["query": "x", "limit": 1.5], "an integer"),
            (["query": "x", "since": "May"], "2026-05-03"), (["query": "x", "since": "2026-02-31"], "2026-05-03"),
            (["query": "x", "role": "tool"], "user, assistant"), (["query": "x", "user": "eve"], "no argument “user”"),
            (["query": "x", "session": "same"], "same-a, same-b"),
            (["query": "x", "session": "none"], "There is no session"),
            ("query", "JSON object"),
        ] as [(JSONValue, String)] {
            let result = try await tools.searchHistory.call(arguments, context: context)
            #expect(result.isError && result.content.jsonString.contains(words), "\(arguments): \(result.content)")
        }
        for (arguments, words) in [
            (["session": "same-a", "after": "m0", "before": "m1"], "only one of"),
            (["session": "same-a", "after": "m9"], "no message with that ID"),
        ] as [(JSONValue, String)] {
            let result = try await tools.readSession.call(arguments, context: context)
            #expect(result.isError && result.content.jsonString.contains(words), "\(arguments): \(result.content)")
        }
    }

    @Test("Tool names and schemas are valid for model servers")
    func schemas() throws {
        let all = tools.all + JournalTools(journal: JournalFolder()).all
        #expect(all.map(\.name) == ["search_history", "read_session", "list_sessions", "take_note", "read_notes"])
        for tool in all {
            #expect(tool.inputSchema["type"] == "object")
            let properties = try #require(tool.inputSchema["properties"]?.objectValue)
            let required = tool.inputSchema["required"]?.arrayValue?.compactMap(\.stringValue) ?? []
            #expect(required.allSatisfy { properties[$0] != nil })
        }
    }
}
