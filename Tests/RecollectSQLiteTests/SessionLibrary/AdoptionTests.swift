import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// A UI without agents and an orchestrator save the same turn under the same IDs, in either order.
@Suite("Adoption of messages saved by a UI") struct AdoptionTests {
    private let folder: TemporaryFolder
    private let history: SQLiteHistoryStore
    private let chat: DeviceChatStorage
    private let sessions: SQLiteSessionStorage
    private let question = ChatMessage(role: .user, content: "Where is the lamp?")
    private let answer = ChatMessage(role: .assistant, content: "In the tower.")
    private let later = ChatMessage(role: .user, content: "And the oil?")

    init() throws {
        folder = try TemporaryFolder()
        history = folder.history()
        chat = DeviceChatStorage(history: history, userId: "ann")
        sessions = SQLiteSessionStorage(history: history, userId: "ann")
    }

    private func say(_ entries: ChatMessage..., as agent: String = "tech", maxMessages: Int? = nil) async throws {
        try await chat.saveMessages(
            entries.map { ConversationMessage($0) }, userId: "ann", sessionId: "s", agentId: agent,
            maxMessages: maxMessages)
    }

    private func show(_ entries: ChatMessage...) async throws {
        try await sessions.updateSessionMessages(id: "s", messages: entries)
    }

    private func window(_ agent: String = "tech") async throws -> [String] {
        try await chat.fetch(userId: "ann", sessionId: "s", agentId: agent, maxMessages: nil).map(\.text)
    }

    private func shown() async throws -> [String] {
        try await sessions.getSession(id: "s")?.messages.map(\.content) ?? []
    }

    private func expectSound() async throws {
        #expect(try await history.check().problems.isEmpty)
        let orphans = try await history.write { try DerivedTables.orphans($0) }
        #expect(orphans.isEmpty)
    }

    @Test(
        "A turn saved by the UI and an agent in either order appears once in the window and in the UI",
        arguments: [true, false], [true, false])
    func oneTurn(uiComesFirst: Bool, savesInOneBatch: Bool) async throws {
        if uiComesFirst { try await show(question) }
        if savesInOneBatch {
            if uiComesFirst { try await show(question, answer) }
            try await say(question, answer)
        } else {
            try await say(question)
            if uiComesFirst { try await show(question, answer) }
            try await say(answer)
        }
        try await show(question, answer)
        try await say(question, answer)
        #expect(try await window() == [question.content, answer.content])
        #expect(try await window("").isEmpty)
        #expect(try await shown() == [question.content, answer.content])
        let session = try #require(try await history.session(sessions.session("s")))
        #expect(session.agentIds == ["tech"])
        #expect(session.messageCount == 2)
        #expect(try await history.windows(of: session.id).flatMap(\.messages).count == 2)
        try await expectSound()
        // The UI can edit and remove its messages, even after an agent adopted them.
        var edited = answer
        edited.content = "In the high tower."
        try await show(question, edited)
        #expect(try await window() == [question.content, edited.content])
        try await show(question)
        #expect(try await window() == [question.content])
        #expect(try await shown() == [question.content])
    }

    @Test(
        "Search and the change feed reflect an adoption, whether or not the message was indexed before",
        arguments: [true, false])
    func searchAndFeed(isIndexed: Bool) async throws {
        try await show(question)
        if isIndexed { try await history.indexEverything() }
        let before = try await history.latestChangeCursor()
        try await say(question)
        let changes = try await history.changes(after: before, limit: 10)
        #expect(changes.map(\.kind) == [.messageEdited])
        #expect(changes.map(\.agentId) == ["tech"])
        #expect(changes.map(\.messageId) == [question.id.uuidString])
        for (agent, count) in [("tech", 1), ("", 0)] {
            let hits = try await history.search(SearchQuery(userId: "ann", text: "lamp", agentId: agent)).elements
            #expect(hits.count == count)
        }
        #expect(try await history.search(SearchQuery(userId: "ann", text: "lamp")).elements.map(\.agentId) == ["tech"])
        let after = try await history.latestChangeCursor()
        try await say(question)
        #expect(try await history.latestChangeCursor() == after, "a retry changes nothing")
        try await expectSound()
    }

    @Test("A message saved by one agent, or by a UI as an agent, is not adopted by another agent")
    func others() async throws {
        try await say(question, as: "first")
        try await say(question, as: "second")
        #expect(try await window("first") == [question.content])
        #expect(try await window("second") == [question.content])
        #expect(try await shown() == [question.content])
        let ui = SQLiteSessionStorage(history: history, userId: "ann", agentId: "ui")
        try await ui.updateSessionMessages(id: "t", messages: [question])
        try await chat.save(
            ConversationMessage(question), userId: "ann", sessionId: "t", agentId: "tech", maxMessages: nil)
        for agent in ["ui", "tech"] {
            let saved = try await chat.fetch(userId: "ann", sessionId: "t", agentId: agent, maxMessages: nil)
            #expect(saved.map(\.text) == [question.content])
        }
        #expect(try await sessions.getSession(id: "t")?.messages.map(\.content) == [question.content])
        try await show(question, later)
        try await history.append(
            [ConversationMessage(later)], to: sessions.session("s").scope(agentId: "first"))
        #expect(try await window("") == [later.content], "without the option, nothing is adopted")
        #expect(try await window("first") == [question.content, later.content])
    }

