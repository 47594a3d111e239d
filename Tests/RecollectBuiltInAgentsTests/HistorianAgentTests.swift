import Foundation
import RecollectAgents
import RecollectBuiltInAgents
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@Suite("Historian agent")
struct HistorianAgentTests {
    private let history = SQLiteHistoryStore.inMemory()
    private var historian: HistorianAgent { HistorianAgent(history: history, calendar: utc, now: { morning }) }

    /// Saves a message, dated the given number of days before `morning`.
    private func say(
        _ text: String, _ role: Role = .user, id: String, session: String = "plans", agent: String = "coder",
        user: String = "ada", daysAgo: Double = 10
    ) async throws {
        let message = ConversationMessage(
            id: id, role: role, text: text, timestamp: morning.addingTimeInterval(-86_400 * daysAgo))
        try await history.append([message], to: Scope(userId: user, sessionId: session, agentId: agent))
    }

    private func ids(_ message: ConversationMessage) -> [String] { message.quotes.map(\.messageId) }

    @Test("A reply quotes the message with its session, agent and date, and references it")
    func quotes() async throws {
        try await say(
            "The migration plan needs a week of dual writes", .assistant, id: "m1", session: "5b1f0e6a-long-id")
        try await history.update(
            SessionKey(userId: "ada", sessionId: "5b1f0e6a-long-id"), with: SessionDetails(title: "Database"))
        try await say("Lunch at noon", id: "m2", session: "lunch")
        let reply = try await historian.reply(to: asked("What did we say about the migration plan?"))
        let quote = try #require(reply.quotes.first)
        #expect(reply.quotes.count == 1)
        #expect(quote.sessionId == "5b1f0e6a-long-id" && quote.messageId == "m1" && quote.agentId == "coder")
        #expect(quote.role == .assistant && quote.timestamp == morning.addingTimeInterval(-864_000))
        #expect(reply.text.contains("dual writes"))
        #expect(reply.text.contains("11 Nov 2026"))
        #expect(reply.text.contains("coder, in “Database” [5b1f0e6a]"))
    }

    @Test("A reply shows the whole session ID if its prefix is ambiguous")
    func ambiguousSession() async throws {
        try await say("a migration", id: "1", session: "5b1f0e6a-one")
        try await say("a lunch", id: "2", session: "5b1f0e6a-two")
        #expect(try await historian.reply(to: asked("migration?")).text.contains("[5b1f0e6a-one]"))
    }

    @Test("A search covers all sessions and agents of this user, and no other user's")
    func scope() async throws {
        try await say("budget one", id: "1", session: "a", agent: "x")
        try await say("budget two", id: "2", session: "b", agent: "y")
        try await say("budget three", id: "3", session: "a", agent: "x", user: "eve")
        let reply = try await historian.reply(to: asked("budget?"))
        #expect(Set(ids(reply)) == ["1", "2"])
    }

    @Test("A search omits the input, earlier historian turns, summaries and discarded sessions")
    func hides() async throws {
        try await say("what about the budget?", id: "question", session: "now", agent: "")
        try await say("budget earlier?", id: "q1", session: "now", agent: "historian")
        try await say("I found this about “budget”", .assistant, id: "a1", session: "now", agent: "historian")
        try await say(
            "The conversation so far: a budget", .assistant, id: "s1", session: "a",
            agent: SummarizingChatStorage.reservedPrefix + "coder")
        try await say("budget of a project given up", id: "gone", session: "gone")
        try await history.discardSession(SessionKey(userId: "ada", sessionId: "gone"))
        let none = try await historian.reply(to: asked("what about the budget?"))
        #expect(none.quotes.isEmpty)
        #expect(none.text.contains("nothing about “budget”") && none.text.contains("all your sessions"))
        try await say("the budget is 500", id: "real")
        #expect(ids(try await historian.reply(to: asked("what about the budget?"))) == ["real"])
    }

