import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// A window changes an entry, and other writers have changed its message.
@Suite("Changes of an entry by a window and other writers") struct EntryChangesTests {
    let history = memory()
    static let session = SessionKey(userId: "ann", sessionId: "s")
    static let scope = session.scope(agentId: "a")
    static let call = ContentPart.toolCall(id: "c", name: "weather", arguments: [:])

    func window() -> SQLiteSessionStorage {
        SQLiteSessionStorage(history: history, userId: "ann", agentId: "a")
    }

    func entries() async throws -> [ChatMessage] {
        try #require(try await window().getSession(id: "s")).messages
    }

    /// Saves in the order of the calls of one actor.
    nonisolated(nonsending) func save(
        _ messages: [ChatMessage], by window: SQLiteSessionStorage
    ) async throws {
        try await window.updateSessionMessages(id: "s", messages: messages)
    }

    /// Saves by another window, which has read the session.
    func change(_ body: @Sendable (inout [ChatMessage]) -> Void) async throws {
        let other = window()
        var transcript = try #require(try await other.getSession(id: "s")).messages
        body(&transcript)
        try await save(transcript, by: other)
    }

    /// Makes a window know its session only by hashes.
    func compact(_ window: SQLiteSessionStorage, _ isCompact: Bool = true) async throws {
        guard isCompact else { return }
        for number in 0...KnownTranscripts.limit {
            try await window.updateSessionMessages(id: "other \(number)", messages: [])
        }
    }

    func file(_ name: String) -> RecollectCore.Attachment {
        Attachment(mediaType: "text/plain", name: name, content: .inline(Data(name.utf8)))
    }

    /// Begins a reply with an empty entry.
    func begin(by ui: SQLiteSessionStorage) async throws -> (ChatMessage, StreamingReply) {
        let shownEntry = ChatMessage(role: .assistant, content: "", isComplete: false)
        return (shownEntry, try await ui.beginReply(in: "s", shownEntry))
    }

    /// Saves a finished reply, and its entry with the whole text, as a UI without tools shows it.
    func finished(_ parts: [ContentPart], by ui: SQLiteSessionStorage) async throws -> ChatMessage {
        var (shownEntry, reply) = try await begin(by: ui)
        for part in parts { reply.append(part) }
        try await reply.finish()
        shownEntry.content = parts.compactMap(\.text).joined()
        shownEntry.isComplete = true
        try await save([shownEntry], by: ui)
        return shownEntry
    }

    /// Waits until the saved increment of the streaming reply has some parts.
    func waitForIncrement(_ isSaved: ([ContentPart]) -> Bool) async throws {
        while try await !isSaved(history.streamingReplies(in: Self.session)[0].message.parts) {
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    func text(_ contents: [ChatMessage]) -> [String] {
        contents.map { $0.messageType == .text || $0.messageType == .thinking ? $0.content : $0.toolName ?? "" }
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

    @Test("A final entry leaves the mark of an interruption")
    func interrupted() async throws {
        let ui = window()
        var (shownEntry, reply) = try await begin(by: ui)
        reply.append("half")
        shownEntry.content = "half"
        try await save([shownEntry], by: ui)
        try await reply.interrupt()
        shownEntry.isComplete = true
        try await save([shownEntry], by: ui)
        #expect(try await entries().map(\.wasCancelled) == [true])
    }

    @Test("Fields of an entry beside tool parts are saved")
    func fieldsBesideTools() async throws {
        let ui = window()
        var shownEntry = try await finished([.text("answer"), Self.call], by: ui)
        shownEntry.attachments = [file("chart")]
        shownEntry.metadata = ["rating": 5]
        try await save([shownEntry], by: ui)
        let entries = try await entries()
        #expect(text(entries) == ["answer", "weather"])
        #expect(entries[0].attachments == [file("chart")])
        #expect(entries[0].metadata["rating"] == 5)
    }

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
        let shownEntry = ChatMessage(
            id: try #require(UUID(uuidString: message.id)), role: .assistant, content: "Answer",
            attachments: [file("ui")], metadata: ["rating": 1])
        try await save([shownEntry], by: window())
        let entry = try #require(try await entries().first)
        #expect(entry.metadata == ["usage": 5, "rating": 1])
        #expect(Set(entry.attachments) == [file("chart"), file("ui")])
    }
}
