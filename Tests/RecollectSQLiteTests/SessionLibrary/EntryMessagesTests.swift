import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// A window saves an entry whose ID belongs to another message by now.
@Suite("Messages of the entries shown by a session storage") struct EntryMessagesTests {
    private let history = memory()
    private let question = ChatMessage(role: .user, content: "question")
    private let answer = ChatMessage(role: .assistant, content: "first answer")

    /// What a window does with an entry.
    enum Change: CaseIterable {
        case edit, remove, editTwice, leave

        /// The contents of the entry after the change, if another message has its ID.
        var contents: [String] {
            switch self {
            case .edit: ["edited"]
            case .editTwice: ["edited again"]
            case .remove, .leave: []
            }
        }
    }

    private func window() -> SQLiteSessionStorage {
        SQLiteSessionStorage(history: history, userId: "ann", agentId: "ui")
    }

    private func message(_ text: String, agent: String, in session: String = "s") async throws {
        try await history.append(
            [ConversationMessage(id: answer.id.uuidString, role: .assistant, text: text)],
            to: Scope(userId: "ann", sessionId: session, agentId: agent))
    }

    private func contents(_ session: String = "s") async throws -> [String] {
        try await window().getSession(id: session)?.messages.map(\.content).sorted() ?? []
    }

    /// Saves a transcript with a change to one entry.
    private func save(
        _ change: Change, of id: UUID, in transcript: [ChatMessage], by window: SQLiteSessionStorage,
        to session: String = "s"
    ) async throws {
        var transcript = transcript
        guard let index = transcript.firstIndex(where: { $0.id == id }) else { return }
        switch change {
        case .edit, .editTwice: transcript[index].content = "edited"
        case .remove: transcript.remove(at: index)
        case .leave: transcript.append(ChatMessage(role: .user, content: "next"))
        }
        try await window.updateSessionMessages(id: session, messages: transcript)
        guard change == .editTwice else { return }
        transcript[index].content = "edited again"
        try await window.updateSessionMessages(id: session, messages: transcript)
    }

    @Test(
        "After a merge, an entry belongs to its own message, though the other session had its ID",
        arguments: Change.allCases, [false, true])
    func merged(_ change: Change, isCompact: Bool) async throws {
        let own = window()
        let transcript = [question, answer]
        try await own.updateSessionMessages(id: "s", messages: transcript)
        try await own.fork("s", at: answer.id, into: "t")
        let other = window()
        var theirs = try #require(try await other.getSession(id: "t")).messages
        theirs[1].content = "important"
        try await other.updateSessionMessages(id: "t", messages: theirs)
        if isCompact {
            for number in 0...KnownTranscripts.limit {
                _ = try await own.updateSessionMessages(id: "\(number)", messages: [])
            }
        }
        try await own.updateSessionId(oldId: "s", newId: "t")
        try await save(change, of: answer.id, in: transcript, by: own, to: "t")
        let ours = change == .leave ? ["first answer", "next"] : change.contents
        #expect(try await contents("t") == (ours + ["important", "question"]).sorted())
    }

    @Test("An entry of a deleted message leaves another agent's message with its ID", arguments: Change.allCases)
    func sharedID(_ change: Change) async throws {
        let own = window()
        try await message("first answer", agent: "a")
        let transcript = try #require(try await own.getSession(id: "s")).messages
        try await message("important", agent: "b")
        let other = window()
        let all = try #require(try await other.getSession(id: "s")).messages
        try await other.updateSessionMessages(id: "s", messages: all.filter { $0.content != "first answer" })
        try await save(change, of: answer.id, in: transcript, by: own)
        #expect(try await contents() == (change.contents + ["important"] + (change == .leave ? ["next"] : [])).sorted())
        #expect(try await history.check().problems.isEmpty)
    }

    @Test("An entry of a message replaced by a restored branch leaves the restored one", arguments: Change.allCases)
    func restored(_ change: Change) async throws {
        let own = window()
        try await own.updateSessionMessages(id: "s", messages: [question, answer])
        let branch = try await own.branch("s", from: answer.id)
        try await message("second answer", agent: "ui")
        let transcript = try #require(try await own.getSession(id: "s")).messages
        try await own.restoreBranch(branch, in: "s")
        try await save(change, of: answer.id, in: transcript, by: own)
        let ours = change == .leave ? ["next"] : change.contents
        #expect(try await contents() == (ours + ["first answer", "question"]).sorted())
    }

    @Test("The entry of a streaming reply leaves another message that has its ID after a merge")
    func streaming() async throws {
        let own = window()
        try await own.updateSessionMessages(id: "s", messages: [question])
        try await message("important", agent: "ui", in: "t")
        var entry = ChatMessage(id: answer.id, role: .assistant, content: "")
        let reply = try await own.beginReply(in: "s", entry)
        _ = try await own.getSession(id: "s")
        try await own.updateSessionId(oldId: "s", newId: "t")
        reply.append("words")
        entry.content = "words"
        try await own.updateSessionMessages(id: "t", messages: [question, entry])
        try await reply.finish()
        #expect(try await contents("t").contains("important"))
        #expect(try await contents("t").contains("words"))
    }

