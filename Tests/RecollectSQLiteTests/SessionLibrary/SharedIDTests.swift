import Foundation
import GRDB
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Several agents of a session have messages with one ID, and a UI shows and edits them.
@Suite("Message IDs shared by several agents") struct SharedIDTests {
    private let history = memory()
    private let chat: DeviceChatStorage
    private let sessions: SQLiteSessionStorage
    private let question = ConversationMessage(id: UUID().uuidString, role: .user, text: "Where is the lamp?")

    init() {
        chat = DeviceChatStorage(history: history, userId: "ann")
        sessions = SQLiteSessionStorage(history: history, userId: "ann", agentId: "ui")
    }

    private func say(_ text: String? = nil, id: String? = nil, as agent: String) async throws {
        let message = ConversationMessage(
            id: id ?? question.id, role: question.role, text: text ?? question.text, timestamp: question.timestamp)
        try await chat.save(message, userId: "ann", sessionId: "s", agentId: agent, maxMessages: nil)
    }

    private func answer(as agent: String) async throws {
        let message = ConversationMessage(id: "of \(agent)", role: .assistant, text: "\(agent) answers")
        try await chat.save(message, userId: "ann", sessionId: "s", agentId: agent, maxMessages: nil)
    }

    private func window(_ agent: String) async throws -> [String] {
        try await chat.fetch(userId: "ann", sessionId: "s", agentId: agent, maxMessages: nil).map(\.text)
    }

    private func shown() async throws -> [ChatMessage] {
        try await sessions.getSession(id: "s")?.messages ?? []
    }

    private func expectSound() async throws {
        #expect(try await history.check().problems.isEmpty)
        #expect(try await history.write { try DerivedTables.orphans($0) }.isEmpty)
        let before = try await history.write { try DerivedTables(settling: $0) }
        let after = try await history.write { try DerivedTables(rebuilding: $0) }
        #expect(before.differences(from: after).isEmpty)
    }

    @Test("An input for two agents is in both windows and shown once; edits and removals apply to both")
    func shownOnce() async throws {
        for agent in ["a", "b"] {
            try await say(as: agent)
            try await answer(as: agent)
            try await say("changed", as: agent)
        }
        #expect(try await window("a") == [question.text, "a answers"])
        #expect(try await window("b") == [question.text, "b answers"])
        var entries = try await shown()
        #expect(entries.map(\.content) == [question.text, "a answers", "b answers"])
        #expect(entries[0].id.uuidString == question.id)
        entries[0].content = "Where is the oil?"
        try await sessions.updateSessionMessages(id: "s", messages: entries)
        #expect(try await window("a") == ["Where is the oil?", "a answers"])
        #expect(try await window("b") == ["Where is the oil?", "b answers"])
        #expect(try await shown().map(\.content) == entries.map(\.content))
        try await sessions.updateSessionMessages(id: "s", messages: Array(entries[1...]))
        #expect(try await window("a") == ["a answers"])
        #expect(try await window("b") == ["b answers"])
        try await expectSound()
    }

