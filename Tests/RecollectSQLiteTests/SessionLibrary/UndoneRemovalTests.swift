import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// A window removes entries and brings them back, or shows a reply while it is streaming, and other writers change the
/// message.
@Suite("Undone removals and entries shown while streaming") struct UndoneRemovalTests {
    private let history = memory()
    private static let session = SessionKey(userId: "ann", sessionId: "s")
    private static let scope = session.scope(agentId: "a")
    private static let question = ChatMessage(role: .user, content: "Q")

    /// How a window knows a session.
    enum Memory: CaseIterable { case whole, hashes, moved }

    private func window() -> SQLiteSessionStorage {
        SQLiteSessionStorage(history: history, userId: "ann", agentId: "a")
    }

    nonisolated(nonsending) private func save(
        _ messages: [ChatMessage], by window: SQLiteSessionStorage
    ) async throws {
        try await window.updateSessionMessages(id: "s", messages: messages)
    }

    private func entries() async throws -> [ChatMessage] {
        try #require(try await window().getSession(id: "s")).messages
    }

    private func texts() async throws -> [String] { try await entries().map { $0.toolName ?? $0.content } }

    private func change(_ window: SQLiteSessionStorage, to memory: Memory) async throws {
        switch memory {
        case .whole: return
        case .hashes:
            for number in 0...KnownTranscripts.limit {
                try await window.updateSessionMessages(id: "other \(number)", messages: [])
            }
        case .moved:
            try await window.updateSessionId(oldId: "s", newId: "moved")
            try await window.updateSessionId(oldId: "moved", newId: "s")
        }
    }

    private static func call(_ name: String) -> ContentPart { .toolCall(id: name, name: name, arguments: [:]) }

    /// Begins a reply of the history with some parts.
    private func begin(_ parts: [ContentPart]) async throws -> StreamingReply {
        try await history.beginReply(
            ConversationMessage(id: UUID().uuidString, role: .assistant, parts: parts), in: Self.scope)
    }

    // MARK: Removals

    @Test(
        "An undone removal replaces no text added by another writer", arguments: Memory.allCases, [false, true])
    func textsOfAnother(memory: Memory, isBefore: Bool) async throws {
        for isGrowing in [false, true] {
            _ = try await history.deleteSession(Self.session)
            try await undo(memory, isBefore: isBefore, isGrowing: isGrowing)
        }
    }

