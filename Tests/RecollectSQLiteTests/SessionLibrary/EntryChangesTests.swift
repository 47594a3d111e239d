import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// A window changes an entry, and other writers have changed its message.
@Suite("Changes of an entry by a window and other writers") struct EntryChangesTests {
    private let history = memory()
    private static let session = SessionKey(userId: "ann", sessionId: "s")
    private static let scope = session.scope(agentId: "a")
    private static let call = ContentPart.toolCall(id: "c", name: "weather", arguments: [:])

    private func window() -> SQLiteSessionStorage {
        SQLiteSessionStorage(history: history, userId: "ann", agentId: "a")
    }

    private func entries() async throws -> [ChatMessage] {
        try #require(try await window().getSession(id: "s")).messages
    }

    /// Saves in the order of the calls of one actor.
    nonisolated(nonsending) private func save(
        _ messages: [ChatMessage], by window: SQLiteSessionStorage
    ) async throws {
        try await window.updateSessionMessages(id: "s", messages: messages)
    }

    /// Saves by another window, which has read the session.
    private func change(_ body: @Sendable (inout [ChatMessage]) -> Void) async throws {
        let other = window()
        var transcript = try #require(try await other.getSession(id: "s")).messages
        body(&transcript)
        try await save(transcript, by: other)
    }

    /// Makes a window know its session only by hashes.
    private func compact(_ window: SQLiteSessionStorage, _ isCompact: Bool = true) async throws {
        guard isCompact else { return }
        for number in 0...KnownTranscripts.limit {
            try await window.updateSessionMessages(id: "other \(number)", messages: [])
        }
    }

    private func file(_ name: String) -> RecollectCore.Attachment {
        Attachment(mediaType: "text/plain", name: name, content: .inline(Data(name.utf8)))
    }

    /// Begins a reply with an empty bubble.
    private func begin(by ui: SQLiteSessionStorage) async throws -> (ChatMessage, StreamingReply) {
        let bubble = ChatMessage(role: .assistant, content: "", isComplete: false)
        return (bubble, try await ui.beginReply(in: "s", bubble))
    }

    /// Saves a finished reply, and its bubble with the whole text, as a UI without tools shows it.
    private func finished(_ parts: [ContentPart], by ui: SQLiteSessionStorage) async throws -> ChatMessage {
        var (bubble, reply) = try await begin(by: ui)
        for part in parts { reply.append(part) }
        try await reply.finish()
        bubble.content = parts.compactMap(\.text).joined()
        bubble.isComplete = true
        try await save([bubble], by: ui)
        return bubble
    }

    /// Waits until the saved increment of the streaming reply has some parts.
    private func waitForIncrement(_ isSaved: ([ContentPart]) -> Bool) async throws {
        while try await !isSaved(history.streamingReplies(in: Self.session)[0].message.parts) {
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func text(_ contents: [ChatMessage]) -> [String] {
        contents.map { $0.messageType == .text || $0.messageType == .thinking ? $0.content : $0.toolName ?? "" }
    }

    // MARK: Replies without a text

    @Test(
        "An empty bubble becomes the entry of a tool call, which an agent has saved meanwhile",
        arguments: [false, true])
    func emptyBubbleOfCall(isStopped: Bool) async throws {
        let ui = window()
        let question = ChatMessage(role: .user, content: "Weather?")
        let bubble = ChatMessage(role: .assistant, content: "", isComplete: false)
        try await save([question], by: ui)
        let reply = try await history.beginReply(
            ConversationMessage(id: bubble.id.uuidString, role: .assistant, parts: []), in: Self.scope)
        try await save([question, bubble], by: ui)
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

    // MARK: Messages with more parts than shown

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

    @Test("A tool call is not replaced by the empty bubble of its reply, nor by a text", arguments: ["", "Weather:"])
    func callAlone(content: String) async throws {
        let ui = window()
        var (bubble, reply) = try await begin(by: ui)
        try await save([bubble], by: ui)
        reply.append(Self.call)
        try await reply.finish()
        bubble.isComplete = true
        bubble.content = content
        bubble.metadata["rating"] = 5
        try await save([bubble], by: ui)
        #expect(try await text(entries()).sorted() == [content, "weather"].filter { !$0.isEmpty })
        #expect(try await entries().last?.metadata["rating"] == 5)
    }

    @Test("A bubble edited after another window has removed the text beside a call becomes a message of its own")
    func callLeft() async throws {
        let ui = window()
        var bubble = try await finished([.text("answer"), Self.call], by: ui)
        try await change { $0.removeAll { $0.messageType == .text } }
        bubble.content = "edited"
        try await save([bubble], by: ui)
        #expect(try await text(entries()).sorted() == ["edited", "weather"])
    }

    @Test("The removal of a bubble leaves the tool call beside its text")
    func removedBubble() async throws {
        let ui = window()
        _ = try await finished([.text("one "), Self.call, .text("two")], by: ui)
        try await save([], by: ui)
        #expect(try await text(entries()) == ["weather"])
    }

    @Test("An edit of a shown text leaves the text added by an agent since", arguments: [false, true])
    func continued(isCompact: Bool) async throws {
        let ui = window()
        var bubble = ChatMessage(role: .assistant, content: "one")
        try await save([bubble], by: ui)
        var message = try #require(try await history.message(bubble.id.uuidString, in: Self.session)).message
        message.parts += [Self.call, .text("two")]
        _ = try await history.edit([message], in: Self.session)
        try await compact(ui, isCompact)
        bubble.content = "ONE"
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == ["ONE", "weather", "two"])
    }

    @Test(
        "The edit of an empty text leaves a text added by an agent since", arguments: [false, true],
        [(false, false), (true, false), (false, true)])
    func emptyText(isStreaming: Bool, variant: (isFirst: Bool, isCompact: Bool)) async throws {
        let (isFirst, isCompact) = variant
        let ui = window()
        var bubble = ChatMessage(role: .assistant, content: "", isComplete: !isStreaming)
        try await save([bubble], by: ui)
        var message = try #require(try await history.message(bubble.id.uuidString, in: Self.session)).message
        message.parts.insert(.text("new"), at: isFirst ? 0 : 1)
        _ = try await history.edit([message], in: Self.session)
        try await compact(ui, isCompact)
        bubble.content = "edited"
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == (isFirst ? ["new", "edited"] : ["edited", "new"]))
        bubble.isComplete = true
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == (isFirst ? ["new", "edited"] : ["edited", "new"]))
    }

