import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Two views of one history. A UI lists sessions saved by an orchestrator, and agents get messages saved by a UI.
@Suite("Chat storage and session storage over one history") struct TwoViewsTests {
    private let folder: TemporaryFolder
    private let history: SQLiteHistoryStore
    private let chat: DeviceChatStorage
    private let sessions: SQLiteSessionStorage

    init() throws {
        folder = try TemporaryFolder()
        history = folder.history()
        chat = DeviceChatStorage(history: history, userId: "ann")
        sessions = SQLiteSessionStorage(history: history, userId: "ann", agentId: "helper")
    }

    private func save(_ messages: [ConversationMessage], agent: String = "helper") async throws {
        try await chat.saveMessages(messages, userId: "ann", sessionId: "s", agentId: agent, maxMessages: nil)
    }

    private func window(_ agent: String = "helper") async throws -> [ConversationMessage] {
        try await chat.fetch(userId: "ann", sessionId: "s", agentId: agent, maxMessages: nil)
    }

    @Test("The first user message is complete and taken from the first transcript that contains one")
    func firstUserMessage() async throws {
        let history = SQLiteHistoryStore.inMemory()
        let sessions = SQLiteSessionStorage(history: history, userId: "u", agentId: "a")
        let text = "a\u{0}b  c\n" + String(repeating: "long ", count: 100)
        let transcript = [ChatMessage(role: .assistant, content: "hi"), ChatMessage(role: .user, content: text)]
        try await sessions.updateSessionMessages(id: "made", messages: transcript)
        try await sessions.updateSessionMessages(id: "empty", messages: [])
        #expect(try await sessions.getSession(id: "empty")?.firstUserMessage == "")
        try await sessions.updateSessionMessages(id: "empty", messages: transcript)
        for id in ["made", "empty"] {
            let other = [ChatMessage(role: .user, content: "other")]
            try await sessions.updateSessionMessages(id: id, messages: other + transcript)
            #expect(try await sessions.getSession(id: id)?.firstUserMessage == text)
        }
        #expect(try await sessions.getAllSessions().map(\.firstUserMessage) == [text, text])
    }

    @Test("A session saved by agents is listed and shown without further code")
    func savedByAgents() async throws {
        try await save([ConversationMessage(role: .user, text: "Where is\nthe lamp?")])
        try await save(
            [
                ConversationMessage(
                    id: "not a UUID", role: .assistant,
                    parts: [
                        .thinking("the lamp…", signature: "sig"), .text("Let me see."),
                        .toolCall(id: "call 1", name: "look", arguments: ["place": "tower", "deep": ["a": 1]]),
                    ])
            ])
        try await save([
            ConversationMessage(role: .tool, parts: [.toolResult(id: "call 1", content: "in the tower")]),
            ConversationMessage(role: .assistant, text: "In the tower."),
        ])
        try await save([ConversationMessage(role: .assistant, text: "I agree.")], agent: "other")

        let listed = try #require(try await sessions.getAllSessions().first)
        #expect(listed.firstUserMessage == "Where is the lamp?")
        #expect(listed.title == "Where is the lamp?")
        let shown = try #require(try await sessions.getSession(id: "s"))
        #expect(shown == listed)
        #expect(
            shown.messages.map(\.messageType) == [.text, .thinking, .text, .toolUse, .toolResult, .text, .text])
        #expect(shown.messages.map(\.content).contains("I agree."))
        #expect(shown.messages[3].toolName == "look")
        #expect(shown.messages[3].toolInputData?.parameters["place"] == "tower")