    private func undo(_ memory: Memory, isBefore: Bool, isGrowing: Bool) async throws {
        let ui = window()
        var own = ChatMessage(role: .assistant, content: "own")
        try await save([Self.question, own], by: ui)
        let longer = ConversationMessage(
            id: own.id.uuidString, role: .assistant, parts: [.text("own"), .text("eight"), .text("nine")])
        func edit() async throws { #expect(try await history.edit([longer], in: Self.session) == 1) }
        if isBefore { try await edit() }
        try await change(ui, to: memory)
        if !isBefore { try await edit() }
        try await save([Self.question], by: ui)
        #expect(try await texts() == ["Q", "eight", "nine"])
        own.isComplete = !isGrowing
        try await save([Self.question, own], by: ui)
        own.isComplete = true
        try await save([Self.question, own], by: ui)
        #expect(try await texts().sorted() == ["Q", "eight", "nine", "own"])
        #expect(try await entries().allSatisfy(\.isComplete))
    }

    @Test("An undone removal of a part shown while streaming replaces no other part", arguments: [false, true])
    func partShownWhileStreaming(isBefore: Bool) async throws {
        let ui = window()
        let reply = try await begin([Self.call("one"), Self.call("two"), .text("three")])
        var shown = try #require(try await ui.getSession(id: "s")).messages
        try #require(shown.count == 3)
        try await reply.finish()
        for index in shown.indices { shown[index].isComplete = true }
        try await save(shown, by: ui)
        let longer = reply.message.parts
        func insert() async throws {
            let message = ConversationMessage(
                id: reply.id, role: .assistant,
                parts: [Self.call("eight")] + longer.filter { isBefore || $0 != longer[1] })
            #expect(try await history.edit([message], in: Self.session) == 1)
        }
        if isBefore { try await insert() }
        try await save([shown[0], shown[2]], by: ui)
        if !isBefore { try await insert() }
        #expect(try await texts() == ["eight", "one", "three"])
        try await save(shown, by: ui)
        #expect(try await texts().sorted() == ["eight", "one", "three", "two"])
    }

    @Test("A part brought back by another writer and by its window is there once")
    func broughtBackTwice() async throws {
        let ui = window()
        let message = ConversationMessage(
            id: UUID().uuidString, role: .assistant, parts: [Self.call("one"), .text("two"), .text("three")])
        try await history.append([message], to: Self.scope)
        let shown = try #require(try await ui.getSession(id: "s")).messages
        try await save([shown[0], shown[2]], by: ui)
        #expect(try await texts() == ["one", "three"])
        #expect(try await history.edit([message], in: Self.session) == 1)
        try await save(shown, by: ui)
        #expect(try await texts() == ["one", "two", "three"])
    }

    @Test("An undone removal is not taken for an equal part beside it", arguments: [0, 1], [false, true])
    func equalParts(first: Int, isRead: Bool) async throws {
        let ui = window()
        let message = ConversationMessage(
            id: UUID().uuidString, role: .assistant,
            parts: [.text("OK"), Self.call("one"), .text("OK"), Self.call("two")])
        try await history.append([message], to: Self.scope)
        let shown = try #require(try await ui.getSession(id: "s")).messages
        let other = 2 - 2 * first
        try await save(shown.filter { $0.id != shown[2 * first].id }, by: ui)
        if isRead { _ = try await ui.getSession(id: "s") }
        try await save(shown, by: ui)
        #expect(try await texts().sorted() == ["OK", "OK", "one", "two"])
        try await save(shown.filter { $0.id != shown[other].id }, by: ui)
        #expect(try await texts().sorted() == ["OK", "one", "two"])
    }

    @Test("An undone removal of a tool's result leaves the equal result of another call")
    func equalResults() async throws {
        let ui = window()
        let round: (String) -> [ContentPart] = {
            [.toolCall(id: $0, name: "ls", arguments: [:]), .toolResult(id: $0, content: "done")]
        }
        var message = ConversationMessage(
            id: UUID().uuidString, role: .assistant, parts: round("c1") + [.text("three")])
        try await history.append([message], to: Self.scope)
        let shown = try #require(try await ui.getSession(id: "s")).messages
        try await save([shown[0], shown[2]], by: ui)
        message.parts.remove(at: 1)
        message.parts += round("c2")
        #expect(try await history.edit([message], in: Self.session) == 1)
        try await save(shown, by: ui)
        let parts = try await history.windows(of: Self.session).flatMap(\.messages).flatMap(\.parts)
        for id in ["c1", "c2"] { #expect(parts.contains(.toolResult(id: id, content: "done")), "\(id)") }
    }

    @Test("A text with the beginning of an undone one stays")
    func sameBeginning() async throws {
        let ui = window()
        var message = ConversationMessage(
            id: UUID().uuidString, role: .assistant, parts: [.text("Sure, "), Self.call("one")])
        try await history.append([message], to: Self.scope)
        var shown = try #require(try await ui.getSession(id: "s")).messages
        shown[0].isComplete = false
        try await save(shown, by: ui)
        try await save([shown[1]], by: ui)
        message.parts[0] = .text("Sure, the agent's")
        #expect(try await history.edit([message], in: Self.session) == 1)
        try await save(shown, by: ui)
        shown[0].content = "Sure, mine"
        shown[0].isComplete = true
        try await save(shown, by: ui)
        #expect(try await texts().sorted() == ["Sure, mine", "Sure, the agent's", "one"])
    }

    // MARK: Entries shown while streaming

    @Test("A blank text is not continued by a text that another writer puts in its place", arguments: ["\n\n", "The"])
    func blankText(text: String) async throws {
        let ui = window()
        var message = ConversationMessage(
            id: UUID().uuidString, role: .assistant,
            parts: [.text(text), Self.call("one"), .text(text), Self.call("two")])
        try await history.append([message], to: Self.scope)
        let shown = try #require(try await ui.getSession(id: "s")).messages
        message.parts.insert(.text("The agent's"), at: 0)
        #expect(try await history.edit([message], in: Self.session) == 1)
        try await save(shown.filter { $0.content != text }, by: ui)
        #expect(try await texts().contains("The agent's"))
    }

    @Test("A finished reply is there once after a save without it while it was streaming", arguments: [false, true])
    func removedWhileStreaming(isOwn: Bool) async throws {
        let ui = window()
        try await save([Self.question], by: ui)
        var shownEntry = ChatMessage(role: .assistant, content: "", isComplete: false)
        let reply =
            try await isOwn
            ? ui.beginReply(in: "s", shownEntry)
            : history.beginReply(
                ConversationMessage(id: shownEntry.id.uuidString, role: .assistant, parts: []), in: Self.scope)
        reply.append("The answer.\n")
        shownEntry.content = "The an"
        try await save([Self.question, shownEntry], by: ui)
        try await save([Self.question], by: ui)
        try await reply.finish()
        shownEntry.content = "The answer."
        shownEntry.isComplete = true
        try await save([Self.question, shownEntry], by: ui)
        #expect(try await texts().map { $0.trimmingCharacters(in: .newlines) } == ["Q", "The answer."])
    }

    @Test("The parts of two agents' replies with one ID, shown while streaming, are not mixed up")
    func repliesWithOneID() async throws {
        let ui = window()
        let id = UUID().uuidString
        var replies: [StreamingReply] = []
        for (agent, names) in [("a", ["two", "three"]), ("b", ["five", "six"])] {
            replies.append(
                try await history.beginReply(
                    ConversationMessage(id: id, role: .assistant, parts: [Self.call(names[0]), .text(names[1])]),
                    in: Self.session.scope(agentId: agent)))
        }
        var shown = try #require(try await ui.getSession(id: "s")).messages
        #expect(shown.map { $0.toolName ?? $0.content } == ["two", "three", "five", "six"])
        for reply in replies { try await reply.finish() }
        shown[3].isComplete = true
        try await save(shown.filter { $0.content != "three" }, by: ui)
        #expect(try await texts() == ["two", "five", "six"])
    }

    @Test(
        "The end of a text shown while streaming with other parts is there once, after late increments",
        arguments: Memory.allCases, [0, 1, 2])
    func lateIncrements(memory: Memory, count: Int) async throws {
        let ui = window()
        let reply = try await begin([.thinking("Hm.", signature: nil), .text("one ")])
        var shown = try #require(try await ui.getSession(id: "s")).messages
        try #require(shown.count == 2)
        reply.append("two three\n")
        try await reply.finish()
        try await change(ui, to: memory)
        for number in 0..<count {
            shown[1].content = number == 0 ? "one tw" : "one two "
            try await save(shown, by: ui)
            #expect(try await texts() == ["Hm.", "one two three\n"])
            try await change(ui, to: memory)
        }
        for index in shown.indices { shown[index].isComplete = true }
        shown[1].content = "one two three"
        try await save(shown, by: ui)
        #expect(try await texts().map { $0.trimmingCharacters(in: .newlines) } == ["Hm.", "one two three"])
        try await change(ui, to: memory)
        shown[1].metadata["rating"] = 1
        try await save(shown, by: ui)
        #expect(try await entries().map { $0.metadata["rating"] } == [nil, 1])
        shown[1].content = "another"
        try await save(shown, by: ui)
        #expect(try await texts() == ["Hm.", "another"])
        try await save([shown[0]], by: ui)
        #expect(try await texts() == ["Hm."])
    }

    @Test("A text shown while streaming ends once if parts follow it")
    func grownAmongMoreParts() async throws {
        let ui = window()
        let reply = try await begin([.thinking("Hm.", signature: nil), .text("one ")])
        var shown = try #require(try await ui.getSession(id: "s")).messages
        reply.append("two")
        reply.append(Self.call("three"))
        reply.append("four")
        try await reply.finish()
        for increment in ["one t", "one tw"] {
            shown[1].content = increment
            try await save(shown, by: ui)
        }
        shown[1].content = "one two"
        for index in shown.indices { shown[index].isComplete = true }
        try await save(shown, by: ui)
        #expect(try await texts() == ["Hm.", "one two", "three", "four"])
    }

    @Test("A removal leaves another part that took the ID of a text shown while streaming")
    func otherPartUnderID() async throws {
        let ui = window()
        let reply = try await begin([.text("one "), Self.call("two")])
        var shown = try #require(try await ui.getSession(id: "s")).messages
        try await reply.finish(
            ConversationMessage(id: reply.id, role: .assistant, parts: [Self.call("two"), .text("one in other words")]))
        try await change(ui, to: .hashes)
        shown.removeFirst()
        try await save(shown, by: ui)
        #expect(try await texts().contains("two"))
    }

    @Test("All parts shown while streaming are removed together", arguments: Memory.allCases)
    func removedTogether(memory: Memory) async throws {
        let ui = window()
        let reply = try await begin([.thinking("Hm.", signature: nil), .text("one ")])
        var shown = try #require(try await ui.getSession(id: "s")).messages
        reply.append("two\n")
        try await reply.finish()
        for index in shown.indices { shown[index].isComplete = true }
        shown[1].content = "one two"
        try await save([Self.question] + shown, by: ui)
        try await change(ui, to: memory)
        try await save([Self.question], by: ui)
        #expect(try await texts() == ["Q"])
    }

    @Test("Changed metadata of an incomplete entry does not let its end replace the reply", arguments: Memory.allCases)
    func metadataOfIncomplete(memory: Memory) async throws {
        let ui = window()
        var shownEntry = ChatMessage(role: .assistant, content: "", isComplete: false)
        let reply = try await ui.beginReply(in: "s", shownEntry)
        shownEntry.content = "one "
        try await save([shownEntry], by: ui)
        try await reply.finish(ConversationMessage(id: reply.id, role: .assistant, text: "In other words"))
        try await change(ui, to: memory)
        shownEntry.metadata["rating"] = 1
        try await save([shownEntry], by: ui)
        shownEntry.isComplete = true
        try await save([shownEntry], by: ui)
        #expect(try await texts() == ["In other words"])
        #expect(try await entries()[0].metadata["rating"] == 1)
    }

    @Test("Metadata added to an incomplete entry of a complete reply does not repeat the text")
    func metadataOfUnknownEntry() async throws {
        let ui = window()
        let message = ConversationMessage(
            id: UUID().uuidString, role: .assistant, parts: [.thinking("Hm.", signature: nil), .text("two ")])
        try await history.append([message], to: Self.scope)
        var shownEntry = ChatMessage(
            id: try #require(UUID(uuidString: message.id)), role: .assistant, content: "two ", isComplete: false)
        try await save([shownEntry], by: ui)
        let other = window()
        let shown = try #require(try await other.getSession(id: "s")).messages
        try await save(shown.filter { $0.messageType == .text }, by: other)
        shownEntry.metadata["rating"] = 1
        try await save([shownEntry], by: ui)
        #expect(try await texts() == ["two "])
    }

    // MARK: Replies of the window

    @Test("An entry of several texts saved with blanks trimmed is removed")
    func removedTrimmedEntry() async throws {
        let ui = window()
        var shownEntry = ChatMessage(role: .assistant, content: "", isComplete: false)
        let reply = try await ui.beginReply(in: "s", shownEntry)
        reply.append("one ")
        reply.append(Self.call("two"))
        reply.append("three\n")
        shownEntry.content = "one "
        try await save([Self.question, shownEntry], by: ui)
        try await reply.finish()
        shownEntry.content = "one three"
        shownEntry.isComplete = true
        try await save([Self.question, shownEntry], by: ui)
        try await save([Self.question], by: ui)
        #expect(try await texts() == ["Q", "two"])
    }

    @Test(
        "A UI that shows the parts of its own streaming reply saves each of them once", arguments: [false, true],
        [false, true])
    func partsOfOwnReply(isIncrementSaved: Bool, isEntryFirst: Bool) async throws {
        for isSavedBetween in [false, true] {
            _ = try await history.deleteSession(Self.session)
            try await showParts(isIncrementSaved, isEntryFirst, isSavedBetween)
        }
    }

    private func showParts(_ isIncrementSaved: Bool, _ isEntryFirst: Bool, _ isSavedBetween: Bool) async throws {
        let ui = window()
        try await save([Self.question], by: ui)
        let reply = try await ui.beginReply(in: "s")
        func saveIncrement(_ count: Int) async throws {
            while isIncrementSaved,
                try await history.streamingReplies(in: Self.session).first?.message.parts.count != count
            {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        reply.append("one")
        if isEntryFirst {
            try await saveIncrement(1)
            try await save([Self.question] + reply.message.chatMessages(), by: ui)
        }
        reply.append(Self.call("two"))
        reply.append(.toolResult(id: "two", content: "three"))
        try await saveIncrement(3)
        if isSavedBetween { try await save([Self.question] + reply.message.chatMessages(), by: ui) }
        reply.append("four")
        if isSavedBetween { try await save([Self.question] + reply.message.chatMessages(), by: ui) }
        try await reply.finish()
        try await save([Self.question] + reply.message.chatMessages(), by: ui)
        let shown = reply.message.chatMessages()
        #expect(try await entries().dropFirst().map(\.id) == shown.map(\.id))
        #expect(try await entries().dropFirst().map(\.content) == shown.map(\.content))
        try await save([Self.question], by: ui)
        #expect(try await texts() == ["Q"])
    }

    @Test(
        "A reply moved into a branch by its window is saved when the window brings it back", arguments: [false, true])
    func branchedReply(hasIncrement: Bool) async throws {
        let ui = window()
        try await save([Self.question], by: ui)
        var shownEntry = ChatMessage(role: .assistant, content: "one ", isComplete: false)
        let reply = try await ui.beginReply(in: "s", shownEntry)
        reply.append("two")
        try await save([Self.question, shownEntry], by: ui)
        try await reply.finish()
        let whole = reply.message.parts.compactMap(\.text).joined()
        let branch = try await ui.branch("s", from: shownEntry.id)
        try await save([Self.question], by: ui)
        if hasIncrement {
            shownEntry.content = "one t"
            try await save([Self.question, shownEntry], by: ui)
        }
        shownEntry.content = whole
        shownEntry.isComplete = true
        try await save([Self.question, shownEntry], by: ui)
        #expect(try await texts() == ["Q", whole])
        #expect(try await history.windows(of: branch).flatMap(\.messages).map(\.text) == [whole])
    }

    @Test("A late increment of a reply deleted by another writer is completed by the reply's end")
    func deletedReply() async throws {
        let ui = window()
        try await save([Self.question], by: ui)
        var shownEntry = ChatMessage(role: .assistant, content: "one ", isComplete: false)
        let reply = try await ui.beginReply(in: "s", shownEntry)
        reply.append("two")
        try await save([Self.question, shownEntry], by: ui)
        try await reply.finish()
        let whole = reply.message.parts.compactMap(\.text).joined()
        try await history.deleteMessages([reply.id], in: Self.session)
        shownEntry.content = "one t"
        try await save([Self.question, shownEntry], by: ui)
        shownEntry.content = whole
        shownEntry.isComplete = true
        try await save([Self.question, shownEntry], by: ui)
        #expect(try await texts() == ["Q", whole])
    }

    @Test("The end of a reply noted after its removal does not count as saved")
    func endNotedAfterRemoval() throws {
        let known = KnownTranscripts()
        let reply = ConversationMessage(id: UUID().uuidString, role: .assistant, text: "Hello")
        let entry = reply.chatMessages()[0]
        for transcript in [[entry], []] {
            let before = known.entries(of: "s").base
            var outcome = SaveTranscriptOperation.Outcome()
            if transcript.isEmpty { outcome.removed = [entry.id] }
            known.note(TranscriptDifference(from: before, to: transcript), outcome, of: "s")
        }
        known.note(ended: reply, in: "s")
        #expect(!known.entries(of: "s").isEnd(entry))
    }
}