    @Test("Parts of unknown types stay if the text beside them is edited")
    func unknownPart() async throws {
        let ui = window()
        var bubble = ChatMessage(role: .assistant, content: "answer")
        try await save([bubble], by: ui)
        var message = try #require(try await history.message(bubble.id.uuidString, in: Self.session)).message
        let unknown = ContentPart.unknown(["type": "citation", "url": "here"])
        message.parts.append(unknown)
        _ = try await history.edit([message], in: Self.session)
        bubble.content = "edited"
        try await save([bubble], by: ui)
        message = try #require(try await history.message(bubble.id.uuidString, in: Self.session)).message
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

    // MARK: Fields

    @Test("A change of the text leaves the attachments changed by another window", arguments: [false, true])
    func attachments(isCompact: Bool) async throws {
        let ui = window()
        var entry = ChatMessage(role: .user, content: "q", attachments: [file("one"), file("gone")])
        try await save([entry], by: ui)
        try await change {
            $0[0].attachments.remove(at: 1)
            $0[0].attachments.append(file("two"))
        }
        try await compact(ui, isCompact)
        entry.content = "edited"
        try await save([entry], by: ui)
        #expect(try await entries().map(\.content) == ["edited"])
        #expect(try await entries()[0].attachments == [file("one"), file("two")])
        guard !isCompact else { return }
        entry.attachments = [file("gone"), file("three")]
        try await save([entry], by: ui)
        #expect(try await entries()[0].attachments == [file("two"), file("three")])
    }

    @Test("Flags and metadata of several writers are merged, key by key")
    func flags() async throws {
        let ui = window()
        var entry = ChatMessage(role: .assistant, content: "x", metadata: ["k": 1, "old": 1])
        try await save([entry], by: ui)
        try await change {
            $0[0].isError = true
            $0[0].metadata["usage"] = 3
        }
        entry.content = "x2"
        entry.metadata = ["k": 1, "rating": 5]
        entry.isTaskContainer = true
        try await save([entry], by: ui)
        let saved = try await entries()[0]
        #expect(saved.content == "x2")
        #expect(saved.metadata == ["k": 1, "rating": 5, "usage": 3])
        #expect(saved.isError)
        #expect(saved.isTaskContainer)
    }

    @Test("A metadata key in another Unicode normalization is saved, and the keys of other writers stay")
    func normalizedKey() async throws {
        let ui = window()
        var entry = ChatMessage(role: .assistant, content: "x", metadata: ["caf\u{E9}": 1])
        try await save([entry], by: ui)
        try await change { $0[0].metadata["usage"] = 3 }
        entry.metadata = ["cafe\u{301}": 1]
        try await save([entry], by: ui)
        let keys = try await entries()[0].metadata.keys.map { Array($0.utf8) }
        #expect(Set(keys) == [Array("cafe\u{301}".utf8), Array("usage".utf8)])
    }

    @Test("A final bubble leaves the mark of an interruption")
    func interrupted() async throws {
        let ui = window()
        var (bubble, reply) = try await begin(by: ui)
        reply.append("half")
        bubble.content = "half"
        try await save([bubble], by: ui)
        try await reply.interrupt()
        bubble.isComplete = true
        try await save([bubble], by: ui)
        #expect(try await entries().map(\.wasCancelled) == [true])
    }

    @Test("Fields of a bubble beside tool parts are saved")
    func fieldsBesideTools() async throws {
        let ui = window()
        var bubble = try await finished([.text("answer"), Self.call], by: ui)
        bubble.attachments = [file("chart")]
        bubble.metadata = ["rating": 5]
        try await save([bubble], by: ui)
        let entries = try await entries()
        #expect(text(entries) == ["answer", "weather"])
        #expect(entries[0].attachments == [file("chart")])
        #expect(entries[0].metadata["rating"] == 5)
    }

    // MARK: Streaming replies

    @Test("The end of a reply keeps the fields of a bubble saved as complete", arguments: [false, true])
    func fieldsOfCompleteBubble(isInterrupted: Bool) async throws {
        let ui = window()
        var bubble = ChatMessage(role: .assistant, content: "", isComplete: false, metadata: ["model": "m"])
        let reply = try await ui.beginReply(in: "s", bubble)
        reply.append("text")
        bubble.content = "tex"
        bubble.isComplete = true
        bubble.attachments = [file("chart")]
        bubble.metadata["rating"] = 5
        try await save([bubble], by: ui)
        if isInterrupted { try await reply.interrupt() } else { try await reply.finish() }
        let entries = try await entries()
        #expect(entries.map(\.content) == ["text"])
        #expect(entries[0].attachments == [file("chart")])
        #expect(entries[0].metadata["rating"] == 5)
        #expect(entries[0].metadata["model"] == "m")
    }

    @Test("Fields of an incomplete bubble are saved with the final one", arguments: [false, true])
    func fieldsOfIncompleteBubble(isInterrupted: Bool) async throws {
        let ui = window()
        var bubble = ChatMessage(role: .assistant, content: "", isComplete: false, attachments: [file("ui")])
        let reply = try await ui.beginReply(in: "s", bubble)
        reply.append("text")
        bubble.metadata = ["rating": 5]
        bubble.content = "text"
        try await save([bubble], by: ui)
        reply.append(.attachment(file("model")))
        if isInterrupted { try await reply.interrupt() } else { try await reply.finish() }
        bubble.isComplete = true
        try await save([bubble], by: ui)
        let entries = try await entries()
        #expect(entries.map(\.content) == ["text"])
        #expect(Set(entries[0].attachments) == [file("ui"), file("model")])
        #expect(entries[0].metadata["rating"] == 5)
    }

    @Test("The text of an incomplete bubble is saved with its reply, and by the bubble itself")
    func textOfIncompleteBubble() async throws {
        let ui = window()
        var (bubble, reply) = try await begin(by: ui)
        reply.append("first ")
        bubble.content = "first second"
        try await save([bubble], by: ui)
        let saved = try await history.streamingReplies(in: Self.session)
        #expect(saved.map(\.message.text) == ["first second"])
        try await reply.interrupt()
        bubble.isComplete = true
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == ["first second"])
    }