    @Test("Another message with the entry's ID and content is the entry's", arguments: [Change.edit, .remove])
    func sameContent(_ change: Change) async throws {
        let (own, other) = (window(), window())
        try await own.updateSessionMessages(id: "s", messages: [question, answer])
        _ = try await other.getSession(id: "s")
        try await other.updateSessionMessages(id: "s", messages: [question])
        try await other.updateSessionMessages(id: "s", messages: [question, answer])
        try await save(change, of: answer.id, in: [question, answer], by: own)
        #expect(try await contents() == (change.contents + ["question"]).sorted())
    }

    @Test("A window keeps the messages of its branch if another window has restored it")
    func restoredByAnotherWindow() async throws {
        let (own, other) = (window(), window())
        let later = ChatMessage(role: .user, content: "later")
        try await own.updateSessionMessages(id: "s", messages: [question, answer, later])
        let branch = try await own.branch("s", from: answer.id)
        try await other.restoreBranch(branch, in: "s")
        try await own.updateSessionMessages(id: "s", messages: [question])
        #expect(try await contents() == ["first answer", "later", "question"])
        // Entries shown again can be removed again.
        let all = try #require(try await own.getSession(id: "s")).messages
        #expect(all.count == 3)
        try await own.updateSessionMessages(id: "s", messages: [question])
        #expect(try await contents() == ["question"])
    }

    @Test("The first user message of a session is not one deleted by another window")
    func firstUserMessage() async throws {
        let (own, other) = (window(), window())
        let key = own.session("s")
        try await own.updateSessionMessages(id: "s", messages: [question, answer])
        _ = try await other.getSession(id: "s")
        try await other.updateSessionMessages(id: "s", messages: [answer])
        try await own.updateSessionMessages(id: "s", messages: [question, answer])
        #expect(try await history.session(key)?.firstMessage == nil)
        try await history.deleteMessages([answer.id.uuidString], in: key)
        try await own.updateSessionMessages(id: "s", messages: [question, answer])
        #expect(try await history.session(key)?.firstMessage == nil)
        #expect(try await contents().isEmpty)
    }

    @Test("A window without tools leaves the tool calls of a finished reply", arguments: [0, 1, 2])
    func tools(way: Int) async throws {
        let own = window()
        let scope = own.session("s").scope(agentId: "ui")
        try await own.updateSessionMessages(id: "s", messages: [question])
        let reply = try await history.beginReply(
            ConversationMessage(id: answer.id.uuidString, role: .assistant, text: "Let me look. "), in: scope)
        var transcript = try #require(try await own.getSession(id: "s")).messages
        #expect(transcript.count == 2)
        if way == 0 { transcript.removeLast() }
        if way == 1 {
            transcript[1].isComplete = true
            try await own.updateSessionMessages(id: "s", messages: transcript)
        }
        reply.append(.toolCall(id: "c", name: "weather", arguments: [:]))
        reply.append(.toolResult(id: "c", content: "clear sky"))
        reply.append("Clear.")
        try await reply.finish()
        let whole = try await history.message(answer.id.uuidString, in: scope.session)?.message.parts
        // The text last shown or saved, a late increment, the whole text, and another one.
        for text in (way == 0 ? [] : ["Let me look. "]) + ["Let me look. Clear.", "Edited."] {
            let entry = ChatMessage(id: answer.id, role: .assistant, content: text)
            if transcript.count == 1 { transcript.append(entry) } else { transcript[1] = entry }
            try await own.updateSessionMessages(id: "s", messages: transcript)
            let parts = try await history.message(answer.id.uuidString, in: scope.session)?.message.parts ?? []
            if text == "Edited." {
                #expect(parts.map(\.text) == ["Edited.", nil, nil])
            } else {
                #expect(parts == whole)
            }
        }
        #expect(try await history.session(scope.session)?.messageCount == 2)
    }

    @Test("A window without tools keeps a reply that another part of the app has read in full")
    func toolsShown() async throws {
        let own = window()
        let scope = own.session("s").scope(agentId: "ui")
        try await own.updateSessionMessages(id: "s", messages: [question])
        let reply = try await history.beginReply(
            ConversationMessage(id: answer.id.uuidString, role: .assistant, text: "Let me look. "), in: scope)
        reply.append(.toolCall(id: "c", name: "weather", arguments: [:]))
        reply.append("Clear.")
        try await reply.finish()
        #expect(try await own.getSession(id: "s")?.messages.count == 4)
        for text in ["Let me look. Clear.", "Edited."] {
            let entry = ChatMessage(id: answer.id, role: .assistant, content: text)
            try await own.updateSessionMessages(id: "s", messages: [question, entry])
            let parts = try await history.message(answer.id.uuidString, in: scope.session)?.message.parts ?? []
            #expect(parts.compactMap(\.text).joined() == text)
            #expect(parts.contains { $0.belongsToToolExchange })
        }
    }