    @Test("Different content with a shared ID is shown, edited, removed and forked under a derived ID")
    func derived() async throws {
        try await say(as: "a")
        try await say("Where is the oil?", as: "b")
        try await say("And the wick?", as: "c")
        var entries = try await shown()
        #expect(entries.map(\.content) == [question.text, "Where is the oil?", "And the wick?"])
        #expect(Set(entries.map(\.id)).count == 3)
        #expect(entries[0].id.uuidString == question.id)
        let another = SQLiteSessionStorage(history: history, userId: "ann")
        #expect(try await another.getSession(id: "s")?.messages.map(\.id) == entries.map(\.id))
        try await sessions.fork("s", at: entries[1].id, into: "fork")
        #expect(
            try await sessions.getSession(id: "fork")?.messages.map(\.content) == Array(entries.map(\.content)[..<2]))
        entries[1].content = "Where is it?"
        try await sessions.updateSessionMessages(id: "s", messages: entries)
        #expect(try await window("a") == [question.text])
        #expect(try await window("b") == ["Where is it?"])
        // After removal of the first one, the others keep their IDs.
        let (gone, left) = (entries[0], Array(entries[1...]))
        try await sessions.updateSessionMessages(id: "s", messages: left)
        #expect(try await window("a").isEmpty)
        #expect(try await window("b") == ["Where is it?"])
        #expect(try await window("c") == ["And the wick?"])
        #expect(gone.id.uuidString == question.id)
        try await sessions.updateSessionMessages(id: "s", messages: [left[1]])
        #expect(try await window("b").isEmpty)
        #expect(try await window("c") == ["And the wick?"])
        try await expectSound()
    }

    @Test("Two entries with one ID that become equal stay separate for a storage that showed both")
    func editedToTheSame() async throws {
        try await say(as: "a")
        try await say("Where is the oil?", as: "b")
        var entries = try await shown()
        entries[1].content = question.text
        try await sessions.updateSessionMessages(id: "s", messages: entries)
        try await sessions.updateSessionMessages(id: "s", messages: [entries[0]])
        #expect(try await window("a") == [question.text])
        #expect(try await window("b").isEmpty)
        #expect(try await shown().map(\.content) == [question.text])
    }

    @Test("A message saved by a UI as an agent and by other agents is edited for all of them")
    func savedByTheUI() async throws {
        var entry = ChatMessage(role: .user, content: "Where is the key?")
        try await sessions.updateSessionMessages(id: "s", messages: [entry])
        for agent in ["a", "b"] { try await say(entry.content, id: entry.id.uuidString, as: agent) }
        entry.content = "Where are the keys?"
        try await sessions.updateSessionMessages(id: "s", messages: [entry])
        for agent in ["ui", "a", "b"] { #expect(try await window(agent) == [entry.content]) }
        #expect(try await shown().map(\.content) == [entry.content])
    }

    @Test("A reordered transcript is shown in its saved order, despite a duplicate between its entries")
    func reordered() async throws {
        try await say(as: "a")
        try await say(as: "b")
        try await answer(as: "a")
        try await answer(as: "b")
        let entries = try await shown()
        let order = [entries[1], entries[2], entries[0]]
        try await sessions.updateSessionMessages(id: "s", messages: order)
        #expect(try await shown().map(\.content) == order.map(\.content))
        try await expectSound()
    }

    @Test("Pages of entries show the same entries as the whole transcript", arguments: [1, 2, 3])
    func pages(limit: Int) async throws {
        for (agent, text) in [("a", nil), ("b", nil), ("c", "Where is the oil?"), ("d", nil)] {
            try await say(text, as: agent)
            try await answer(as: agent)
        }
        var (entries, cursor): ([ChatMessage], MessageCursor?) = ([], nil)
        repeat {
            let page = try await sessions.messages(in: "s", page: PageRequest(limit: limit, after: cursor))
            entries += page.elements
            cursor = page.next
        } while cursor != nil
        #expect(try await entries == shown())
        #expect(entries.count == 6)
    }

    @Test("A streaming reply also saved by a UI as an agent belongs to its writer and exists once at its end")
    func replyInFlight() async throws {
        var entry = ChatMessage(role: .assistant, content: "It is")
        let begun = ConversationMessage(id: entry.id.uuidString, role: .assistant, text: "It is")
        let reply = try await history.beginReply(begun, in: sessions.session("s").scope(agentId: "a"))
        entry.content = "It is in"
        try await sessions.updateSessionMessages(id: "s", messages: [entry])
        #expect(try await shown().map(\.content) == ["It is in"])
        reply.append(" in the tower.")
        try await reply.finish()
        #expect(try await shown().map(\.content) == ["It is in the tower."])
        #expect(try await window("ui").isEmpty)
        #expect(try await window("a") == ["It is in the tower."])
    }

    @Test("Merged sessions keep each agent's message of a shared ID, and different content under derived IDs")
    func merged() async throws {
        try await say(as: "a")
        for (agent, text) in [("a", "Which lamp?"), ("b", question.text)] {
            let message = ConversationMessage(id: question.id, role: .user, text: text)
            try await chat.save(message, userId: "ann", sessionId: "t", agentId: agent, maxMessages: nil)
        }
        try await history.moveSession(sessions.session("t"), to: "s")
        #expect(try await window("a") == [question.text, "Which lamp?"])
        #expect(try await window("b") == [question.text])
        try await expectSound()
    }

    @Test(
        "After a merge, a window edits and removes its own entries, not other messages with their IDs",
        arguments: [true, false], [true, false])
    func mergedBehindWindow(isRead: Bool, isSameStore: Bool) async throws {
        let id = try #require(UUID(uuidString: question.id))
        let other = ChatMessage(role: .user, content: "other")
        var entry = ChatMessage(id: id, role: .user, content: "mine")
        try await sessions.updateSessionMessages(id: "s", messages: [entry, other])
        if isRead { _ = try await sessions.getSession(id: "s") }
        let message = ConversationMessage(id: question.id, role: .user, text: "the agent's")
        try await chat.save(message, userId: "ann", sessionId: "t", agentId: "x", maxMessages: nil)
        let merging = isSameStore ? sessions : SQLiteSessionStorage(history: history, userId: "ann", agentId: "ui")
        try await merging.updateSessionId(oldId: "t", newId: "s")
        entry.content = "mine, edited"
        try await sessions.updateSessionMessages(id: "s", messages: [entry, other])
        #expect(try await window("x") == ["the agent's"])
        #expect(try await window("ui") == ["mine, edited", "other"])
        try await sessions.updateSessionMessages(id: "s", messages: [other])
        #expect(try await window("x") == ["the agent's"])
        #expect(try await window("ui") == ["other"])
        try await expectSound()
    }

    @Test("A branch is restored after its original message, not after another agent's message with that ID")
    func anchors() async throws {
        try await say(as: "a")
        try await answer(as: "a")
        try await say(as: "b")
        try await answer(as: "b")
        let id = sessions.session("s")
        let branch = try await history.branch(id, from: "of b")
        try await history.restoreBranch(branch, in: id)
        #expect(try await history.messages(of: id, agentId: nil, page: PageRequest(limit: 9)).elements.count == 4)
        #expect(try await history.branches(of: id).isEmpty, "no messages were moved to another branch")
    }

    @Test("A message adopted by one process is known to another before derived data is updated")
    func pending() async throws {
        let nobody = Scope(userId: "ann", sessionId: "s", agentId: "")
        let options = AppendOptions(claimsUnassigned: true)
        let agent = Scope(userId: "ann", sessionId: "s", agentId: "a")
        try await history.write { [question] (db: Database) throws -> Void in
            let (one, other) = (WriterCache(), WriterCache())
            func append(_ scope: Scope, _ cache: WriterCache) throws -> AppendOutcome {
                let appending = AppendOperation(
                    messages: [question], scope: scope, options: options, retention: .everything)
                return try appending.run(db, cache).outcome
            }
            #expect(try append(nobody, one) == AppendOutcome(added: 1))
            #expect(try append(agent, one) == AppendOutcome(alreadyStored: 1))
            #expect(try append(agent, other) == AppendOutcome(alreadyStored: 1))
            // The message is saved without an agent once more, and adopted by another agent.
            #expect(try append(nobody, other) == AppendOutcome(added: 1))
            #expect(try append(agent, one) == AppendOutcome(alreadyStored: 1))
            let third = Scope(userId: "ann", sessionId: "s", agentId: "b")
            #expect(try append(third, one) == AppendOutcome(alreadyStored: 1))
            #expect(try append(third, other) == AppendOutcome(alreadyStored: 1))
            #expect(try append(agent, other) == AppendOutcome(alreadyStored: 1))
            #expect(try db.integer("SELECT count(*) FROM message") == 2)
        }
        try await expectSound()
    }
}