    @Test("A text that a UI shortens while it streams the reply itself is saved", arguments: [false, true])
    func shortened(isCompact: Bool) async throws {
        let ui = window()
        var bubble = ChatMessage(role: .assistant, content: "half of it ▍", isComplete: false)
        try await save([bubble], by: ui)
        try await compact(ui, isCompact)
        bubble.content = "half of it"
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == ["half of it"])
        bubble.content = "half"
        bubble.isComplete = true
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == ["half"])
    }

    @Test("The end of a reply keeps its own attachments and metadata, though a UI has saved its bubble without them")
    func ownFields() async throws {
        let ui = window()
        let start = ConversationMessage(
            id: UUID().uuidString, role: .assistant, text: "", metadata: ["model": "m"])
        let reply = try await history.beginReply(start, in: Self.scope)
        reply.append("Here")
        reply.append(.attachment(file("chart")))
        try await waitForIncrement { $0.count >= 2 }
        let bubble = ChatMessage(
            id: try #require(UUID(uuidString: start.id)), role: .assistant, content: "Here", attachments: [file("ui")])
        try await save([bubble], by: ui)
        try await reply.finish()
        let entry = try #require(try await entries().first)
        #expect(Set(entry.attachments) == [file("chart"), file("ui")])
        #expect(entry.metadata["model"] == "m")
    }

    @Test("The end of a reply keeps the fields of a bubble stopped by the user", arguments: [false, true])
    func stopped(isInterrupted: Bool) async throws {
        let ui = window()
        let start = ConversationMessage(id: UUID().uuidString, role: .assistant, text: "")
        let reply = try await history.beginReply(start, in: Self.scope)
        reply.append("Hello world")
        let bubble = ChatMessage(
            id: try #require(UUID(uuidString: start.id)), role: .assistant, content: "Hello",
            attachments: [file("ui")], wasCancelled: true, metadata: ["stop": "user"])
        try await save([bubble], by: ui)
        if isInterrupted { try await reply.interrupt() } else { try await reply.finish() }
        let entries = try await entries()
        #expect(entries.map(\.content) == ["Hello world"])
        #expect(entries[0].attachments == [file("ui")])
        #expect(entries[0].metadata["stop"] == "user")
    }

    @Test("The end of a reply keeps the fields of a bubble without text, or of another kind than its beginning")
    func otherKind() async throws {
        let ui = window()
        let start = ConversationMessage(
            id: UUID().uuidString, role: .assistant, parts: [.thinking("Hm.", signature: nil)])
        let reply = try await history.beginReply(start, in: Self.scope)
        reply.append("Hello")
        var bubble = ChatMessage(
            id: try #require(UUID(uuidString: start.id)), role: .assistant, content: "", attachments: [file("ui")])
        try await save([bubble], by: ui)
        bubble.metadata["rating"] = 1
        try await save([bubble], by: ui)
        try await reply.finish()
        let entries = try await entries()
        #expect(text(entries) == ["Hm.", "Hello"])
        #expect(entries[1].attachments == [file("ui")])
        #expect(entries[1].metadata["rating"] == 1)
    }

    @Test("Flags and the task of an incomplete bubble are saved with the final one")
    func flagsOfIncompleteBubble() async throws {
        let ui = window()
        var (bubble, reply) = try await begin(by: ui)
        bubble.isTaskContainer = true
        bubble.taskGroupId = UUID()
        bubble.isError = true
        try await save([bubble], by: ui)
        reply.append("Done")
        try await reply.finish()
        bubble.content = "Done"
        bubble.isComplete = true
        try await save([bubble], by: ui)
        let entry = try #require(try await entries().first)
        #expect(entry.isTaskContainer && entry.isError && entry.taskGroupId == bubble.taskGroupId)
    }

    @Test(
        "A final bubble leaves what its reply has, and the bubble never had", arguments: [false, true], [false, true])
    func neverShown(isCall: Bool, isCompact: Bool) async throws {
        let ui = window()
        let start = ConversationMessage(
            id: UUID().uuidString, role: .assistant, text: "", metadata: ["model": "m"])
        let reply = try await history.beginReply(start, in: Self.scope)
        if !isCall { reply.append("Do") }
        reply.append(isCall ? Self.call : .attachment(file("chart")))
        try await waitForIncrement { $0.contains { $0.text == nil } }
        var bubble = ChatMessage(
            id: try #require(UUID(uuidString: start.id)), role: .assistant, content: isCall ? "" : "Do",
            isComplete: false)
        try await save([bubble], by: ui)
        try await compact(ui, isCompact)
        try await reply.finish()
        bubble.isComplete = true
        try await save([bubble], by: ui)
        let entries = try await entries()
        #expect(text(entries) == [isCall ? "weather" : "Do"])
        #expect(entries[0].attachments == (isCall ? [] : [file("chart")]))
        #expect(entries[0].metadata["model"] == "m")
    }

    @Test("A text that another window has marked as complete grows with the window that streams it")
    func late() async throws {
        let ui = window()
        var bubble = ChatMessage(role: .assistant, content: "A", isComplete: false)
        try await save([bubble], by: ui)
        try await change { $0[0].isComplete = true }
        bubble.content = "A B"
        try await save([bubble], by: ui)
        bubble.isComplete = true
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == ["A B"])
    }

    @Test("A text streamed by a window grows after another writer has added a part to it", arguments: [false, true])
    func partBesideGrowing(isFirst: Bool) async throws {
        let ui = window()
        var bubble = ChatMessage(role: .assistant, content: "A", isComplete: false)
        try await save([bubble], by: ui)
        let old = try #require(try await history.message(bubble.id.uuidString, in: Self.session)).message
        var new = old
        new.parts.insert(.text("Note."), at: isFirst ? 0 : 1)
        #expect(try await history.edit([MessageEdit(of: old, to: new)], in: Self.session).count == 1)
        bubble.content = "A B"
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == (isFirst ? ["Note.", "A B"] : ["A B", "Note."]))
    }

    @Test("The end of a part completed by another window is saved, whichever parts are complete", arguments: [0, 2])
    func latePart(index: Int) async throws {
        let message = ConversationMessage(
            id: UUID().uuidString, role: .assistant, parts: [.text("one"), Self.call, .text("two")])
        try await history.append([message], to: Self.scope)
        try await change { for index in $0.indices { $0[index].isComplete = false } }
        let ui = window()
        var transcript = try #require(try await ui.getSession(id: "s")).messages
        try await change { $0[index].isComplete = true }
        transcript[index].content += ", more"
        try await save(transcript, by: ui)
        transcript[index].isComplete = true
        try await save(transcript, by: ui)
        #expect(
            try await text(entries())
                == (index == 0 ? ["one, more", "weather", "two"] : ["one", "weather", "two, more"]))
    }

    @Test("A reply removed by its window is saved when the window brings it back", arguments: [false, true])
    func removedReplyUndone(isRead: Bool) async throws {
        let ui = window()
        let question = ChatMessage(role: .user, content: "Q")
        try await save([question], by: ui)
        var (bubble, reply) = try await begin(by: ui)
        reply.append("Answer")
        bubble.content = "Answer"
        try await save([question, bubble], by: ui)
        if isRead { _ = try await ui.getSession(id: "s") }
        try await reply.finish()
        try await save([question], by: ui)
        #expect(try await text(entries()) == ["Q"])
        try await save([question, bubble], by: ui)
        bubble.isComplete = true
        try await save([question, bubble], by: ui)
        #expect(try await text(entries()) == ["Q", "Answer"])
    }

    @Test("A late increment does not replace a reply that ended in other words")
    func lateInOtherWords() async throws {
        let ui = window()
        var (bubble, reply) = try await begin(by: ui)
        bubble.content = "Here"
        try await save([bubble], by: ui)
        try await reply.finish(ConversationMessage(id: reply.id, role: .assistant, text: "In other words."))
        bubble.content = "Here it"
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == ["In other words."])
    }

    @Test("The end of a reply keeps the fields of a bubble stopped before its text", arguments: [false, true])
    func stoppedBeforeText(isInterrupted: Bool) async throws {
        let ui = window()
        var (bubble, reply) = try await begin(by: ui)
        reply.append("Hello world")
        try await save([bubble], by: ui)
        bubble.isComplete = true
        bubble.wasCancelled = true
        bubble.metadata = ["stop": "user"]
        bubble.attachments = [file("ui")]
        try await save([bubble], by: ui)
        if isInterrupted { try await reply.interrupt() } else { try await reply.finish() }
        let entries = try await entries()
        #expect(text(entries) == ["Hello world"])
        #expect(entries[0].metadata["stop"] == "user")
        #expect(entries[0].attachments == [file("ui")])
    }

    @Test("A window opened during a reply with tools saves its entries once", arguments: [false, true])
    func openedDuringReply(isEarly: Bool) async throws {
        let ui = window()
        let start = ConversationMessage(id: "msg_01", role: .assistant, text: "Look. ")
        let reply = try await history.beginReply(start, in: Self.scope)
        reply.append(Self.call)
        reply.append("It ")
        try await waitForIncrement { $0.count >= 3 }
        var transcript = try #require(try await ui.getSession(id: "s")).messages
        #expect(text(transcript).count == 3)
        transcript[2].metadata["rating"] = 1
        if isEarly { try await save(transcript, by: ui) }
        reply.append("shines.")
        try await reply.finish()
        transcript[2].content = "It shines."
        transcript[2].isComplete = true
        try await save(transcript, by: ui)
        let entries = try await entries()
        #expect(text(entries) == ["Look. ", "weather", "It shines."])
        #expect(entries[2].metadata["rating"] == 1)
    }

    @Test("A stopped bubble leaves the text behind a tool call that it never had")
    func stoppedBeforeCall() async throws {
        let ui = window()
        var (bubble, reply) = try await begin(by: ui)
        reply.append("A")
        bubble.content = "A"
        try await save([bubble], by: ui)
        reply.append(Self.call)
        reply.append("never shown")
        try await reply.finish()
        bubble.content = "A (stopped)"
        bubble.isComplete = true
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == ["A (stopped)", "weather", "never shown"])
    }

    @Test("An interrupted reply with a tool call is saved over its stopped bubble, not beside it")
    func interruptedCall() async throws {
        let ui = window()
        var (bubble, reply) = try await begin(by: ui)
        reply.append("Let me check.")
        reply.append(Self.call)
        bubble.content = "Let me check."
        bubble.isComplete = true
        bubble.wasCancelled = true
        try await save([bubble], by: ui)
        try await reply.interrupt()
        #expect(try await text(entries()) == ["Let me check.", "weather"])
    }

    @Test("The final bubble of a reply ended before a merge is saved once", arguments: [false, true])
    func endedBeforeMerge(isOwn: Bool) async throws {
        let ui = window()
        try await history.append(
            [ConversationMessage(role: .user, text: "t")], to: Scope(userId: "ann", sessionId: "t", agentId: "a"))
        var (bubble, reply) = try await begin(by: isOwn ? ui : window())
        try await save([bubble], by: ui)
        reply.append("Answer")
        try await reply.finish()
        try await ui.updateSessionId(oldId: "s", newId: "t")
        bubble.content = "Answer"
        bubble.isComplete = true
        try await ui.updateSessionMessages(id: "t", messages: [bubble])
        #expect(try await window().getSession(id: "t")?.messages.map(\.content).sorted() == ["Answer", "t"])
    }

    // MARK: Conflicts

    @Test("A change of the type leaves the text of another writer")
    func typeAlone() async throws {
        let ui = window()
        var entry = ChatMessage(role: .toolResult, content: "running", messageType: .toolResult)
        try await save([entry], by: ui)
        try await change { $0[0].content = "result" }
        entry.role = .toolError
        entry.messageType = .toolError
        try await save([entry], by: ui)
        #expect(try await entries().map(\.content) == ["result"])
        #expect(try await entries().map(\.messageType) == [.toolError])
    }

    @Test("Fields are removed, also if only the hashes of the entry are known")
    func clearedFields() async throws {
        let ui = window()
        var entry = ChatMessage(
            role: .toolUse, content: "", messageType: .toolUse, toolName: "n",
            toolInputData: ToolInputData(parameters: ["a": "b"]), taskGroupId: UUID())
        try await ui.updateSessionMessages(id: "former", messages: [entry])
        try await ui.updateSessionId(oldId: "former", newId: "s")
        entry.toolName = nil
        entry.toolInputData = nil
        entry.taskGroupId = nil
        try await save([entry], by: ui)
        let saved = try #require(try await entries().first)
        #expect(saved.toolName == nil && saved.toolInputData == nil && saved.taskGroupId == nil)
    }

    @Test("An unknown entry adds to the fields of a message, and removes none")
    func unknownEntry() async throws {
        let message = ConversationMessage(
            id: UUID().uuidString, role: .assistant, parts: [.text("Answer"), .attachment(file("chart"))],
            metadata: ["usage": 5])
        try await history.append([message], to: Self.scope)
        let bubble = ChatMessage(
            id: try #require(UUID(uuidString: message.id)), role: .assistant, content: "Answer",
            attachments: [file("ui")], metadata: ["rating": 1])
        try await save([bubble], by: window())
        let entry = try #require(try await entries().first)
        #expect(entry.metadata == ["usage": 5, "rating": 1])
        #expect(Set(entry.attachments) == [file("chart"), file("ui")])
    }

    @Test("A stopped bubble leaves the whole reply, also if only its hashes are known")
    func stoppedCompact() async throws {
        let ui = window()
        var (bubble, reply) = try await begin(by: ui)
        reply.append("Hello ")
        bubble.content = "Hello "
        try await save([bubble], by: ui)
        try await compact(ui)
        reply.append("world")
        try await reply.finish()
        bubble.content = "Hello"
        bubble.isComplete = true
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == ["Hello world"])
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

    @Test("A transcript older than a fork leaves an edit that the fork has, after the fork is merged back")
    func olderThanMergedFork() async throws {
        let ui = window()
        var transcript = ["one", "two"].map { ChatMessage(role: .user, content: $0) }
        try await save(transcript, by: ui)
        try await change { $0[1].content = "edited" }
        try await ui.fork("s", at: transcript[1].id, into: "f")
        _ = try await ui.getSession(id: "f")
        try await ui.updateSessionId(oldId: "f", newId: "s")
        transcript.append(ChatMessage(role: .user, content: "next"))
        try await save(transcript, by: ui)
        #expect(try await text(entries()) == ["one", "edited", "next"])
    }

    @Test(
        "After a merge with its fork, an entry belongs to its part, though another writer has edited it",
        arguments: [false, true])
    func mergedFork(isRemoval: Bool) async throws {
        let ui = window()
        let message = ConversationMessage(
            id: UUID().uuidString, role: .assistant, parts: [.text("A"), .text("B")])
        try await history.append([message], to: Self.scope)
        var transcript = try #require(try await ui.getSession(id: "s")).messages
        let fork = SessionKey(userId: "ann", sessionId: "t")
        try await history.fork(Self.session, at: message.id, agentId: "a", into: "t")
        var (ours, theirs) = (message, message)
        theirs.parts[0] = .text("A of t")
        _ = try await history.edit([theirs], in: fork)
        ours.parts[1] = .text("B of s")
        _ = try await history.edit([ours], in: Self.session)
        try await ui.updateSessionId(oldId: "s", newId: "t")
        if isRemoval { transcript.remove(at: 1) } else { transcript[1].isError = true }
        try await ui.updateSessionMessages(id: "t", messages: transcript)
        let entries = try #require(try await window().getSession(id: "t")).messages
        #expect(entries.contains { $0.content == "B" && !$0.isError })
        #expect(entries.contains { $0.content == "B of s" && $0.isError } == !isRemoval)
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

    // MARK: Known entries

    @Test("A window that merges another session into its own knows its entries")
    func mergedIntoShown() async throws {
        let ui = window()
        let transcript = ["t1", "t2", "t3", "t4"].map { ChatMessage(role: .user, content: $0) }
        try await save(transcript, by: ui)
        try await ui.updateSessionMessages(id: "r", messages: [ChatMessage(role: .user, content: "r1")])
        try await ui.updateSessionId(oldId: "r", newId: "s")
        try await change {
            $0.removeAll { $0.content == "t3" }
            if let index = $0.firstIndex(where: { $0.content == "t2" }) { $0[index].content = "edited" }
        }
        try await save(Array(transcript[0...2]), by: ui)
        #expect(try await text(entries()) == ["r1", "t1", "edited"])
    }

    @Test("After overlapping saves of an entry, a save leaves the changes of another window", arguments: [false, true])
    @MainActor
    func overlapping(isRemoval: Bool) async throws {
        let ui = window()
        var transcript = ["question", "One"].map { ChatMessage(role: .user, content: $0) }
        var saves: [Task<Void, any Error>] = []
        for text in ["One", "One two", "One two three"] {
            transcript[1].content = text
            saves.append(Task { [transcript] in try await save(transcript, by: ui) })
        }
        for save in saves { try await save.value }
        try await change { entries in
            if isRemoval { entries.removeLast() } else { entries[1].content = "edited" }
        }
        try await save(transcript + [ChatMessage(role: .user, content: "next")], by: ui)
        #expect(try await text(entries()) == (isRemoval ? ["question", "next"] : ["question", "edited", "next"]))
    }

    /// Merges `s`, known with two entries, into `t`, where another writer has saved a message.
    private func merged(by ui: SQLiteSessionStorage, shows: Bool = false) async throws -> [ChatMessage] {
        let own = ["q", "x"].map { ChatMessage(role: .user, content: $0) }
        try await save(own, by: ui)
        let note = ConversationMessage(id: UUID().uuidString, role: .assistant, text: "note")
        try await history.append([note], to: Scope(userId: "ann", sessionId: "t", agentId: "a"))
        if shows { _ = try await ui.getSession(id: "t") }
        try await ui.updateSessionId(oldId: "s", newId: "t")
        return own
    }

    @Test("After a merge with a session never shown, all entries can be removed")
    func mergedIntoUnknown() async throws {
        let ui = window()
        _ = try await merged(by: ui)
        try await ui.updateSessionMessages(id: "t", messages: [])
        #expect(try await text(#require(try await window().getSession(id: "t")).messages) == ["note"])
    }

    @Test("After a merge, all entries can be removed once a transcript had entries of both sessions")
    func mergedAndShown() async throws {
        let ui = window()
        let own = try await merged(by: ui, shows: true)
        let note = try #require(try await window().getSession(id: "t")).messages.filter { $0.content == "note" }
        try await ui.updateSessionMessages(id: "t", messages: note + own)
        try await ui.updateSessionMessages(id: "t", messages: [ChatMessage(role: .user, content: "new")])
        #expect(try await text(#require(try await window().getSession(id: "t")).messages) == ["new"])
    }

    // MARK: Increments ahead of their reply

    @Test(
        "A bubble whose last saved increment is missing in the reply is saved whole", arguments: ["", "Hello"],
        [false, true])
    func aheadOfReply(appended: String, isCompact: Bool) async throws {
        let ui = window()
        var (bubble, reply) = try await begin(by: ui)
        reply.append(appended)
        bubble.content = "Hello world"
        try await save([bubble], by: ui)
        try await reply.finish()
        try await compact(ui, isCompact)
        bubble.isComplete = true
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == ["Hello world"])
    }

    @Test("The metadata of an interrupted reply stays if its bubble was saved as complete before")
    func metadataOfInterrupted() async throws {
        let ui = window()
        var bubble = ChatMessage(role: .assistant, content: "", isComplete: false)
        bubble.metadata = ["model": "m"]
        let reply = try await ui.beginReply(in: "s", bubble)
        reply.append("Hello")
        bubble.metadata = ["own": 1]
        (bubble.content, bubble.isComplete, bubble.wasCancelled) = ("Hello", true, true)
        try await save([bubble], by: ui)
        try await reply.interrupt()
        #expect(try await text(entries()) == ["Hello"])
        #expect(try await entries()[0].metadata == ["model": "m", "own": 1])
    }

    @Test("The input of a tool changed during its reply is saved after the reply's end", arguments: [false, true])
    func toolInput(isCompact: Bool) async throws {
        let ui = window()
        let reply = try await history.beginReply(
            ConversationMessage(id: UUID().uuidString, role: .assistant, parts: [.text("A"), Self.call]),
            in: Self.scope)
        var transcript = try #require(try await ui.getSession(id: "s")).messages
        transcript[1].toolInputData = ToolInputData(parameters: ["city": "Bergen"])
        try await save(transcript, by: ui)
        try await reply.finish()
        try await compact(ui, isCompact)
        for index in transcript.indices { transcript[index].isComplete = true }
        try await save(transcript, by: ui)
        #expect(try await entries()[1].toolInputData?.parameters == ["city": "Bergen"])
    }

    @Test("A text that takes in a later one takes its metadata and flags, too")
    func joinedDetails() async throws {
        let ui = window()
        var (bubble, reply) = try await begin(by: ui)
        reply.append("Let me check.")
        bubble.content = "Let me check."
        try await save([bubble], by: ui)
        reply.append(Self.call)
        reply.append("It is sunny.")
        try await reply.finish()
        let task = UUID()
        try await change { entries in
            guard let last = entries.indices.last else { return }
            entries[last].metadata["rating"] = 5
            entries[last].isError = true
            entries[last].taskGroupId = task
        }
        (bubble.content, bubble.isComplete) = ("Let me check.\n\nIt is sunny.", true)
        try await save([bubble], by: ui)
        let entries = try await entries()
        #expect(text(entries) == ["Let me check.\n\nIt is sunny.", "weather"])
        #expect(entries[0].metadata["rating"] == 5 && entries[0].isError && entries[0].taskGroupId == task)
    }

    @Test("A shortened text stays so if the bubble is marked as complete later", arguments: [false, true])
    func shortenedByAnother(isReply: Bool) async throws {
        let ui = window()
        var bubble = ChatMessage(role: .assistant, content: "Hello world", isComplete: false)
        let reply = isReply ? try await ui.beginReply(in: "s", bubble) : nil
        try await save([bubble], by: ui)
        try await reply?.finish()
        try await change { $0[0].content = "Hello" }
        bubble.isComplete = true
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == ["Hello"])
    }

    @Test("A message given at the end of a reply replaces increments that a window has saved")
    func givenAtTheEnd() async throws {
        let ui = window()
        var (bubble, reply) = try await begin(by: ui)
        bubble.content = "Hello world"
        try await save([bubble], by: ui)
        try await reply.finish(ConversationMessage(id: reply.id, role: .assistant, text: "Hello"))
        #expect(try await text(entries()) == ["Hello"])
    }

    @Test("The fields of a late increment are known as saved", arguments: [false, true])
    func fieldsOfLateIncrement(isCompact: Bool) async throws {
        let ui = window()
        var (bubble, reply) = try await begin(by: ui)
        try await save([bubble], by: ui)
        reply.append("Hello")
        try await reply.finish()
        bubble.content = "Hel"
        bubble.metadata = ["status": "running", "rating": 1]
        bubble.isError = true
        try await save([bubble], by: ui)
        try await change { $0[0].metadata["rating"] = 2 }
        try await compact(ui, isCompact)
        (bubble.content, bubble.isComplete, bubble.isError) = ("Hello", true, false)
        bubble.metadata["status"] = nil
        if isCompact { bubble.metadata["rating"] = 2 }
        try await save([bubble], by: ui)
        let entry = try await entries()[0]
        #expect(entry.content == "Hello" && !entry.isError)
        #expect(entry.metadata == ["rating": 2])
    }

    /// The increments of a bubble saved before the end of its reply, and whether the reply has a tool call.
    private static let endedReplies: [(increment: String?, hasCall: Bool)] = [
        (nil, false), ("", false), ("Hel", false), (nil, true), ("Hel", true),
    ]

    @Test(
        "An edit or a removal of an ended reply stays, though its own window saves the text first after it",
        arguments: [nil, "edited"], endedReplies.indices)
    func endedReply(edited: String?, index: Int) async throws {
        let (ui, (increment, hasCall)) = (window(), Self.endedReplies[index])
        let question = ChatMessage(role: .user, content: "question")
        try await save([question], by: ui)
        var (bubble, reply) = try await begin(by: ui)
        reply.append("Hello")
        if let increment {
            bubble.content = increment
            try await save([question, bubble], by: ui)
        }
        if hasCall { reply.append(Self.call) }
        try await reply.finish()
        try await change { if let edited { $0[1].content = edited } else { $0.removeSubrange(1...) } }
        (bubble.content, bubble.isComplete) = ("Hello", true)
        bubble.metadata = ["rating": 1]
        for _ in 0...1 { try await save([question, bubble], by: ui) }
        let call = hasCall ? ["weather"] : []
        #expect(try await text(entries()) == ["question"] + (edited.map { [$0] + call } ?? []))
        if edited != nil { #expect(try await entries()[1].metadata == ["rating": 1]) }
        // A change of the text by the window itself is saved.
        bubble.content = "Hello!"
        try await save([question, bubble], by: ui)
        #expect(try await text(entries()) == ["question", "Hello!"] + (edited == nil ? [] : call))
    }

    @Test(
        "After a merge with a session read as missing, saves write and remove the entries of the other",
        arguments: [false, true])
    func mergedWithMissing(isTarget: Bool) async throws {
        let ui = window()
        let own = ["one", "two"].map { ChatMessage(role: .user, content: $0) }
        try await save(own, by: ui)
        if isTarget {
            try await window().deleteSession(id: "s")
            #expect(try await ui.getSession(id: "s") == nil)
            try await history.append([ConversationMessage(role: .user, text: "note")], to: Self.scope)
        }
        try await ui.updateSessionMessages(id: "r", messages: [ChatMessage(role: .user, content: "other")])
        if !isTarget {
            try await window().discard("r")
            #expect(try await ui.getSession(id: "r") == nil)
        }
        try await ui.updateSessionId(oldId: "r", newId: "s")
        try await save(isTarget ? own : [own[1]], by: ui)
        #expect(try await text(entries()).sorted() == (isTarget ? ["note", "one", "other", "two"] : ["other", "two"]))
    }

    @Test("A read returned during a merge leaves both sessions known", arguments: ["a", "b"])
    func readDuringMerge(id: String) {
        let known = KnownTranscripts()
        let messages = ["a", "b"].map { ConversationMessage(id: UUID().uuidString, role: .user, text: $0) }
        func read(_ index: Int) -> Transcript { Transcript([AgentMessage(agentId: "", message: messages[index])]) }
        for (index, id) in ["a", "b"].enumerated() {
            #expect(known.note(read(index), of: id, since: known.lastCall, lastMove: 0, isLast: false))
        }
        let before = known.lastCall
        let move = known.beginCall(on: ["a", "b"])
        let own = id == "a" ? 0 : 1
        #expect(!known.note(read(own), of: id, since: before, lastMove: 0, isLast: true))
        known.merge("a", into: "b", replies: [], found: [:], call: move)
        known.endCall(move, on: ["a", "b"])
        let merged = known.entries(of: "b")
        let next = read(1 - own).entries
        #expect(merged.entries.ids.count == 2)
        #expect(merged.removals(TranscriptDifference(from: merged.base, to: next).removed, from: next).isEmpty)
    }

    @Test("A read by another task during saves is not the base of a save of other entries")
    func readByAnotherTask() {
        let known = KnownTranscripts()
        func transcript(_ text: String) -> Transcript {
            Transcript([
                AgentMessage(agentId: "", message: ConversationMessage(id: UUID().uuidString, role: .user, text: text))
            ])
        }
        let (old, current, next) = (transcript("old"), transcript("current"), transcript("next"))
        let before = known.lastCall
        let save = known.beginCall(on: ["s"])
        #expect(!known.note(old, of: "s", since: before, lastMove: 0, isLast: true))
        let difference = TranscriptDifference(from: .whole([]), to: current.entries)
        known.note(difference, SaveTranscriptOperation.Outcome(), of: "s")
        known.endCall(save, on: ["s"])
        let call = known.beginCall(on: ["s"])
        #expect(known.entries(of: "s", beforeCall: call, saving: next.entries).base.ids == current.entries.map(\.id))
    }

    @Test("The end of a reply in a deleted session is not known")
    func endedAfterDeletion() {
        let known = KnownTranscripts()
        let reply = ConversationMessage(id: UUID().uuidString, role: .assistant, text: "Hello")
        known.note(ended: reply, in: "s")
        #expect(!known.entries(of: "s").isEnd(reply.chatMessages()[0]))
    }

    @Test(
        "The text of an ended reply can be restored after the window was shown another one", arguments: [false, true])
    func restoredEnd(isRemoval: Bool) async throws {
        let ui = window()
        var (bubble, reply) = try await begin(by: ui)
        reply.append("Hello")
        try await reply.finish()
        try await change { if isRemoval { $0.removeAll() } else { $0[0].content = "edited" } }
        _ = try await ui.getSession(id: "s")
        (bubble.content, bubble.isComplete) = ("Hello", true)
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == ["Hello"])
    }

    @Test("A reply that a transcript does not have stays after its end")
    func endNotShown() async throws {
        let ui = window()
        let question = ChatMessage(role: .user, content: "question")
        let (_, reply) = try await begin(by: ui)
        reply.append("Hello")
        try await reply.finish()
        for _ in 0...1 { try await save([question], by: ui) }
        #expect(try await text(entries()).sorted() == ["Hello", "question"])
    }

    @Test("The end of a reply keeps the longer text of a bubble saved as complete", arguments: [false, true])
    func longerCompleteBubble(isInterrupted: Bool) async throws {
        let ui = window()
        var (bubble, reply) = try await begin(by: ui)
        reply.append("Answer")
        bubble.content = "Answer"
        try await save([bubble], by: ui)
        (bubble.content, bubble.isComplete) = ("Answer [source]", true)
        try await save([bubble], by: ui)
        if isInterrupted { try await reply.interrupt() } else { try await reply.finish() }
        #expect(try await text(entries()) == ["Answer [source]"])
        bubble.content = "Answer"
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == ["Answer"])
    }

    @Test("An increment of a reply leaves a longer text that a window has saved", arguments: [" ", "\u{0}"])
    func longerIncrement(space: String) async throws {
        let ui = window()
        var bubble = ChatMessage(role: .assistant, content: "", isComplete: false)
        let writer = try await history.saveReply(ConversationMessage(bubble), in: Self.scope)
        try await writer.save("Hello", behind: nil)
        bubble.content = "Hello\(space)world"
        try await save([bubble], by: ui)
        try await writer.save("Hello\(space)wor", behind: nil)
        #expect(try await text(entries()) == ["Hello\(space)world"])
        try await writer.save("Hello\(space)world!", behind: nil)
        #expect(try await text(entries()) == ["Hello\(space)world!"])
        try await writer.save("Other", behind: nil)
        #expect(try await text(entries()) == ["Other"])
    }

    private static let behindLonger: [(parts: [ContentPart], saved: [String])] = [
        ([call], ["Let me look that up", "weather"]),
        ([call, .text("Found.")], ["Let me look that up", "weather", "Found."]),
    ]

    @Test(
        "A longer text that a window has saved stays if the writer appends parts", arguments: behindLonger.indices,
        [false, true])
    func longerBeforeParts(index: Int, isComplete: Bool) async throws {
        let (ui, (parts, saved)) = (window(), Self.behindLonger[index])
        var (bubble, reply) = try await begin(by: ui)
        reply.append("Let me look")
        try await waitForIncrement { $0.first?.text == "Let me look" }
        (bubble.content, bubble.isComplete) = ("Let me look that up", isComplete)
        try await save([bubble], by: ui)
        for part in parts { reply.append(part) }
        if !isComplete {
            try await waitForIncrement { $0.count == saved.count }
            #expect(try await text(entries()) == saved)
        }
        try await reply.finish()
        #expect(try await text(entries()) == saved)
        bubble.isComplete = true
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == saved)
    }

    @Test(
        "A bubble with the later texts of its reply does not repeat them, and keeps its rest",
        arguments: [("Found.", "Found."), ("\n\nFou", "Found."), (" Found. And", "Found. And")])
    func aheadOfParts(later: String, saved: String) async throws {
        let ui = window()
        var bubble = ChatMessage(role: .assistant, content: "", isComplete: false)
        let reply = ConversationMessage(bubble)
        let writer = try await history.saveReply(reply, in: Self.scope)
        try await writer.save("Let me look", behind: nil)
        bubble.content = "Let me look" + later
        try await save([bubble], by: ui)
        var whole = reply
        whole.parts = [.text("Let me look"), Self.call, .text("Found.")]
        try await writer.save("Found.", behind: Array(whole.parts.dropLast()))
        #expect(try await text(entries()) == ["Let me look", "weather", saved])
        try await writer.finish(whole, isAppended: true)
        #expect(try await text(entries()) == ["Let me look", "weather", saved])
    }

    @Test("The rest of a bubble ahead of its reply stays while the writer appends parts and texts")
    func restBehindParts() async throws {
        let ui = window()
        var bubble = ChatMessage(role: .assistant, content: "", isComplete: false)
        var reply = ConversationMessage(bubble)
        let writer = try await history.saveReply(reply, in: Self.scope)
        try await writer.save("Let me look. ", behind: nil)
        bubble.content = "Let me look. It is sunny, and warm."
        try await save([bubble], by: ui)
        reply.parts = [.text("Let me look. "), Self.call]
        var saved = ["Let me look. ", "weather", "It is sunny, and warm."]
        try await writer.save("It ", behind: reply.parts)
        #expect(try await text(entries()) == saved)
        try await writer.save("It is sun", behind: nil)
        #expect(try await text(entries()) == saved)
        reply.parts += [.text("It is sunny"), .toolCall(id: "d", name: "news", arguments: [:])]
        try await writer.save(nil, behind: reply.parts)
        #expect(try await text(entries()) == saved + ["news"])
        try await writer.save("Any", behind: reply.parts)
        #expect(try await text(entries()) == saved + ["news", "Any"])
        reply.parts.append(.text("Anything else?"))
        try await writer.finish(reply, isAppended: true)
        saved += ["news", "Anything else?"]
        #expect(try await text(entries()) == saved)
    }

    @Test(
        "A bubble behind its reply leaves the text that it lacks when it is marked as complete",
        arguments: [false, true], [false, true])
    func behindReply(isInterrupted: Bool, isCompact: Bool) async throws {
        let ui = window()
        var (bubble, reply) = try await begin(by: ui)
        reply.append("one two three")
        try await waitForIncrement { $0.first?.text == "one two three" }
        bubble.content = "one two"
        try await save([bubble], by: ui)
        try await compact(ui, isCompact)
        if isInterrupted { try await reply.interrupt() } else { try await reply.finish() }
        (bubble.isComplete, bubble.wasCancelled) = (true, isInterrupted)
        try await save([bubble], by: ui)
        #expect(try await text(entries()) == ["one two three"])
    }

    @Test("After a read of a missing session and a merge, edits by others stay", arguments: [false, true])
    func editedAfterMissing(isTarget: Bool) async throws {
        let ui = window()
        var transcript = ["one", "two"].map { ChatMessage(role: .user, content: $0) }
        try await save(transcript, by: ui)
        try await window().discard("s")
        #expect(try await ui.getSession(id: "s") == nil)
        try await window().restore("s")
        try await change { $0[1].content = "edited" }
        try await ui.updateSessionMessages(id: "r", messages: [ChatMessage(role: .user, content: "other")])
        try await ui.updateSessionId(oldId: isTarget ? "r" : "s", newId: isTarget ? "s" : "r")
        transcript.append(ChatMessage(role: .user, content: "next"))
        let id = isTarget ? "s" : "r"
        try await ui.updateSessionMessages(id: id, messages: transcript)
        let saved = try #require(try await window().getSession(id: id)).messages
        #expect(text(saved).sorted() == ["edited", "next", "one", "other"])
    }

    @Test("The end of a reply during a move of its session is known", arguments: [false, true], [false, true])
    func endedDuringMove(isBefore: Bool, isMerge: Bool) {
        let known = KnownTranscripts()
        let reply = ConversationMessage(id: UUID().uuidString, role: .assistant, text: "Hello")
        for id in isMerge ? ["s", "t"] : ["s"] {
            _ = known.note(Transcript([]), of: id, since: known.lastCall, lastMove: 0, isLast: false)
        }
        let move = known.beginCall(on: ["s", "t"])
        // The reply ends under the new ID before the move is noted, or under the old ID after it.
        if isBefore { known.note(ended: reply, in: "t") }
        if isMerge {
            known.merge("s", into: "t", replies: [], found: [:], call: move)
        } else {
            known.rename("s", to: "t", call: move)
        }
        known.endCall(move, on: ["s", "t"])
        if !isBefore { known.note(ended: reply, in: "s") }
        #expect(known.entries(of: "t").isEnd(reply.chatMessages()[0]))
        known.note(ended: reply.with(id: "later"), in: "unknown")
        #expect(known.entries(of: "unknown").entries.ids.isEmpty)
    }

    @Test("Messages moved into a branch by a restored one stay after another window has restored theirs")
    func movedByRestoredBranch() async throws {
        let ui = window()
        let (question, first) = (
            ChatMessage(role: .user, content: "q"), ChatMessage(role: .assistant, content: "first")
        )
        try await save([question, first], by: ui)
        let branch = try await ui.branch("s", from: first.id)
        try await save([question, ChatMessage(role: .assistant, content: "second")], by: ui)
        try await ui.restoreBranch(branch, in: "s")
        try await window().restoreBranch(window().branches(of: "s")[0].id, in: "s")
        try await save([question, first, ChatMessage(role: .user, content: "next")], by: ui)
        #expect(try await text(entries()).sorted() == ["first", "next", "q", "second"])
    }

    @Test("Messages moved into a branch behind an entry of another window stay when they are back")
    func movedBehindUnknown() async throws {
        let ui = window()
        let transcript = ["q", "last"].map { ChatMessage(role: .user, content: $0) }
        try await save(transcript, by: ui)
        try await change { $0.insert(ChatMessage(role: .assistant, content: "between"), at: 1) }
        let page = try await ui.messages(in: "s", page: PageRequest(limit: 10, before: nil)).elements
        let branch = try await ui.branch("s", from: page[1].id)
        try await window().restoreBranch(branch, in: "s")
        try await save([transcript[0], ChatMessage(role: .assistant, content: "new")], by: ui)
        #expect(try await text(entries()).sorted() == ["between", "last", "new", "q"])
    }

    @Test("A branch leaves an entry shown behind its first one that another window has moved before it")
    func movedBeforeBranch() async throws {
        let (ui, other) = (window(), window())
        let question = ChatMessage(role: .user, content: "q")
        try await save([question], by: other)
        let (bubble, reply) = try await begin(by: other)
        let next = ChatMessage(role: .user, content: "next")
        try await save([question, bubble, next], by: other)
        reply.append("answer")
        try await reply.finish()
        let shown = try #require(try await ui.getSession(id: "s")).messages
        #expect(text(shown) == ["q", "next", "answer"])
        let later = ChatMessage(role: .user, content: "later")
        try await save([question, shown[2], next, later], by: other)
        try await ui.branch("s", from: next.id)
        try await save([question, ChatMessage(role: .user, content: "edited")], by: ui)
        #expect(try await text(entries()).sorted() == ["answer", "edited", "q"])
    }

    @Test("Messages that the window itself has restored from a branch can be removed", arguments: [false, true])
    func removedAfterRestore(isFlipped: Bool) async throws {
        let ui = window()
        let transcript = ["q", "first"].map { ChatMessage(role: .user, content: $0) }
        try await save(transcript, by: ui)
        let branch = try await ui.branch("s", from: transcript[1].id)
        let second = ChatMessage(role: .user, content: "second")
        if isFlipped { try await save([transcript[0], second], by: ui) }
        try await ui.restoreBranch(branch, in: "s")
        if isFlipped { try await ui.restoreBranch(ui.branches(of: "s")[0].id, in: "s") }
        try await save([transcript[0]], by: ui)
        #expect(try await text(entries()) == ["q"])
    }

    @Test(
        "The first save of a reply's bubble leaves a longer text that another window has saved as complete",
        arguments: [false, true])
    func longerByAnother(isInterrupted: Bool) async throws {
        let ui = window()
        let question = ChatMessage(role: .user, content: "question")
        try await save([question], by: ui)
        var (bubble, reply) = try await begin(by: ui)
        reply.append("Answer")
        try await waitForIncrement { $0 == [.text("Answer")] }
        try await change { ($0[1].content, $0[1].isComplete) = ("Answer [source]", true) }
        if isInterrupted { try await reply.interrupt() } else { try await reply.finish() }
        (bubble.content, bubble.isComplete) = ("Answer", true)
        try await save([question, bubble], by: ui)
        #expect(try await text(entries()) == ["question", "Answer [source]"])
    }

    @Test("The end of a reply in a session with the earlier ID of a moved one is its own")
    func endedUnderEarlierID() async throws {
        let ui = window()
        try await save([ChatMessage(role: .user, content: "question")], by: ui)
        try await ui.updateSessionId(oldId: "s", newId: "t")
        var (bubble, reply) = try await begin(by: ui)
        reply.append("Answer")
        try await reply.finish()
        (bubble.content, bubble.isComplete) = ("Answer", true)
        try await ui.updateSessionMessages(id: "t", messages: [bubble])
        #expect(try await text(#require(window().getSession(id: "t")).messages) == ["Answer"])
    }

    @Test("The end of a reply is known though its session was moved by a call during the beginning")
    @MainActor
    func endedAfterEarlyMove() async throws {
        let ui = window()
        let question = ChatMessage(role: .user, content: "question")
        try await save([question], by: ui)
        var bubble = ChatMessage(role: .assistant, content: "", isComplete: false)
        let begin = Task { try await ui.beginReply(in: "s", bubble) }
        let move = Task { try await ui.updateSessionId(oldId: "s", newId: "t") }
        let reply = try await begin.value
        try await move.value
        let buffer = try #require(Mirror(reflecting: reply).descendant("writing"))
        let writer = try #require(Mirror(reflecting: buffer).descendant("writer") as? HistoryReplyWriter)
        // The reply ended before the move. The move was noted first.
        var message = reply.message
        message.parts = [.text("Hello")]
        message.isStreaming = false
        _ = try await history.endReply(
            writer.reply, begunIn: Self.scope, as: message, isAppended: true, maxMessages: nil)
        writer.onEnd?([SavedReply(message: message, scope: Self.scope)])
        message.parts = [.text("edited")]
        _ = try await history.edit([message], in: SessionKey(userId: "ann", sessionId: "t"))
        (bubble.content, bubble.isComplete) = ("Hello", true)
        try await ui.updateSessionMessages(id: "t", messages: [question, bubble])
        #expect(try await text(#require(window().getSession(id: "t")).messages) == ["question", "edited"])
    }

    @Test("A read of a missing session leaves the waiting read known")
    func missingAfterRead() {
        let known = KnownTranscripts()
        let message = AgentMessage(
            agentId: "", message: ConversationMessage(id: UUID().uuidString, role: .user, text: "one"))
        let (read, before) = (Transcript([message]), known.lastCall)
        let save = known.beginCall(on: ["s"])
        #expect(!known.note(read, of: "s", since: before, lastMove: 0, isLast: true))
        known.endCall(save, on: ["s"])
        #expect(known.note(nil, of: "s", since: known.lastCall, lastMove: 0, isLast: false))
        #expect(known.entries(of: "s").entries.ids == read.entries.map(\.id))
        #expect(known.entries(of: "s").base.ids.isEmpty)
    }

    @Test("A waiting read leaves the saves after it known, and its messages moved into a branch")
    func savedAfterRead() throws {
        let known = KnownTranscripts()
        let messages = ["old", "shown"].map { ConversationMessage(id: UUID().uuidString, role: .user, text: $0) }
        let read = Transcript(
            messages.map { AgentMessage(agentId: "", message: $0) },
            sequences: [SequenceNumber(rawValue: 1), SequenceNumber(rawValue: 2)])
        let before = known.lastCall
        let save = known.beginCall(on: ["s"])
        #expect(!known.note(read, of: "s", since: before, lastMove: 0, isLast: true))
        let next = ChatMessage(role: .user, content: "next")
        var saved = read.entries + [next]
        saved[0].content = "new"
        known.note(
            TranscriptDifference(from: .whole(read.entries), to: saved), SaveTranscriptOperation.Outcome(), of: "s")
        known.note(BranchChange(moved: [SequenceNumber(rawValue: 2)]), in: "s")
        known.endCall(save, on: ["s"])
        let call = known.beginCall(on: ["s"])
        let entries = known.entries(of: "s", beforeCall: call, saving: saved)
        let difference = TranscriptDifference(from: entries.base, to: saved)
        #expect(difference.unchanged == Set(saved.map(\.id)))
        #expect(TranscriptDifference(from: entries.base, to: read.entries).unchanged == Set(read.entries.map(\.id)))
        // The window may not show the saved entry, and another one may have restored the branch.
        #expect(entries.removals(saved.map(\.id), from: []) == [saved[0].id])
    }

    // MARK: The order of calls

    @Test("A save called before a read returned does not remove what the read has found", arguments: [false, true])
    @MainActor
    func readNotSeen(isEdit: Bool) async throws {
        let ui = window()
        let question = ChatMessage(role: .user, content: "question")
        try await save([question], by: ui)
        if isEdit {
            try await change { $0[0].content = "edited" }
        } else {
            try await history.append([ConversationMessage(role: .assistant, text: "answer")], to: Self.scope)
        }
        let read = Task { try await ui.getSession(id: "s")?.messages }
        let next = ChatMessage(role: .user, content: "next")
        let save = Task { try await self.save([question, next], by: ui) }
        let transcript = try #require(try await read.value)
        try await save.value
        let texts = isEdit ? ["edited", "next"] : ["answer", "next", "question"]
        #expect(try await text(entries()).sorted() == texts)
        // The UI shows the read, which has the save, and removes the first entry.
        #expect(text(transcript).sorted() == texts)
        try await self.save(Array(transcript.dropFirst()), by: ui)
        #expect(try await text(entries()) == text(Array(transcript.dropFirst())))
    }

    @Test("A save called with a rename before a read returned removes nothing that the read has found")
    @MainActor
    func renamedBeforeRead() async throws {
        let ui = window()
        let transcript = ["question", "next"].map { ChatMessage(role: .user, content: $0) }
        try await save(Array(transcript.prefix(1)), by: ui)
        try await history.append([ConversationMessage(role: .assistant, text: "answer")], to: Self.scope)
        let read = Task { try await ui.getSession(id: "s")?.messages }
        let rename = Task { try await ui.updateSessionId(oldId: "s", newId: "real") }
        let save = Task { try await ui.updateSessionMessages(id: "real", messages: transcript) }
        #expect(try await read.value.map { text($0).sorted() } == ["answer", "next", "question"])
        try await rename.value
        try await save.value
        let saved = try #require(try await window().getSession(id: "real")).messages
        #expect(text(saved).sorted() == ["answer", "next", "question"])
    }

    @Test("A read does not count as shown for a waiting save if a later call is canceled", arguments: [false, true])
    @MainActor
    func canceledLaterCall(isMove: Bool) async throws {
        let ui = window()
        let transcript = ["question", "next", "later"].map { ChatMessage(role: .user, content: $0) }
        try await save(Array(transcript.prefix(1)), by: ui)
        try await history.append([ConversationMessage(role: .assistant, text: "answer")], to: Self.scope)
        let read = Task { try await ui.getSession(id: "s")?.messages }
        let next = Task { try await self.save(Array(transcript.prefix(2)), by: ui) }
        let later = Task {
            if isMove {
                try await ui.updateSessionId(oldId: "s", newId: "t")
            } else {
                try await self.save(transcript, by: ui)
            }
        }
        Task { later.cancel() }
        let shown = try #require(try await read.value)
        try await next.value
        await #expect(throws: CancellationError.self) { try await later.value }
        #expect(text(shown).sorted() == ["answer", "next", "question"])
        #expect(try await text(entries()).sorted() == ["answer", "next", "question"])
    }

    @Test("A read of a missing session has the messages saved or moved to it meanwhile", arguments: [false, true])
    @MainActor
    func readOfNew(isMove: Bool) async throws {
        let ui = window()
        let question = ChatMessage(role: .user, content: "question")
        if isMove { try await ui.updateSessionMessages(id: "temporary", messages: [question]) }
        let read = Task { try await ui.getSession(id: "s")?.messages ?? [] }
        let write = Task {
            if isMove {
                try await ui.updateSessionId(oldId: "temporary", newId: "s")
            } else {
                try await self.save([question], by: ui)
            }
        }
        let shown = try await read.value
        try await write.value
        #expect(text(shown) == ["question"])
        try await save(shown + [ChatMessage(role: .user, content: "next")], by: ui)
        #expect(try await text(entries()) == ["question", "next"])
    }

    @Test("A read with a save called during each attempt removes nothing that its window lacks")
    @MainActor
    func readDuringSaves() async throws {
        let ui = window()
        var transcript = (0..<50).map { ChatMessage(role: .user, content: "\($0)") }
        try await save(transcript, by: ui)
        var sent: [String] = []
        for round in 0..<5 {
            var saves: [Task<Void, any Error>] = []
            let saving = Task {
                for number in 0..<100 where !Task.isCancelled {
                    saves.append(
                        Task {
                            // The window adds the message and calls the save at once.
                            transcript.append(ChatMessage(role: .user, content: "\(round) \(number)"))
                            sent.append("\(round) \(number)")
                            try await self.save(transcript, by: ui)
                        })
                    await Task.yield()
                }
            }
            transcript = try #require(try await ui.getSession(id: "s")).messages
            saving.cancel()
            await saving.value
            for save in saves { try await save.value }
            transcript.append(ChatMessage(role: .user, content: "\(round) next"))
            try await save(transcript, by: ui)
            #expect(try await Set(text(entries())).isSuperset(of: sent + ["\(round) next"]))
        }
    }

    @Test("A read during a save and a move is shown under the new ID, and its window can edit and remove it")
    @MainActor
    func movedDuringRead() async throws {
        let ui = window()
        let question = ChatMessage(role: .user, content: "question")
        let next = ChatMessage(role: .user, content: "next")
        try await save([question], by: ui)
        try await history.append([ConversationMessage(role: .assistant, text: "answer")], to: Self.scope)
        let read = Task { try await ui.getSession(id: "s") }
        let save = Task { try await self.save([question, next], by: ui) }
        let move = Task { try await ui.updateSessionId(oldId: "s", newId: "t") }
        let shown = try #require(try await read.value)
        try await save.value
        try await move.value
        #expect(shown.id == "t" && text(shown.messages).sorted() == ["answer", "next", "question"])
        try await ui.updateSessionMessages(id: "t", messages: shown.messages.filter { $0.content != "answer" })
        let saved = try #require(try await window().getSession(id: "t")).messages
        #expect(text(saved) == ["question", "next"])
        let deleted = Task { try await ui.getSession(id: "t") }
        let other = Task { try await ui.updateSessionMessages(id: "t", messages: saved) }
        let deletion = Task { try await ui.deleteSession(id: "t") }
        #expect(try await deleted.value == nil)
        try await other.value
        try await deletion.value
    }

    @Test("A window that did not find its session leaves the changes of others after the session came back")
    func missing() async throws {
        let ui = window()
        var transcript = ["question", "answer"].map { ChatMessage(role: .user, content: $0) }
        try await save(transcript, by: ui)
        try await window().discard("s")
        #expect(try await ui.getSession(id: "s") == nil)
        try await window().restore("s")
        try await change { $0[1].content = "edited" }
        transcript.append(ChatMessage(role: .user, content: "next"))
        try await save(transcript, by: ui)
        #expect(try await text(entries()) == ["question", "edited", "next"])
        // A deleted session is saved as a whole.
        try await window().deleteSession(id: "s")
        #expect(try await ui.getSession(id: "s") == nil)
        try await save(transcript, by: ui)
        #expect(try await text(entries()) == ["question", "answer", "next"])
    }

    @Test("A reply streaming when its question was moved into a branch is not deleted by later saves")
    func branchedDuringReply() async throws {
        let (ui, other) = (window(), window())
        let question = ChatMessage(role: .user, content: "question")
        try await save([question], by: ui)
        let (_, reply) = try await begin(by: other)
        reply.append("answer")
        let transcript = try #require(try await ui.getSession(id: "s")).messages
        let branch = try await ui.branch("s", from: question.id)
        try await reply.finish()
        let next = ChatMessage(role: .user, content: "next")
        try await save(transcript + [next], by: ui)
        try await save([next], by: ui)
        let moved = try await history.messages(of: branch, agentId: nil, page: PageRequest(limit: 9)).elements
        #expect(moved.map(\.message.text) == ["question", "answer"])
    }

    @Test("A read of a deleted session does not bring back its entries by a save called before")
    @MainActor
    func readOfDeleted() async throws {
        let ui = window()
        let transcript = ["question", "next"].map { ChatMessage(role: .user, content: $0) }
        try await save(Array(transcript.prefix(1)), by: ui)
        try await window().deleteSession(id: "s")
        let read = Task { try await ui.getSession(id: "s") }
        let save = Task { try await self.save(transcript, by: ui) }
        _ = try await read.value
        try await save.value
        #expect(try await text(entries()) == ["next"])
    }

    @Test("A read called before a deletion and returned after it finds no session", arguments: [false, true])
    @MainActor
    func deletedDuringRead(ofAll: Bool) async throws {
        let ui = window()
        try await save([ChatMessage(role: .user, content: "secret")], by: ui)
        let read = Task { try await ui.getSession(id: "s") }
        let deletion = Task { try await ofAll ? ui.deleteAllSessions() : ui.deleteSession(id: "s") }
        try await deletion.value
        #expect(try await read.value == nil)
    }

    @Test("After a failed deletion, a save leaves the changes of another window", arguments: [false, true])
    func failedDeletion(ofAll: Bool) async throws {
        let ui = window()
        var transcript = ["question", "text", "secret", "last"].map { ChatMessage(role: .user, content: $0) }
        try await save(transcript, by: ui)
        try await change { transcript in
            transcript.remove(at: 2)
            transcript[1].content = "edited"
        }
        let deletion = Task {
            try? await Task.sleep(for: .seconds(60))
            try await ofAll ? ui.deleteAllSessions() : ui.deleteSession(id: "s")
        }
        deletion.cancel()
        await #expect(throws: CancellationError.self) { try await deletion.value }
        transcript.removeLast()
        try await save(transcript, by: ui)
        #expect(try await text(entries()) == ["question", "edited"])
    }

    @Test("An entry saved again after it was moved into a branch can be removed", arguments: [false, true])
    func branchedAndSaved(isRestored: Bool) async throws {
        let ui = window()
        var transcript = ["question", "two"].map { ChatMessage(role: .user, content: $0) }
        try await save(transcript, by: ui)
        let branch = try await ui.branch("s", from: transcript[1].id)
        if isRestored {
            try await ui.restoreBranch(branch, in: "s")
        } else {
            transcript[1].content = "edited"
        }
        try await save(transcript + [ChatMessage(role: .user, content: "next")], by: ui)
        #expect(try await text(entries()) == transcript.map(\.content) + ["next"])
        try await save(Array(transcript.prefix(1)), by: ui)
        #expect(try await text(entries()) == ["question"])
    }

    @Test("After a save of one of two merged sessions, the entries of the other are known", arguments: [false, true])
    func mergedAndHidden(isRemoval: Bool) async throws {
        let ui = window()
        let own = ["s1", "s2"].map { ChatMessage(role: .user, content: $0) }
        var other = ["t1", "t2"].map { ChatMessage(role: .user, content: $0) }
        try await ui.updateSessionMessages(id: "r", messages: own)
        try await save(other, by: ui)
        try await ui.updateSessionId(oldId: "r", newId: "s")
        other[1].content = "t2, more"
        try await save(other, by: ui)
        try await change { transcript in
            guard let index = transcript.firstIndex(where: { $0.content == "s2" }) else { return }
            if isRemoval { transcript.remove(at: index) } else { transcript[index].content = "edited" }
        }
        try await save(own + other, by: ui)
        #expect(try await text(entries()).sorted() == (isRemoval ? [] : ["edited"]) + ["s1", "t1", "t2, more"])
        try await save(other, by: ui)
        #expect(try await text(entries()) == ["t1", "t2, more"])
    }
}
