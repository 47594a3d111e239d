import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Messages with parts missing in the changed entry: tool calls, thinking, and texts of other writers.
extension EntryChangesTests {
    @Test(
        "An empty entry becomes the entry of a tool call, which an agent has saved meanwhile",
        arguments: [false, true])
    func emptyEntryOfCall(isStopped: Bool) async throws {
        let ui = window()
        let question = ChatMessage(role: .user, content: "Weather?")
        let shownEntry = ChatMessage(role: .assistant, content: "", isComplete: false)
        try await save([question], by: ui)
        let reply = try await history.beginReply(
            ConversationMessage(id: shownEntry.id.uuidString, role: .assistant, parts: []), in: Self.scope)
        try await save([question, shownEntry], by: ui)
        reply.append(Self.call)
        try await waitForIncrement { $0 == [Self.call] }
        if isStopped { try await reply.interrupt() } else { try await reply.finish() }
        let saved = try #require(
            try await history.messages(of: Self.session, agentId: "a", page: PageRequest(limit: 9)).elements.last)
        try await save([question] + saved.message.chatMessages(), by: ui)
        #expect(try await entries().map(\.messageType) == [.text, .toolUse])
        #expect(
            try await history.messages(of: Self.session, agentId: "a", page: PageRequest(limit: 9)).elements.count == 2)
    }

    @Test("An answer behind thinking stays if the thinking is marked as complete", arguments: [false, true])
    func answerBehindThinking(isCompact: Bool) async throws {
        let ui = window()
        let reply = try await history.beginReply(
            ConversationMessage(id: UUID().uuidString, role: .assistant, parts: [.thinking("Hm.", signature: nil)]),
            in: Self.scope)
        var transcript = try #require(try await ui.getSession(id: "s")).messages
        #expect(transcript.map(\.isComplete) == [false])
        reply.append("THE ANSWER")
        try await reply.finish()
        try await compact(ui, isCompact)
        transcript[0].isComplete = true
        try await save(transcript, by: ui)
        #expect(try await text(entries()) == ["Hm.", "THE ANSWER"])
        // A late increment, by a window that has not read the session.
        transcript[0].isComplete = false
        transcript[0].content = "H"
        try await save(transcript, by: window())
        #expect(try await text(entries()) == ["Hm.", "THE ANSWER"])
        #expect(try await entries().allSatisfy(\.isComplete))
    }

    @Test("The result behind a tool call stays if the call is marked as failed")
    func resultBehindCall() async throws {
        let ui = window()
        let call = ConversationMessage(id: UUID().uuidString, role: .assistant, parts: [Self.call])
        try await history.append([call], to: Self.scope)
        var transcript = try #require(try await ui.getSession(id: "s")).messages
        var whole = call
        whole.parts += [.toolResult(id: "c", content: "RESULT"), .text("ANSWER")]
        _ = try await history.edit([whole], in: Self.session)
        transcript[0].isError = true
        transcript[0].toolInputData = ToolInputData(parameters: ["city": "Bergen"])
        try await save(transcript, by: ui)
        let entries = try await entries()
        #expect(entries.map(\.content) == ["", "RESULT", "ANSWER"])
        #expect(entries.map(\.isError) == [true, false, false])
        #expect(entries[0].toolInputData?.parameters == ["city": "Bergen"])
    }

    @Test("A tool call is not replaced by the empty entry of its reply, nor by a text", arguments: ["", "Weather:"])
    func callAlone(content: String) async throws {
        let ui = window()
        var (shownEntry, reply) = try await begin(by: ui)
        try await save([shownEntry], by: ui)
        reply.append(Self.call)
        try await reply.finish()
        shownEntry.isComplete = true
        shownEntry.content = content
        shownEntry.metadata["rating"] = 5
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()).sorted() == [content, "weather"].filter { !$0.isEmpty })
        #expect(try await entries().last?.metadata["rating"] == 5)
    }

    @Test("An entry edited after another window has removed the text beside a call becomes a message of its own")
    func callLeft() async throws {
        let ui = window()
        var shownEntry = try await finished([.text("answer"), Self.call], by: ui)
        try await change { $0.removeAll { $0.messageType == .text } }
        shownEntry.content = "edited"
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()).sorted() == ["edited", "weather"])
    }

    @Test("The removal of an entry leaves the tool call beside its text")
    func removedEntry() async throws {
        let ui = window()
        _ = try await finished([.text("one "), Self.call, .text("two")], by: ui)
        try await save([], by: ui)
        #expect(try await text(entries()) == ["weather"])
    }

    @Test("An edit of a shown text leaves the text added by an agent since", arguments: [false, true])
    func continued(isCompact: Bool) async throws {
        let ui = window()
        var shownEntry = ChatMessage(role: .assistant, content: "one")
        try await save([shownEntry], by: ui)
        var message = try #require(try await history.message(shownEntry.id.uuidString, in: Self.session)).message
        message.parts += [Self.call, .text("two")]
        _ = try await history.edit([message], in: Self.session)
        try await compact(ui, isCompact)
        shownEntry.content = "ONE"
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == ["ONE", "weather", "two"])
    }

    @Test(
        "The edit of an empty text leaves a text added by an agent since", arguments: [false, true],
        [(false, false), (true, false), (false, true)])
    func emptyText(isStreaming: Bool, variant: (isFirst: Bool, isCompact: Bool)) async throws {
        let (isFirst, isCompact) = variant
        let ui = window()
        var shownEntry = ChatMessage(role: .assistant, content: "", isComplete: !isStreaming)
        try await save([shownEntry], by: ui)
        var message = try #require(try await history.message(shownEntry.id.uuidString, in: Self.session)).message
        message.parts.insert(.text("new"), at: isFirst ? 0 : 1)
        _ = try await history.edit([message], in: Self.session)
        try await compact(ui, isCompact)
        shownEntry.content = "edited"
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == (isFirst ? ["new", "edited"] : ["edited", "new"]))
        shownEntry.isComplete = true
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == (isFirst ? ["new", "edited"] : ["edited", "new"]))
    }

    @Test("Parts of unknown types stay if the text beside them is edited")
    func unknownPart() async throws {
        let ui = window()
        var shownEntry = ChatMessage(role: .assistant, content: "answer")
        try await save([shownEntry], by: ui)
        var message = try #require(try await history.message(shownEntry.id.uuidString, in: Self.session)).message
        let unknown = ContentPart.unknown(["type": "citation", "url": "here"])
        message.parts.append(unknown)
        _ = try await history.edit([message], in: Self.session)
        shownEntry.content = "edited"
        try await save([shownEntry], by: ui)
        message = try #require(try await history.message(shownEntry.id.uuidString, in: Self.session)).message
        #expect(message.parts == [.text("edited"), unknown])
    }

    @Test(
        "A change of an entry is applied to its part, though another writer has put a part before it",
        arguments: [false, true], [false, true])
    func movedPart(isEdit: Bool, isCompact: Bool) async throws {
        let ui = window()
        let message = ConversationMessage(
            id: UUID().uuidString, role: .assistant, parts: [.text("one"), Self.call, .text("two")])
        try await history.append([message], to: Self.scope)
        var transcript = try #require(try await ui.getSession(id: "s")).messages
        var edited = message
        edited.parts.insert(.thinking("Hm.", signature: "s"), at: 0)
        _ = try await history.edit([edited], in: Self.session)
        try await compact(ui, isCompact)
        if isEdit { transcript[0].content = "ONE" } else { transcript.removeFirst() }
        try await save(transcript, by: ui)
        #expect(try await text(entries()) == ["Hm."] + (isEdit ? ["ONE"] : []) + ["weather", "two"])
    }

    @Test(
        "Fields that a UI has given to a part stay with it when an agent edits the parts beside it",
        arguments: [
            [.text("new"), .text("one"), call], [call], [call, .text("one")], [call, .text("new")],
            [.text("one"), .thinking("Hm.", signature: nil), .toolCall(id: "c", name: "forecast", arguments: [:])],
        ] as [[ContentPart]])
    func movedFields(parts: [ContentPart]) async throws {
        let ui = window()
        var message = ConversationMessage(
            id: UUID().uuidString, role: .assistant, parts: [.text("one"), Self.call],
            metadata: ["partFields": ["1": ["key": 1]]])
        try await history.append([message], to: Self.scope)
        var transcript = try #require(try await ui.getSession(id: "s")).messages
        transcript[1].content = "running"
        transcript[1].metadata["rating"] = 5
        try await save(transcript, by: ui)
        message = try #require(try await history.message(message.id, in: Self.session)).message
        message.parts = parts
        _ = try await history.edit([message], in: Self.session)
        for entry in try await entries() {
            let isCall = entry.messageType == .toolUse
            #expect((entry.content == "running") == isCall)
            #expect(entry.metadata["rating"] == (isCall ? 5 : nil))
        }
        message = try #require(try await history.message(message.id, in: Self.session)).message
        let index = parts.firstIndex { $0.belongsToToolExchange } ?? 0
        #expect(message.metadata["partFields"] == [String(index): ["key": 1]])
        #expect(message.parts == parts)
    }

    @Test("Fields of a part leave the message with it, and those given by the writer stay")
    func removedFields() async throws {
        var message = ConversationMessage(
            id: UUID().uuidString, role: .assistant, parts: [.text("one"), Self.call],
            metadata: ["partFields": ["1": ["key": 1]], "chat": ["1": ["content": "running"]]])
        try await history.append([message], to: Self.scope)
        let given = message
        message.parts = [.text("one"), .text("two")]
        message.metadata["partFields"] = ["0": ["key": 2]]
        _ = try await history.edit([message], in: Self.session)
        #expect(try await text(entries()) == ["one", "two"])
        message = try #require(try await history.message(given.id, in: Self.session)).message
        #expect(message.metadata == ["partFields": ["0": ["key": 2]]])
    }

    @Test("Details of an entry whose part was removed are saved with a message of their own", arguments: [1, 2])
    func removedPart(count: Int) async throws {
        let ui = window()
        let parts = [ContentPart.text("A"), .text("B")].prefix(count)
        let message = ConversationMessage(id: UUID().uuidString, role: .assistant, parts: Array(parts))
        try await history.append([message], to: Self.scope)
        var transcript = try #require(try await ui.getSession(id: "s")).messages
        var edited = message
        edited.parts = [Self.call] + parts.dropFirst()
        _ = try await history.edit([edited], in: Self.session)
        transcript[0].attachments = [file("ui")]
        transcript[0].isError = true
        try await save(transcript, by: ui)
        let entries = try await entries()
        #expect(text(entries).sorted() == ["A", "B", "weather"].filter { $0 != "B" || count == 2 })
        #expect(entries.filter(\.isError).map(\.content) == ["A"])
    }

    @Test("A text edited by both leaves the parts that were never shown")
    func editedByBoth() async throws {
        let ui = window()
        var entry = ChatMessage(role: .assistant, content: "A")
        try await save([entry], by: ui)
        var message = try #require(try await history.message(entry.id.uuidString, in: Self.session)).message
        message.parts = [.text("A2"), Self.call, .text("new")]
        _ = try await history.edit([message], in: Self.session)
        // A transcript from a list has an entry equal to a part.
        var listed = entry
        listed.content = "A2"
        try await save([listed, ChatMessage(role: .user, content: "next")], by: window())
        #expect(try await text(entries()) == ["A2", "weather", "new", "next"])
        entry.content = "A3"
        try await save([entry], by: ui)
        #expect(try await text(entries()) == ["A3", "weather", "new", "next"])
    }

    @Test("A part that was never shown is neither removed nor replaced", arguments: [false, true])
    func partNeverShown(isEdit: Bool) async throws {
        let ui = window()
        let message = ConversationMessage(
            id: UUID().uuidString, role: .assistant, parts: [.thinking("Hm.", signature: "s"), .text("A")])
        try await history.append([message], to: Self.scope)
        var transcript = try #require(try await ui.getSession(id: "s")).messages
        var edited = message
        edited.parts = [message.parts[0], .text("new"), .text("A2")]
        _ = try await history.edit([edited], in: Self.session)
        if isEdit { transcript[1].content = "A3" } else { transcript.remove(at: 1) }
        try await save(transcript, by: ui)
        #expect(try await text(entries()).sorted() == ["A2"] + (isEdit ? ["A3"] : []) + ["Hm.", "new"])
    }

    @Test("An edit or a removal does not hit another shown part that was moved to its place", arguments: [false, true])
    func shiftedParts(isEdit: Bool) async throws {
        let ui = window()
        let message = ConversationMessage(id: UUID().uuidString, role: .assistant, parts: [.text("one"), .text("two")])
        try await history.append([message], to: Self.scope)
        var transcript = try #require(try await ui.getSession(id: "s")).messages
        var shifted = message
        shifted.parts = [.text("two"), .text("three")]
        _ = try await history.edit([shifted], in: Self.session)
        if isEdit { transcript[0].content = "one, edited" } else { transcript.remove(at: 0) }
        try await save(transcript, by: ui)
        #expect(try await text(entries()).sorted() == (isEdit ? ["one, edited"] : []) + ["three", "two"])
    }

    @Test("Of two equal parts, an edit hits the one that it was made in", arguments: [false, true])
    func equalParts(isMoved: Bool) async throws {
        let ui = window()
        let message = ConversationMessage(id: UUID().uuidString, role: .assistant, parts: [.text("yes"), .text("yes")])
        try await history.append([message], to: Self.scope)
        var transcript = try #require(try await ui.getSession(id: "s")).messages
        var edited = message
        edited.parts = isMoved ? [.text("yes")] : [.text("no"), .text("yes")]
        _ = try await history.edit([edited], in: Self.session)
        transcript[isMoved ? 1 : 0].content = "yes!"
        try await save(transcript, by: ui)
        #expect(try await text(entries()) == (isMoved ? ["yes!"] : ["yes!", "yes"]))
    }
}