    @Test(
        "A window's text of a reply leaves its attachments, its metadata, and its later text", arguments: [false, true])
    func fieldsOfReply(isShown: Bool) async throws {
        let own = window()
        let scope = own.session("s").scope(agentId: "ui")
        var entry = ChatMessage(id: answer.id, role: .assistant, content: "Here", isComplete: false)
        let reply = try await own.beginReply(in: "s", entry)
        try await own.updateSessionMessages(id: "s", messages: [question, entry])
        if isShown { _ = try await own.getSession(id: "s") }
        let whole = ConversationMessage(
            id: answer.id.uuidString, role: .assistant,
            parts: [
                .text("Here it is."), .attachment(Attachment(mediaType: "image/png", content: .inline(Data([1, 2])))),
            ], metadata: ["model": "m"])
        try await reply.finish(whole)
        entry.content = "Here it"
        try await own.updateSessionMessages(id: "s", messages: [question, entry])
        #expect(try await history.message(whole.id, in: scope.session)?.message.text == "Here it is.")
        entry.content = "Here it is."
        entry.isComplete = true
        try await own.updateSessionMessages(id: "s", messages: [question, entry])
        let message = try #require(try await history.message(whole.id, in: scope.session)).message
        #expect(message.text == "Here it is.")
        #expect(message.parts.contains { $0.attachment != nil })
        #expect(message.metadata["model"] == "m")
        // Removed by the window that shows it.
        var shown = try #require(try await own.getSession(id: "s")).messages
        #expect(shown[1].attachments.count == 1)
        shown[1].attachments = []
        try await own.updateSessionMessages(id: "s", messages: shown)
        #expect(try await own.getSession(id: "s")?.messages[1].attachments.isEmpty == true)
    }

    @Test("After a merge, a transcript of one session removes no message of the other", arguments: [0, 1, 2])
    func mergedTranscripts(way: Int) async throws {
        let own = window()
        let (first, second) = ([question, answer], [ChatMessage(role: .user, content: "other"), later])
        try await own.updateSessionMessages(id: "t", messages: first)
        if way == 0 {
            try await own.saveSession(id: "s", firstMessage: "other")
        } else {
            try await own.updateSessionMessages(id: "s", messages: second)
        }
        try await own.updateSessionId(oldId: "s", newId: "t")
        try await own.updateSessionMessages(id: "t", messages: way == 2 ? first : second)
        #expect(try await contents("t") == (first + second).map(\.content).sorted())
        guard way == 1 else { return }
        try await own.updateSessionMessages(id: "t", messages: first)
        #expect(try await contents("t") == (first + second).map(\.content).sorted())
        // A removal from the transcript saved last.
        try await own.updateSessionMessages(id: "t", messages: [answer])
        #expect(try await contents("t") == ["first answer", "later", "other"])
    }

    private let later = ChatMessage(role: .user, content: "later")

    @Test("The entry of a streaming reply is its message after a merge")
    func streamingThroughMerge() async throws {
        let own = window()
        try await own.updateSessionMessages(id: "s", messages: [question])
        try await own.updateSessionMessages(id: "t", messages: [later])
        var entry = ChatMessage(role: .assistant, content: "part one", isComplete: false)
        let reply = try await own.beginReply(in: "s", entry)
        try await own.updateSessionMessages(id: "s", messages: [question, entry])
        try await own.updateSessionId(oldId: "s", newId: "t")
        reply.append(", part two")
        try await reply.finish()
        entry.content = "part one, part two"
        entry.isComplete = true
        try await own.updateSessionMessages(id: "t", messages: [question, entry])
        #expect(try await contents("t") == ["later", "part one, part two", "question"])
    }

    @Test(
        "A transcript saved during a deletion of its session is saved again by the next save", arguments: [false, true])
    func deletedMeanwhile(isUser: Bool) async throws {
        for _ in 0..<20 {
            let own = window()
            async let saved: Void = own.updateSessionMessages(id: "s", messages: [question, answer])
            async let deleted: Void = isUser ? own.deleteAllSessions() : own.deleteSession(id: "s")
            _ = try await (saved, deleted)
            try await own.updateSessionMessages(id: "s", messages: [question, answer])
            #expect(try await contents() == ["first answer", "question"])
            try await own.deleteSession(id: "s")
        }
    }

    @Test("The messages of many entries are found in the compact form, too")
    func compact() {
        let messages = Dictionary(
            uniqueKeysWithValues: (1...1000).map { number in
                (UUID(), EntryMessages.Message(SequenceNumber(rawValue: number), isAlone: number % 2 == 0))
            })
        #expect(MemoryLayout<(UUID, EntryMessages.Message)>.stride == 24)
        let entries = EntryMessages(messages)
        entries.compact()
        #expect(messages.allSatisfy { entries[$0.key] == $0.value })
        #expect(entries[UUID()] == nil)
        let (gone, new) = (messages.keys.first ?? UUID(), UUID())
        entries.update(with: [gone: nil, new: EntryMessages.Message(SequenceNumber(rawValue: 7), isAlone: true)])
        entries.compact()
        #expect(entries[gone] == nil)
        #expect(entries[new]?.sequence.rawValue == 7)
        #expect(entries[new]?.isAlone == true)
    }
}
