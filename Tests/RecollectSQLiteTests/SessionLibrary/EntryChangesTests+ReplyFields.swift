import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Attachments, metadata and flags of entries with a streaming reply.
extension EntryChangesTests {
    @Test("The end of a reply keeps the fields of an entry saved as complete", arguments: [false, true])
    func fieldsOfCompleteEntry(isInterrupted: Bool) async throws {
        let ui = window()
        var shownEntry = ChatMessage(role: .assistant, content: "", isComplete: false, metadata: ["model": "m"])
        let reply = try await ui.beginReply(in: "s", shownEntry)
        reply.append("text")
        shownEntry.content = "tex"
        shownEntry.isComplete = true
        shownEntry.attachments = [file("chart")]
        shownEntry.metadata["rating"] = 5
        try await save([shownEntry], by: ui)
        if isInterrupted { try await reply.interrupt() } else { try await reply.finish() }
        let entries = try await entries()
        #expect(entries.map(\.content) == ["text"])
        #expect(entries[0].attachments == [file("chart")])
        #expect(entries[0].metadata["rating"] == 5)
        #expect(entries[0].metadata["model"] == "m")
    }

    @Test("Fields of an incomplete entry are saved with the final one", arguments: [false, true])
    func fieldsOfIncompleteEntry(isInterrupted: Bool) async throws {
        let ui = window()
        var shownEntry = ChatMessage(role: .assistant, content: "", isComplete: false, attachments: [file("ui")])
        let reply = try await ui.beginReply(in: "s", shownEntry)
        reply.append("text")
        shownEntry.metadata = ["rating": 5]
        shownEntry.content = "text"
        try await save([shownEntry], by: ui)
        reply.append(.attachment(file("model")))
        if isInterrupted { try await reply.interrupt() } else { try await reply.finish() }
        shownEntry.isComplete = true
        try await save([shownEntry], by: ui)
        let entries = try await entries()
        #expect(entries.map(\.content) == ["text"])
        #expect(Set(entries[0].attachments) == [file("ui"), file("model")])
        #expect(entries[0].metadata["rating"] == 5)
    }