    @Test("An adopted message keeps its content from the UI and its position among other agents' messages")
    func contentAndPlace() async throws {
        try await say(answer, as: "other")
        var mine = question
        mine.metadata["from"] = "ui"
        try await sessions.updateSessionMessages(id: "s", messages: [answer, mine])
        try await say(ChatMessage(role: .user, content: "I hear."), as: "other")
        try await say(question)
        let saved = try await chat.fetch(userId: "ann", sessionId: "s", agentId: "tech", maxMessages: nil)
        #expect(saved.map(\.metadata["from"]) == ["ui"])
        #expect(try await shown() == [answer.content, question.content, "I hear."])
        try await expectSound()
    }

    @Test("A message adopted after newer messages of its agent moves to the end of the window")
    func order() async throws {
        try await say(question)
        try await show(question, later)
        // The orchestrator completes the turn interrupted by a kill before it saves the next input.
        try await say(answer)
        let before = try await history.latestChangeCursor()
        try await say(later)
        #expect(try await window() == [question.content, answer.content, later.content])
        #expect(try await shown() == [question.content, answer.content, later.content])
        let changes = try await history.changes(after: before, limit: 10)
        #expect(changes.map(\.kind) == [.messageEdited, .sessionRearranged])
        try await expectSound()
        let reply = ChatMessage(role: .assistant, content: "In the cellar.")
        try await say(reply)
        #expect(try await window().last == reply.content)
        try await show(question, answer, later, reply)
        #expect(try await window().count == 4)
    }

    @Test("Several messages adopted in one batch keep the order of saving")
    func orderInABatch() async throws {
        try await show(question, answer, later)
        try await say(ChatMessage(role: .assistant, content: "Hello."))
        try await say(question, answer, later)
        #expect(try await window() == ["Hello.", question.content, answer.content, later.content])
        #expect(try await shown() == ["Hello.", question.content, answer.content, later.content])
        try await expectSound()
    }

    @Test("A message that repeats the previous role is not adopted, and this is reported")
    func sameRole() async throws {
        try await say(question)
        try await show(question, later)
        try await say(later)
        #expect(try await window() == [question.content])
        #expect(try await window("") == [later.content])
        #expect(history.events.takeUndelivered().map(\.kind) == [.droppedSameRole])
        try await say(answer, later, ChatMessage(role: .user, content: "Hm?"))
        #expect(try await window() == [question.content, answer.content, later.content])
        #expect(try await shown() == [question.content, answer.content, later.content])
    }

    @Test(
        "The window limit includes adopted messages, even in a window trimmed to nothing", arguments: [false, true])
    func budgets(startsEmpty: Bool) async throws {
        let window = SQLiteHistoryStore(
            directory: folder.file("window"), configuration: HistoryConfiguration(retention: .window))
        for history in [history, window] {
            let scope = sessions.session("s").scope(agentId: "tech")
            let ui = SQLiteSessionStorage(history: history, userId: "ann")
            let options = AppendOptions(maxMessages: 2, claimsUnassigned: true)
            try await ui.updateSessionMessages(id: "s", messages: [later])
            let earlier = [ConversationMessage(question), ConversationMessage(answer)]
            try await history.append(earlier, to: scope, options: AppendOptions(maxMessages: startsEmpty ? 0 : nil))
            try await history.append([ConversationMessage(later)], to: scope, options: options)
            let given = try await history.window(of: scope, maxMessages: nil)
            #expect(given.map(\.text) == (startsEmpty ? [] : [answer.content]) + [later.content])
        }
    }

    @Test("A streaming reply also saved by the UI belongs to its agent after it is finished or interrupted")
    func replies() async throws {
        try await show(question)
        try await say(question)
        for (number, ending) in ["finished", "cut off", "whole"].enumerated() {
            var entry = ChatMessage(role: .assistant, content: "so")
            let begun = ConversationMessage(id: entry.id.uuidString, role: .assistant, text: "so ")
            let writer = try await history.saveReply(begun, in: sessions.session("s").scope(agentId: "tech"))
            let before = try #require(try await sessions.getSession(id: "s")).messages.dropLast()
            if ending == "whole" { entry.content = "so far" }
            try await sessions.updateSessionMessages(id: "s", messages: before + [entry])
            #expect(try await window("").isEmpty)
            #expect(try await window().count == number + 2)
            if ending == "finished" {
                try await writer.finish(
                    ConversationMessage(id: begun.id, role: .assistant, text: "so far"), isAppended: true)
            } else {
                try await history.write { try $0.run("UPDATE streaming_reply SET writer = 'nobody'") }
                #expect(try await history.streamingReplies(in: sessions.session("s")).isEmpty)
            }
            #expect(try await window("").isEmpty)
            #expect(try await window().last == (ending == "cut off" ? "so " : "so far"))
            #expect(try await window().count == number + 2)
            #expect(try await shown().count == number + 2)
        }
    }
}