        let before = try await window()
        try await sessions.updateSessionMessages(id: "s", messages: shown.messages)
        #expect(try await window() == before, "saving what was read changes nothing")
        try await SQLiteSessionStorage(history: history, userId: "ann").updateSessionMessages(
            id: "s", messages: shown.messages)
        #expect(try await window() == before, "saving by a storage that has not read it changes nothing, either")
        #expect(try await history.session(sessions.session("s"))?.agentIds == ["helper", "other"])
    }

    @Test("Messages read only by a list are not removed by the next save of an older transcript")
    func listBesideWindow() async throws {
        try await save([ConversationMessage(role: .user, text: "one")])
        try await save([ConversationMessage(role: .assistant, text: "two")])
        let window = try #require(try await sessions.getSession(id: "s")).messages
        try await save([ConversationMessage(role: .user, text: "three")])
        try await save([ConversationMessage(role: .assistant, text: "four")])
        #expect(try await sessions.getAllSessions().map(\.messages.count) == [4])
        try await sessions.updateSessionMessages(
            id: "s", messages: window + [ChatMessage(role: .user, content: "five")])
        let texts = try #require(try await sessions.getSession(id: "s")).messages.map(\.content)
        #expect(Set(texts) == ["one", "two", "three", "four", "five"])
    }

    @Test("Saving a merged session's transcript under the new session ID removes no message of that session")
    func mergedBesideWindow() async throws {
        try await save([ConversationMessage(role: .user, text: "old")])
        let window = try #require(try await sessions.getSession(id: "s")).messages
        try await sessions.updateSessionMessages(id: "t", messages: [ChatMessage(role: .user, content: "new")])
        _ = try await sessions.getSession(id: "t")
        try await sessions.updateSessionId(oldId: "s", newId: "t")
        try await sessions.updateSessionMessages(
            id: "t", messages: window + [ChatMessage(role: .user, content: "more")])
        let texts = try #require(try await sessions.getSession(id: "t")).messages.map(\.content)
        #expect(Set(texts) == ["old", "new", "more"])
    }

    @Test("A move of a session that another window has moved already removes no message of the new session")
    func movedByAnotherWindow() async throws {
        let first = ChatMessage(role: .user, content: "old")
        try await sessions.updateSessionMessages(id: "s", messages: [first])
        try await sessions.updateSessionMessages(id: "t", messages: [ChatMessage(role: .user, content: "new")])
        let window = try #require(try await sessions.getSession(id: "t")).messages
        let other = SQLiteSessionStorage(history: history, userId: "ann", agentId: "ui")
        try await other.updateSessionId(oldId: "s", newId: "t")
        try await sessions.updateSessionId(oldId: "s", newId: "t")
        try await sessions.updateSessionMessages(
            id: "t", messages: window + [ChatMessage(role: .user, content: "more")])
        let texts = try #require(try await sessions.getSession(id: "t")).messages.map(\.content)
        #expect(texts == ["old", "new", "more"])
    }

    @Test("Saving a page with one more entry removes no messages read by a list")
    func listBesidePage() async throws {
        for number in 0..<12 {
            try await save([ConversationMessage(role: number % 2 == 0 ? .user : .assistant, text: "\(number)")])
        }
        _ = try await sessions.getAllSessions().map(\.messages)
        let page = try await sessions.messages(in: "s", page: PageRequest(limit: 4, before: nil)).elements
        try await sessions.updateSessionMessages(id: "s", messages: page + [ChatMessage(role: .user, content: "new")])
        #expect(try await sessions.getSession(id: "s")?.messages.count == 13)
    }

    @Test("An agent continues a session saved by a UI, with complete tool exchanges")
    func savedByTheUI() async throws {
        try await sessions.saveSession(id: "s", firstMessage: "Hello")
        var transcript = [
            ChatMessage(role: .user, content: "Hello"),
            ChatMessage(
                role: .toolUse, content: "", messageType: .toolUse, toolName: "read",
                toolInputData: ToolInputData(parameters: ["file": "a.txt"])),
            ChatMessage(
                role: .toolUse, content: "", messageType: .toolUse, toolName: "read",
                toolInputData: ToolInputData(parameters: ["file": "b.txt"])),
            ChatMessage(role: .toolResult, content: "A", messageType: .toolResult, toolName: "read"),
            ChatMessage(role: .toolError, content: "no b", messageType: .toolError, toolName: "read", isError: true),
            ChatMessage(role: .assistant, content: "It says A."),
        ]
        try await sessions.updateSessionMessages(id: "s", messages: transcript)
        let given = try await window()
        #expect(given.wholeExchanges() == given, "every call has its result")
        #expect(given.map(\.role) == [.user, .assistant, .assistant, .tool, .tool, .assistant])
        let calls = given.flatMap(\.parts).compactMap { part -> String? in
            if case .toolCall(let id, _, _) = part { return id }
            return nil
        }
        let results = given.flatMap(\.parts).compactMap { part -> String? in
            if case .toolResult(let id, _) = part { return id }
            return nil
        }
        #expect(calls == results && Set(calls).count == 2, "results are in the order of the calls")

        try await save([ConversationMessage(role: .user, text: "And b?")])
        try await save([ConversationMessage(role: .assistant, text: "There is none.")])
        // The UI has not shown these messages, so its next save leaves them unchanged.
        transcript[5].content = "It says A!"
        try await sessions.updateSessionMessages(id: "s", messages: transcript)
        let shown = try #require(try await sessions.getSession(id: "s")).messages
        #expect(shown.map(\.content) == ["Hello", "", "", "A", "no b", "It says A!", "And b?", "There is none."])
        // Now it has shown them, so its next save can remove the last one.
        try await sessions.updateSessionMessages(id: "s", messages: Array(shown.dropLast()))
        #expect(try await window().last?.text == "And b?")
    }

    @Test("Removing or editing one entry of a message leaves its other parts unchanged")
    func partsOfMessages() async throws {
        let message = ConversationMessage(
            id: "several", role: .assistant,
            parts: [.thinking("hm", signature: "sig"), .text("one"), .text("two")], metadata: ["model": "m"])
        try await save([ConversationMessage(role: .user, text: "count")])
        try await save([message])
        var shown = try #require(try await sessions.getSession(id: "s")).messages
        #expect(shown.count == 4)
        shown[2].content = "ONE"
        try await sessions.updateSessionMessages(id: "s", messages: shown)
        #expect(
            try await window().last?.parts == [.thinking("hm", signature: "sig"), .text("ONE"), .text("two")])
        shown.remove(at: 1)
        try await sessions.updateSessionMessages(id: "s", messages: shown)
        #expect(try await window().last?.parts == [.text("ONE"), .text("two")])
        shown.removeLast(2)
        try await sessions.updateSessionMessages(id: "s", messages: shown)
        #expect(try await window().map(\.text) == ["count"])
    }

    @Test("An entry that became a message of its own is shown and saved separately from its former message")
    func entriesOfOneId() async throws {
        let message = ConversationMessage(id: "m", role: .user, text: "as it was")
        try await save([message])
        var shown = try #require(try await sessions.getSession(id: "s")).messages
        let branch = try await history.branch(sessions.session("s"), from: "m")
        shown[0].content = "as it was edited"
        try await sessions.updateSessionMessages(id: "s", messages: shown)
        try await history.append(
            [ConversationMessage(role: .assistant, text: "between")],
            to: sessions.session("s").scope(agentId: "helper"))
        try await history.deleteSession(branch)
        try await history.append([message], to: sessions.session("s").scope(agentId: "helper"))
        let texts = ["as it was edited", "between", "as it was"]
        for storage in [sessions, SQLiteSessionStorage(history: history, userId: "ann")] {
            shown = try #require(try await storage.getSession(id: "s")).messages
            #expect(shown.map(\.content) == texts)
            #expect(Set(shown.map(\.id)).count == 3)
            shown[0].metadata["seen"] = true
            shown[2].metadata["seen"] = .bool(storage === sessions)
            try await storage.updateSessionMessages(id: "s", messages: shown)
            #expect(try await window().map(\.text) == texts)
            // A new storage identifies them only by their IDs.
            try await SQLiteSessionStorage(history: history, userId: "ann").updateSessionMessages(
                id: "s", messages: shown)
            #expect(try await window().map(\.text) == texts)
        }
        try await sessions.updateSessionMessages(
            id: "s", messages: Array(try #require(try await sessions.getSession(id: "s")).messages.dropFirst()))
        #expect(try await window().map(\.text) == ["between", "as it was"])
    }

    @Test("An edited entry replaces the text of its message if the message was given several parts meanwhile")
    func editedToSeveralParts() async throws {
        var entry = ChatMessage(role: .user, content: "one")
        try await sessions.updateSessionMessages(id: "s", messages: [entry])
        let several = ConversationMessage(
            id: entry.id.uuidString, role: .user,
            parts: [.text("tw"), .thinking("hm", signature: nil), .text("o")])
        try await history.edit([several], in: sessions.session("s"))
        // The UI shows the message as one entry.
        for text in ["two", "three", "four"] {
            entry.content = text
            try await sessions.updateSessionMessages(id: "s", messages: [entry])
            let parts = try await window().map(\.parts)
            #expect(parts == [text == "two" ? several.parts : [.text(text), .thinking("hm", signature: nil)]])
        }
        #expect(try await history.session(sessions.session("s"))?.messageCount == 1)
        #expect(try await sessions.getSession(id: "s")?.messages.map(\.content) == ["four", "hm"])
    }

    @Test("A streaming reply is the last entry, and a save by the UI does not duplicate it")
    func replyInFlight() async throws {
        let question = ChatMessage(role: .user, content: "Tell me.")
        try await sessions.updateSessionMessages(id: "s", messages: [question])
        let reply = try await sessions.beginReply(in: "s")
        reply.append("Once upon")
        var shown = try #require(try await sessions.getSession(id: "s")).messages
        #expect(shown.count == 2)
        #expect(!shown[1].isComplete)
        #expect(shown[1].id.uuidString == reply.id)
        try await sessions.updateSessionMessages(id: "s", messages: shown)
        try await SQLiteSessionStorage(history: history, userId: "ann").updateSessionMessages(id: "s", messages: shown)
        #expect(try await window().count == 1, "windows contain no streaming replies")
        reply.append(" a time.")
        try await reply.finish()
        shown = try #require(try await sessions.getSession(id: "s")).messages
        #expect(shown.map(\.content) == ["Tell me.", "Once upon a time."])
        #expect(shown.map(\.isComplete) == [true, true])
    }

    @Test("Deleting a session permanently deletes its messages, attachments, search entries and branches")
    func deletion() async throws {
        let picture = Attachment(mediaType: "image/png", name: "p.png", content: .inline(Data("a picture".utf8)))
        let message = ChatMessage(role: .user, content: "xylophone", attachments: [picture])
        try await sessions.saveSession(id: "s", firstMessage: "xylophone")
        try await sessions.updateSessionMessages(
            id: "s", messages: [message, ChatMessage(role: .assistant, content: "glockenspiel")])
        #expect(try await sessions.getSession(id: "s")?.messages.first?.attachments == [picture])
        let hash = Attachment.sha256(of: Data("a picture".utf8))
        #expect(try await history.attachment(sha256: hash, userId: "ann") == Data("a picture".utf8))
        let reply = try #require(try await sessions.getSession(id: "s")).messages[1].id.uuidString
        _ = try await history.branch(sessions.session("s"), from: reply)

        try await sessions.deleteSession(id: "s")
        #expect(try await sessions.getAllSessions().isEmpty)
        #expect(try await sessions.getSession(id: "s") == nil)
        for word in ["xylophone", "glockenspiel"] {
            #expect(try await history.search(SearchQuery(userId: "ann", text: word)).elements.isEmpty)
        }
        await expectError(.notFound) { _ = try await history.attachment(sha256: hash, userId: "ann") }
        #expect(try await history.erasesAll())
        await history.close()
        for name in try folder.names where name.hasPrefix("history.sqlite") {
            let bytes = try Data(contentsOf: folder.file(name))
            #expect(bytes.range(of: Data("xylophone".utf8)) == nil, "\(name)")
            #expect(bytes.range(of: Data("glockenspiel".utf8)) == nil, "\(name)")
        }
    }

    @Test("Listing reads no messages, and a session's messages are read on first access")
    func listing() async throws {
        try await save(messages(0..<4))
        let listed = try #require(try await sessions.getAllSessions().first)
        try await save(messages(4..<6))
        #expect(listed.messages.count == 6)
        let read = try await sessions.getSession(id: "s")
        #expect(listed.messages == read?.messages)
    }

    @Test("A database is created at a custom path, and a foreign database is left unchanged")
    func databasePath() async throws {
        let path = folder.file("sub/chats.sqlite").path
        let storage = try SQLiteSessionStorage(databasePath: path)
        try await storage.updateSessionMessages(
            id: "s",
            messages: [
                ChatMessage(
                    role: .user, content: "hi",
                    attachments: [Attachment(mediaType: "text/plain", content: .inline(Data("a".utf8)))])
            ])
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(FileManager.default.fileExists(atPath: path + ".attachments"))
        let other = try SQLiteSessionStorage(databasePath: folder.file("sub/other.sqlite").path)
        #expect(try await other.getAllSessions().isEmpty)

        let foreign = folder.file("foreign.sqlite")
        try Data("SQLite format 3\u{0}".utf8 + [UInt8](repeating: 0, count: 4096)).write(to: foreign)
        let before = try Data(contentsOf: foreign)
        await expectError(.foreignStore) {
            try await SQLiteSessionStorage(databasePath: foreign.path).saveSession(id: "s", firstMessage: "hi")
        }
        #expect(try Data(contentsOf: foreign) == before)
    }

    @Test("A foreign file that is not a database is always refused and never set aside")
    func foreignFile() async throws {
        let diary = folder.file("diary/today.sqlite")
        try FileManager.default.createDirectory(
            at: diary.deletingLastPathComponent(), withIntermediateDirectories: false)
        try Data("Dear diary".utf8).write(to: diary)
        for _ in 0..<2 {
            let storage = try SQLiteSessionStorage(databasePath: diary.path)
            await expectError(.foreignStore) { try await storage.saveSession(id: "s", firstMessage: "hi") }
            await expectError(.foreignStore) { try await storage.deleteAllSessions() }
        }
        #expect(try String(contentsOf: diary, encoding: .utf8) == "Dear diary")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: diary.deletingLastPathComponent().path)
                == ["today.sqlite"])
    }

    @Test("A database with a custom name and damaged first bytes is salvaged under that name")
    func damagedUnderItsName() async throws {
        let file = folder.file("own/chats.sqlite")
        let storage = try SQLiteSessionStorage(databasePath: file.path)
        try await storage.updateSessionMessages(id: "s", messages: [ChatMessage(role: .user, content: "hi")])
        await storage.history.close()
        var bytes = try Data(contentsOf: file)
        bytes.replaceSubrange(0..<60, with: Data(repeating: 0, count: 60))
        try bytes.write(to: file)
        let again = try SQLiteSessionStorage(databasePath: file.path)
        #expect(try await again.getSession(id: "s")?.messages.map(\.content) == ["hi"])
    }

    @Test("A damaged attachment hides nothing else in its session")
    func damagedAttachment() async throws {
        let attachment = Attachment(mediaType: "a/b", content: .inline(Data([1, 2, 3])))
        try await sessions.updateSessionMessages(
            id: "s",
            messages: [
                ChatMessage(role: .user, content: "see", attachments: [attachment]),
                ChatMessage(role: .assistant, content: "nice"),
            ])
        let hash = Attachment.sha256(of: Data([1, 2, 3]))
        try Data([1, 2, 4]).write(to: folder.file("attachments/\(hash.prefix(2))/\(hash)"))
        let read = try #require(try await sessions.getSession(id: "s"))
        #expect(read.messages.map(\.content) == ["see", "nice"])
        #expect(read.messages[0].attachments.map(\.content) == [.stored(sha256: hash, byteCount: 3)])
        #expect(try await sessions.getAllSessions().first?.messages == read.messages)
        await expectError(.damaged) { _ = try await history.attachment(sha256: hash, userId: "ann") }
        // A later save by the UI keeps the hash of the bytes, so that they are found again after a restore.
        try await sessions.updateSessionMessages(
            id: "s", messages: read.messages + [ChatMessage(role: .user, content: "more")])
        try Data([1, 2, 3]).write(to: folder.file("attachments/\(hash.prefix(2))/\(hash)"))
        #expect(try await sessions.getSession(id: "s")?.messages.first?.attachments == [attachment])
    }

    @Test("The retention time also applies to messages saved only by a UI")
    func retention() async throws {
        let history = SQLiteHistoryStore(
            directory: folder.file("kept"), configuration: HistoryConfiguration(retention: .days(7)))
        let sessions = SQLiteSessionStorage(history: history, userId: "ann")
        var transcript = [
            ChatMessage(role: .user, content: "old", timestamp: Date(timeIntervalSinceNow: -8 * 86_400)),
            ChatMessage(role: .assistant, content: "new"),
        ]
        try await sessions.updateSessionMessages(id: "s", messages: transcript)
        _ = try await history.expireNow()
        // The first clock of a history must persist for a day.
        _ = try await history.expireNow(
            now: Date(timeIntervalSinceNow: 86_400 * 1.01), uptime: ClockWatch.uptime + 87_264_000)
        #expect(try await sessions.getSession(id: "s")?.messages.map(\.content) == ["new"])
        transcript.append(ChatMessage(role: .user, content: "newer"))
        transcript.removeFirst()
        try await sessions.updateSessionMessages(id: "s", messages: transcript)
        #expect(try await sessions.getSession(id: "s")?.messages.map(\.content) == ["new", "newer"])
    }

    @Test("A reply that begins with a UI's placeholder is complete when it is finished", arguments: [false, true])
    func placeholder(savesEachPiece: Bool) async throws {
        let question = ChatMessage(role: .user, content: "q")
        var shown = ChatMessage(role: .assistant, content: "", isComplete: false)
        try await sessions.updateSessionMessages(id: "s", messages: [question])
        let reply = try await sessions.beginReply(in: "s", shown)
        for piece in ["one ", "two"] {
            reply.append(piece)
            shown.content += piece
            if savesEachPiece { try await sessions.updateSessionMessages(id: "s", messages: [question, shown]) }
        }
        #expect(try await sessions.getSession(id: "s")?.messages.last?.isComplete == false)
        try await reply.finish()
        let last = try #require(try await sessions.getSession(id: "s")?.messages.last)
        #expect(last.content == "one two" && last.isComplete && !last.wasCancelled)
    }

    @Test("Saving under the ID of a discarded session restores that session with all its messages")
    func savingToADiscarded() async throws {
        try await sessions.updateSessionMessages(id: "s", messages: [ChatMessage(role: .user, content: "before")])
        #expect(try await sessions.getSession(id: "s") != nil)
        try await history.discardSession(sessions.session("s"))
        #expect(try await sessions.getSession(id: "s") == nil)
        try await sessions.updateSessionMessages(id: "s", messages: [ChatMessage(role: .user, content: "after")])
        let contents = try await sessions.getSession(id: "s")?.messages.map(\.content) ?? []
        #expect(Set(contents) == ["before", "after"])
    }
}