    @Test("The end of a reply keeps its own attachments and metadata, though a UI has saved its entry without them")
    func ownFields() async throws {
        let ui = window()
        let start = ConversationMessage(
            id: UUID().uuidString, role: .assistant, text: "", metadata: ["model": "m"])
        let reply = try await history.beginReply(start, in: Self.scope)
        reply.append("Here")
        reply.append(.attachment(file("chart")))
        try await waitForIncrement { $0.count >= 2 }
        let shownEntry = ChatMessage(
            id: try #require(UUID(uuidString: start.id)), role: .assistant, content: "Here", attachments: [file("ui")])
        try await save([shownEntry], by: ui)
        try await reply.finish()
        let entry = try #require(try await entries().first)
        #expect(Set(entry.attachments) == [file("chart"), file("ui")])
        #expect(entry.metadata["model"] == "m")
    }

    @Test("The end of a reply keeps the fields of an entry stopped by the user", arguments: [false, true])
    func stopped(isInterrupted: Bool) async throws {
        let ui = window()
        let start = ConversationMessage(id: UUID().uuidString, role: .assistant, text: "")
        let reply = try await history.beginReply(start, in: Self.scope)
        reply.append("Hello world")
        let shownEntry = ChatMessage(
            id: try #require(UUID(uuidString: start.id)), role: .assistant, content: "Hello",
            attachments: [file("ui")], wasCancelled: true, metadata: ["stop": "user"])
        try await save([shownEntry], by: ui)
        if isInterrupted { try await reply.interrupt() } else { try await reply.finish() }
        let entries = try await entries()
        #expect(entries.map(\.content) == ["Hello world"])
        #expect(entries[0].attachments == [file("ui")])
        #expect(entries[0].metadata["stop"] == "user")
    }

    @Test("The end of a reply keeps the fields of an entry without text, or of another kind than its beginning")
    func otherKind() async throws {
        let ui = window()
        let start = ConversationMessage(
            id: UUID().uuidString, role: .assistant, parts: [.thinking("Hm.", signature: nil)])
        let reply = try await history.beginReply(start, in: Self.scope)
        reply.append("Hello")
        var shownEntry = ChatMessage(
            id: try #require(UUID(uuidString: start.id)), role: .assistant, content: "", attachments: [file("ui")])
        try await save([shownEntry], by: ui)
        shownEntry.metadata["rating"] = 1
        try await save([shownEntry], by: ui)
        try await reply.finish()
        let entries = try await entries()
        #expect(text(entries) == ["Hm.", "Hello"])
        #expect(entries[1].attachments == [file("ui")])
        #expect(entries[1].metadata["rating"] == 1)
    }

    @Test("Flags and the task of an incomplete entry are saved with the final one")
    func flagsOfIncompleteEntry() async throws {
        let ui = window()
        var (shownEntry, reply) = try await begin(by: ui)
        shownEntry.isTaskContainer = true
        shownEntry.taskGroupId = UUID()
        shownEntry.isError = true
        try await save([shownEntry], by: ui)
        reply.append("Done")
        try await reply.finish()
        shownEntry.content = "Done"
        shownEntry.isComplete = true
        try await save([shownEntry], by: ui)
        let entry = try #require(try await entries().first)
        #expect(entry.isTaskContainer && entry.isError && entry.taskGroupId == shownEntry.taskGroupId)
    }

    @Test(
        "A final entry leaves what its reply has, and the entry never had", arguments: [false, true], [false, true])
    func neverShown(isCall: Bool, isCompact: Bool) async throws {
        let ui = window()
        let start = ConversationMessage(
            id: UUID().uuidString, role: .assistant, text: "", metadata: ["model": "m"])
        let reply = try await history.beginReply(start, in: Self.scope)
        if !isCall { reply.append("Do") }
        reply.append(isCall ? Self.call : .attachment(file("chart")))
        try await waitForIncrement { $0.contains { $0.text == nil } }
        var shownEntry = ChatMessage(
            id: try #require(UUID(uuidString: start.id)), role: .assistant, content: isCall ? "" : "Do",
            isComplete: false)
        try await save([shownEntry], by: ui)
        try await compact(ui, isCompact)
        try await reply.finish()
        shownEntry.isComplete = true
        try await save([shownEntry], by: ui)
        let entries = try await entries()
        #expect(text(entries) == [isCall ? "weather" : "Do"])
        #expect(entries[0].attachments == (isCall ? [] : [file("chart")]))
        #expect(entries[0].metadata["model"] == "m")
    }

    @Test("The end of a reply keeps the fields of an entry stopped before its text", arguments: [false, true])
    func stoppedBeforeText(isInterrupted: Bool) async throws {
        let ui = window()
        var (shownEntry, reply) = try await begin(by: ui)
        reply.append("Hello world")
        try await save([shownEntry], by: ui)
        shownEntry.isComplete = true
        shownEntry.wasCancelled = true
        shownEntry.metadata = ["stop": "user"]
        shownEntry.attachments = [file("ui")]
        try await save([shownEntry], by: ui)
        if isInterrupted { try await reply.interrupt() } else { try await reply.finish() }
        let entries = try await entries()
        #expect(text(entries) == ["Hello world"])
        #expect(entries[0].metadata["stop"] == "user")
        #expect(entries[0].attachments == [file("ui")])
    }

    @Test("The metadata of an interrupted reply stays if its entry was saved as complete before")
    func metadataOfInterrupted() async throws {
        let ui = window()
        var shownEntry = ChatMessage(role: .assistant, content: "", isComplete: false)
        shownEntry.metadata = ["model": "m"]
        let reply = try await ui.beginReply(in: "s", shownEntry)
        reply.append("Hello")
        shownEntry.metadata = ["own": 1]
        (shownEntry.content, shownEntry.isComplete, shownEntry.wasCancelled) = ("Hello", true, true)
        try await save([shownEntry], by: ui)
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
        var (shownEntry, reply) = try await begin(by: ui)
        reply.append("Let me check.")
        shownEntry.content = "Let me check."
        try await save([shownEntry], by: ui)
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
        (shownEntry.content, shownEntry.isComplete) = ("Let me check.\n\nIt is sunny.", true)
        try await save([shownEntry], by: ui)
        let entries = try await entries()
        #expect(text(entries) == ["Let me check.\n\nIt is sunny.", "weather"])
        #expect(entries[0].metadata["rating"] == 5 && entries[0].isError && entries[0].taskGroupId == task)
    }

    @Test("The fields of a late increment are known as saved", arguments: [false, true])
    func fieldsOfLateIncrement(isCompact: Bool) async throws {
        let ui = window()
        var (shownEntry, reply) = try await begin(by: ui)
        try await save([shownEntry], by: ui)
        reply.append("Hello")
        try await reply.finish()
        shownEntry.content = "Hel"
        shownEntry.metadata = ["status": "running", "rating": 1]
        shownEntry.isError = true
        try await save([shownEntry], by: ui)
        try await change { $0[0].metadata["rating"] = 2 }
        try await compact(ui, isCompact)
        (shownEntry.content, shownEntry.isComplete, shownEntry.isError) = ("Hello", true, false)
        shownEntry.metadata["status"] = nil
        if isCompact { shownEntry.metadata["rating"] = 2 }
        try await save([shownEntry], by: ui)
        let entry = try await entries()[0]
        #expect(entry.content == "Hello" && !entry.isError)
        #expect(entry.metadata == ["rating": 2])
    }
}