    @Test(
        "Expressions of time limit the search",
        arguments: [
            ("what did we say about the budget yesterday?", ["d1"]), ("budget today", ["d0"]),
            ("what did we say about the budget last week", ["d6", "d10"]), ("the budget in May?", ["may"]),
            ("Was haben wir gestern über das Budget gesagt?", ["d1"]), ("budget on 2026-11-15", ["d6"]),
            ("qu'est-ce qu'on a dit du budget la semaine dernière", ["d6", "d10"]),
            ("¿qué dijimos ayer sobre el budget?", ["d1"]), ("我们昨天说了什么关于budget", ["d1"]),
            ("budget on Friday?", ["d1"]), ("what did we say last Sunday about the budget", ["d6"]),
            ("Was haben wir am Sonntag über das Budget gesagt?", ["d6"]),
            ("¿qué dijimos el viernes pasado sobre el budget?", ["d1"]), ("budget 10 days ago", ["d10"]),
            ("the budget A week ago", ["d6", "d10"]), ("six months ago: budget", ["may"]),
            ("may the budget change", ["d0", "d1", "d6", "d10", "may"]),
            ("budget on 15 November", ["d6"]), ("budget of November 15th, 2026?", ["d6"]), ("budget, 15 Nov", ["d6"]),
            ("Was war am 15. Nov. mit dem Budget?", ["d6"]), ("le budget du 15 novembre 2026", ["d6"]),
            ("¿el budget el 15 de noviembre?", ["d6"]), ("11月15日的budget", ["d6"]), ("budget 21 Nov 2026", ["d0"]),
            ("the budget this November", ["d0", "d1", "d6", "d10"]),
        ])
    func times(question: String, expected: [String]) async throws {
        for (id, days) in [("d0", 0.1), ("d1", 1), ("d6", 6), ("d10", 10), ("may", 190)] {
            try await say("the budget may change, \(id)", id: id, daysAgo: days)
        }
        #expect(Set(ids(try await historian.reply(to: asked(question)))) == Set(expected))
    }

