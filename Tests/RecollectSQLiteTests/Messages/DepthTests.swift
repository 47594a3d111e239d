import Foundation
import RecollectCore
import Testing

@testable import RecollectSQLite

/// Deeper values could be written, but never be read again.
@Suite("Values nested too deeply") struct DepthTests {
    private let deepest = (0..<496).reduce(JSONValue.string("bottom")) { value, _ in [value] }
    private var tooDeep: JSONValue { [deepest] }

    private func call(_ id: String, _ value: JSONValue) -> ConversationMessage {
        ConversationMessage(
            id: id, role: .assistant, parts: [.text("digs"), .toolCall(id: "t", name: "dig", arguments: value)])
    }

    @Test("Every call that saves messages refuses values nested too deeply and changes nothing")
    func messages() async throws {
        let history = memory()
        let (saved, fields) = (call("kept", deepest), ["deep": tooDeep])
        try await history.append([saved], to: scope)
        await expectError(.tooLarge) { try await history.append([call("n", "flat"), call("m", tooDeep)], to: scope) }
        let unknown = ConversationMessage(id: "m", role: .user, parts: [], unknownFields: fields)
        await expectError(.tooLarge) { try await history.append([unknown], to: scope) }
        await expectError(.tooLarge) { try await history.edit([call("kept", tooDeep)], in: scope.session) }
        await expectError(.tooLarge) { _ = try await history.beginReply(call("r", tooDeep), in: scope) }
        #expect(try await history.window(of: scope, maxMessages: nil) == [saved])
        #expect(try await history.streamingReplies(in: scope.session).isEmpty)
    }

    @Test("A streaming reply cannot end with values nested too deeply, but can end without them")
    func replies() async throws {
        let history = memory()
        let reply = try await history.beginReply(call("r", deepest), in: scope)
        reply.append("and goes on")
        reply.append(.toolResult(id: "t", content: tooDeep))
        await expectError(.tooLarge) { try await reply.finish() }
        await expectError(.tooLarge) { try await reply.interrupt() }
        let end = call("r", deepest)
        try await reply.finish(end)
        #expect(try await history.window(of: scope, maxMessages: nil) == [end])
    }

    @Test("Session details and transcripts with values nested too deeply are refused completely")
    func details() async throws {
        let history = memory()
        let metadata = ["deep": deepest, "keep": "this"]
        try await history.update(scope.session, with: SessionDetails(title: "t", metadata: metadata))
        await expectError(.tooLarge) {
            try await history.update(
                scope.session, with: SessionDetails(title: "n", metadata: ["keep": tooDeep]))
        }
        #expect(try await history.session(scope.session)?.metadata == metadata)
        #expect(try await history.session(scope.session)?.title == "t")

        let sessions = SQLiteSessionStorage(history: history, userId: "ann")
        var entries = [ChatMessage(role: .user, content: "x", metadata: ["deep": deepest])]
        try await sessions.updateSessionMessages(id: "ui", messages: entries)
        let saved = try await sessions.getSession(id: "ui")
        #expect(saved?.messages == entries)
        entries[0].metadata["deep"] = tooDeep
        await expectError(.tooLarge) { try await sessions.updateSessionMessages(id: "ui", messages: entries) }
        entries[0].metadata = [:]
        entries.append(ChatMessage(role: .toolUse, content: "", metadata: ["deep": tooDeep]))
        await expectError(.tooLarge) { try await sessions.updateSessionMessages(id: "ui", messages: entries) }
        #expect(try await sessions.getSession(id: "ui") == saved)
    }

    @Test("Unreadable metadata is never overwritten")
    func unreadable() async throws {
        let history = memory()
        try await history.append(messages(0..<2), to: scope)
        try await history.write { try $0.run("UPDATE session SET metadata = '{\"keep\":\"this\"'") }
        await expectError(.unreadable) {
            try await history.update(scope.session, with: SessionDetails(metadata: ["n": 1]))
        }
        let fork = SessionKey(userId: "ann", sessionId: "fork")
        await expectError(.unreadable) { try await history.fork(scope.session, at: "m0", into: "fork") }
        try await history.update(fork, with: SessionDetails(metadata: ["n": 1]))
        await expectError(.unreadable) { try await history.moveSession(fork, to: scope.sessionId) }
        // Updates without metadata still work.
        try await history.update(scope.session, with: SessionDetails(title: "t"))
        let saved = try await history.write {
            try $0.optionalText("SELECT metadata FROM session WHERE title = 't'")
        }
        #expect(saved == "{\"keep\":\"this\"")
    }

    private func messages(_ range: Range<Int>) -> [ConversationMessage] {
        range.map { ConversationMessage(id: "m\($0)", role: .user, text: "text \($0)") }
    }
}