    @Test("A day begins in the user's time zone, and dates are formatted for the user's locale")
    func timeZone() async throws {
        // 20:00 the day before in UTC is 05:00 of this day in Tokyo.
        try await say("the budget", id: "1", daysAgo: 13.2 / 24)
        let tokyo = HistorianAgent(history: history, calendar: calendar("Asia/Tokyo", "de_DE"), now: { morning })
        #expect(
            try await historian.reply(to: asked("budget today?")).text.contains("nothing about “budget” in that period")
        )
        let reply = try await tokyo.reply(to: asked("budget today?"))
        #expect(ids(reply) == ["1"])
        #expect(reply.text.contains("21. Nov"))
    }

    @Test("“In this session”, “did I mention” and quoted phrases limit the search")
    func conditions() async throws {
        try await say("red car and blue house", id: "here", session: "now")
        try await say("blue car and red house", id: "there", session: "then")
        try await say("the red car", .assistant, id: "answer", session: "then")
        #expect(ids(try await historian.reply(to: asked("car in this session?"))) == ["here"])
        #expect(Set(ids(try await historian.reply(to: asked("when did I mention the car?")))) == ["here", "there"])
        #expect(Set(ids(try await historian.reply(to: asked("who said \"red car\"?")))) == ["here", "answer"])
    }

    @Test("“More” continues the results, and a reply reports the end of the results")
    func more() async throws {
        for number in 0..<7 { try await say("budget \(number)", id: "\(number)", daysAgo: Double(number + 1)) }
        let question = asked("budget?", id: "q").message
        let first = try await historian.reply(to: AgentInput(question))
        #expect(first.quotes.count == 5 && first.text.contains("more"))
        // Saved meanwhile: it does not shift the results.
        try await say("budget again", id: "new", daysAgo: 0)
        let more = asked("more", id: "m").message
        let second = try await historian.reply(to: AgentInput(more), after: [question, first])
        #expect(second.quotes.count == 3)
        let all: Set<String> = ["0", "1", "2", "3", "4", "5", "6", "new"]
        #expect(Set(ids(first) + ids(second)) == all)
        let last = try await historian.reply(to: asked("mehr"), after: [question, first, more, second])
        #expect(last.quotes.isEmpty && last.text.contains("all I found"))
    }

    @Test("A search without results offers a wider search, and an affirmative input runs it")
    func wider() async throws {
        try await say("the budget is 500", id: "there", session: "then", daysAgo: 40)
        let question = asked("what did we say about the budget in this session?", id: "q").message
        let none = try await historian.reply(to: AgentInput(question))
        #expect(none.quotes.isEmpty && none.text.contains("anywhere") && none.text.contains("in this session"))
        for answer in ["anywhere", "yes please", "Ja, bitte!"] {
            #expect(ids(try await historian.reply(to: asked(answer), after: [question, none])) == ["there"])
        }
    }

    @Test("A search without results in a time range quotes other times, and “more” continues there")
    func otherTimes() async throws {
        for number in 0..<7 { try await say("the budget is \(number)", id: "\(number)", daysAgo: Double(number + 40)) }
        let question = asked("what did we say about the budget yesterday?", id: "q").message
        let first = try await historian.reply(to: AgentInput(question))
        #expect(first.text.hasPrefix("I found nothing about “budget” in that period (yesterday). From other times"))
        let second = try await historian.reply(to: asked("more"), after: [question, first])
        let all: Set<String> = ["0", "1", "2", "3", "4", "5", "6"]
        #expect(Set(ids(first) + ids(second)) == all)
        let nothing = try await historian.reply(to: asked("what did we say about the garage yesterday?"))
        #expect(nothing.quotes.isEmpty && nothing.text.contains("all your sessions"))
        let closest = try await historian.reply(to: asked("the budget of the garage yesterday?"))
        #expect(closest.quotes.count == 5 && closest.text.contains("(yesterday)"))
        #expect(closest.text.contains("closest matches"))
        // If the time range has results, other times are not searched.
        try await say("the budget of yesterday", id: "new", daysAgo: 1)
        let found = try await historian.reply(to: AgentInput(question))
        #expect(ids(found) == ["new"])
        let last = try await historian.reply(to: asked("more"), after: [question, found])
        #expect(last.quotes.isEmpty && last.text.contains("all I found"))
    }

    @Test("If no message has all words, the messages with the most words are quoted")
    func fewerWords() async throws {
        try await say("the garage door opens", id: "two")
        try await say("a door", id: "one")
        let reply = try await historian.reply(to: asked("what about the garage door motor?"))
        #expect(ids(reply) == ["two", "one"])
        #expect(reply.text.contains("No message contains all of"))
    }

    @Test("A request without a subject lists sessions, or reports that there are none")
    func sessions() async throws {
        let empty = try await historian.reply(to: asked("what did we talk about?"))
        #expect(empty.text.contains("no earlier sessions"))
        try await say("what did we talk about?", id: "q", session: "now", agent: "historian")
        try await say("Repair the bicycle", id: "1", session: "bicycle", daysAgo: 3)
        try await say("Trip to Rome", id: "2", session: "rome", daysAgo: 8)
        let all = try await historian.reply(to: asked("what did we talk about?"))
        #expect(all.text.contains("Repair the bicycle") && all.text.contains("Trip to Rome"))
        #expect(!all.text.contains("[now]"))
        let week = try await historian.reply(to: asked("what did we talk about last week?"))
        #expect(!week.text.contains("Repair the bicycle") && week.text.contains("Trip to Rome"))
    }

    @Test("Requests in Chinese, German, French and Spanish find their messages")
    func languages() async throws {
        try await say("搬家的预算是五千", id: "zh")
        try await say("Der Mietvertrag läuft im März aus", id: "de")
        try await say("On part en vacances le 3 juillet", id: "fr")
        try await say("La caldera pierde agua", id: "es")
        for (question, id) in [
            ("我们说过什么关于预算的？", "zh"), ("Was haben wir über den Mietvertrag gesagt?", "de"),
            ("Quand est-ce qu'on a parlé des vacances ?", "fr"), ("¿Qué dijimos sobre la caldera?", "es"),
        ] {
            #expect(ids(try await historian.reply(to: asked(question))) == [id], "\(question)")
        }
    }

    @Test("An error of the history is thrown")
    func failure() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("file")
        try Data("no folder".utf8).write(to: file)
        let broken = HistorianAgent(history: SQLiteHistoryStore(directory: file), calendar: utc)
        await #expect(throws: RecollectError.self) { _ = try await broken.reply(to: "budget?") }
    }

    @Test("A search finds messages that an earlier process saved on disk")
    func onDisk() async throws {
        let folder = try TemporaryFolder()
        let earlier = SQLiteHistoryStore(directory: folder.url)
        try await earlier.append(
            [ConversationMessage(id: "1", role: .user, text: "the code is 4711")],
            to: Scope(userId: "ada", sessionId: "s", agentId: "a"))
        await earlier.close()
        let later = HistorianAgent(history: SQLiteHistoryStore(directory: folder.url), calendar: utc)
        #expect(ids(try await later.reply(to: "what was the code?")) == ["1"])
    }
}
