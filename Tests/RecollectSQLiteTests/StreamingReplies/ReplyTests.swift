import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Streaming replies") struct ReplyTests {
    let folder: TemporaryFolder
    let history: SQLiteHistoryStore
    let start = ConversationMessage(id: "r", role: .assistant, text: "")

    init() throws {
        folder = try TemporaryFolder()
        history = folder.history()
    }

    private var writers: URL { folder.file("writers") }

    private func locks() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: writers.path)
    }

    func saved(in history: SQLiteHistoryStore? = nil) async throws -> [ConversationMessage] {
        try await (history ?? self.history).window(of: scope, maxMessages: nil)
    }

    func saying(_ text: String, isInterrupted: Bool = false) -> ConversationMessage {
        var message = start
        message.parts = [.text(text)]
        message.isInterrupted = isInterrupted
        return message
    }

    func streaming(_ message: ConversationMessage) -> ConversationMessage {
        var message = message
        message.isStreaming = true
        return message
    }

    func replies(of session: SessionKey = scope.session) async throws -> [ConversationMessage] {
        try await history.streamingReplies(in: session).map(\.message)
    }

    private func drafts() async throws -> Int64? {
        try await history.read { try $0.integer("SELECT count(*) FROM streaming_reply") }
    }

    /// Simulates the end of the writing process: the replies then name a writer without a held lock.
    func endWriters(_ name: String = "1B9D6BCD-BBFD-4B2D-9B5D-AB8DFBBD4BED") async throws {
        try await history.write { try $0.run("UPDATE streaming_reply SET writer = ?", name) }
    }

    func other(_ sessionId: String) -> Scope {
        Scope(userId: scope.userId, sessionId: sessionId, agentId: scope.agentId)
    }

    func texts(_ scope: Scope) async throws -> [String] {
        try await history.window(of: scope, maxMessages: nil).map(\.text)
    }

    func allTexts(_ session: SessionKey) async throws -> [String] {
        try await history.messages(of: session, agentId: nil, page: PageRequest(limit: 20)).elements
            .map(\.message.text).sorted()
    }

    @Test("A streaming reply is listed but in no window; when it is finished, it becomes a normal message")
    func life() async throws {
        try await history.append(messages(0..<1), to: scope)
        let writer = try await history.saveReply(start, in: scope)
        #expect(try await replies() == [streaming(start)])
        try await writer.save("half", behind: nil)
        #expect(try await replies() == [streaming(saying("half"))])
        #expect(try await history.streamingReplies(in: scope.session).map(\.agentId) == [scope.agentId])
        #expect(try await saved() == messages(0..<1))
        try await writer.finish(saying("half and half"), isAppended: true)
        #expect(try await replies().isEmpty)
        #expect(try await saved() == messages(0..<1) + [saying("half and half")])
        #expect(try await history.session(scope.session)?.messageCount == 2)
    }

    @Test("A reply can be appended to, finished with tool calls, or interrupted and marked as such")
    func draft() async throws {
        let reply = try await history.beginReply(start, in: scope)
        let other = try await history.beginReply(messages(1..<2)[0], in: scope)
        reply.append("all of it")
        var whole = saying("all of it")
        whole.parts.append(.toolCall(id: "c", name: "look", arguments: ["at": "it"]))
        whole.metadata["usage"] = ["output_tokens": 7]
        try await reply.finish(whole)
        other.append(" so far")
        try await other.interrupt()
        let found = try await saved()
        #expect(found.map(\.id) == ["r", "m1"])
        #expect(found[0] == whole)
        #expect(found[1].isInterrupted && found[1].text == "text 1 so far")
        #expect(try await drafts() == 0)
    }

    @Test("The end of a reply missing in the store says whether its session is there")
    func missingReply() async throws {
        let writer = try await history.saveReply(start, in: scope)
        try await history.write { try $0.run("DELETE FROM streaming_reply") }
        let replaced = await #expect(throws: RecollectError.self) {
            try await writer.finish(saying("all"), isAppended: true)
        }
        #expect(replaced?.code == .notFound && replaced?.message.contains("replaced") == true)
        let other = try await history.saveReply(saying("x"), in: self.other("deleted"))
        try await history.deleteSession(self.other("deleted").session)
        let deleted = await #expect(throws: RecollectError.self) {
            try await other.finish(saying("x"), isAppended: true)
        }
        #expect(deleted?.code == .notFound && deleted?.message.contains("replaced") == false)
    }

    @Test("An attachment used by a streaming reply stays when its original message is deleted")
    func takenOver() async throws {
        let bytes = Data([1, 2, 3])
        let picture = Attachment(mediaType: "a/b", content: .inline(bytes))
        let hash = Attachment.sha256(of: bytes)
        try await history.append(
            [ConversationMessage(id: "m", role: .user, parts: [.attachment(picture)])], to: scope)
        let found = Attachment(mediaType: "a/b", content: .stored(sha256: hash, byteCount: 3))
        let reply = ConversationMessage(id: "r", role: .assistant, parts: [.attachment(found), .text("")])
        let writer = try await history.saveReply(reply, in: scope)
        try await history.deleteMessages(["m"], in: scope.session)
        #expect(try await history.erasesAll())
        #expect(try await history.attachment(sha256: hash, userId: "ann") == bytes)
        try await writer.finish(reply, isAppended: true)
        #expect(try await history.attachment(sha256: hash, userId: "ann") == bytes)
        #expect(try await history.check().problems.isEmpty)
    }

    @Test("A reply keeps its initial parts, with text added after them, even U+0000 and empty parts")
    func shapes() async throws {
        let call = ContentPart.toolCall(id: "c", name: "look", arguments: [:])
        let picture = ContentPart.attachment(Attachment(mediaType: "a/b", content: .inline(Data([1, 2]))))
        let shapes: [[ContentPart]] = [
            [], [.text("")], [.text("a\0b")], [call], [picture], [.text("a"), call], [call, .text("a")],
            [.text("a"), .text("b")], [.unknown(["x": 1])],
        ]
        for (number, parts) in shapes.enumerated() {
            let first = ConversationMessage(
                id: "\(number)", role: .assistant, parts: parts, metadata: ["model": "m\0"],
                unknownFields: ["later": [1, 2]])
            let writer = try await history.saveReply(first, in: scope)
            #expect(try await replies() == [streaming(first)])
            var grown = first
            let text = (grown.takeLastText() ?? "") + " \0 more"
            grown.parts.append(.text(text))
            try await writer.save(text, behind: nil)
            #expect(try await replies() == [streaming(grown)])
            try await writer.finish(grown, isAppended: true)
            let found = try #require(try await history.message("\(number)", in: scope.session)).message
            #expect(found.text == grown.text && found.parts.count == grown.parts.count)
            #expect(!found.hasInlineAttachments)
        }
        #expect(
            try await history.attachment(sha256: Attachment.sha256(of: Data([1, 2])), userId: "ann") == Data([1, 2]))
    }

    @Test("Appended parts are saved with the text before and after them, and only when there are new ones")
    func growingByParts() async throws {
        let call = ContentPart.toolCall(id: "c", name: "look\0", arguments: ["at": "it"])
        let result = ContentPart.toolResult(id: "c", content: [1, .null])
        let writer = try await history.saveReply(saying("I look"), in: scope)
        var grown = saying("I look")
        for (text, parts) in [
            (nil, [.text("I look"), call]), (nil, [.text("I look"), call, result]), ("and", nil), ("and see\0", nil),
        ] as [(String?, [ContentPart]?)] {
            try await writer.save(text, behind: parts)
            if let parts { grown.parts = parts } else { _ = grown.takeLastText() }
            if let text { grown.parts.append(.text(text)) }
            #expect(try await replies() == [streaming(grown)])
        }
        try await endWriters()
        #expect(try await replies().isEmpty)
        #expect(try await saved() == [grown.asInterrupted])
    }

    @Test("Finishing a reply trims its scope, and with `.window` deletes unused content; recovery trims nothing")
    func trimming() async throws {
        let history = SQLiteHistoryStore(
            directory: folder.file("window"), configuration: HistoryConfiguration(retention: .window))
        let bytes = Data([1, 2, 3])
        var old = messages(0..<1)[0]
        old.parts.append(.attachment(Attachment(mediaType: "a/b", content: .inline(bytes))))
        try await history.append([old] + messages(1..<4), to: scope)
        let reply = try await history.beginReply(start, in: scope, maxMessages: 3)
        reply.append("said")
        #expect(try await saved(in: history).count == 4)
        try await reply.finish()
        #expect(try await saved(in: history) == messages(3..<4) + [saying("said")])
        #expect(try await history.session(scope.session)?.messageCount == 2)
        await expectError(.notFound) {
            _ = try await history.attachment(sha256: Attachment.sha256(of: bytes), userId: "ann")
        }
        _ = try await history.saveReply(messages(5..<6)[0], in: scope, maxMessages: 2)
        try await history.write { try $0.run("UPDATE streaming_reply SET writer = 'nobody'") }
        #expect(try await history.streamingReplies(in: scope.session).isEmpty)
        #expect(try await saved(in: history).count == 3)
    }

    @Test("Deleting a session or a user deletes its streaming replies, and their ends do not restore it")
    func deletion() async throws {
        for delete in [
            { _ = try await history.deleteSession(scope.session) },
            { try await history.deleteUser(scope.userId) },
        ] {
            let reply = try await history.beginReply(start, in: scope)
            try await delete()
            #expect(try await drafts() == 0)
            reply.append("more")
            await expectError(.notFound) { try await reply.finish() }
            #expect(try await history.session(scope.session) == nil)
        }
    }

    @Test("A streaming reply released unfinished becomes an interrupted message")
    func release() async throws {
        var changes = history.changes(after: try await history.latestChangeCursor()).makeAsyncIterator()
        try await history.beginReply(start, in: scope).append("half")
        // The first change reports the new session.
        #expect(try await changes.next()?.kind == .sessionUpdated)
        #expect(try await changes.next()?.messageId == "r")
        #expect(try await saved() == [saying("half", isInterrupted: true)])
    }

    @Test("An agent does not get the incomplete tool exchange of an interrupted reply")
    func wholeExchanges() async throws {
        try await history.append(messages(0..<1), to: scope)
        var half = saying("I look")
        half.parts.append(.toolCall(id: "c", name: "look", arguments: [:]))
        _ = try await history.saveReply(half, in: scope)
        try await endWriters()
        #expect(try await replies().isEmpty)
        #expect(try await saved().last?.isInterrupted == true)
        let whole = try await history.windowOfWholeExchanges(of: scope, maxMessages: nil)
        #expect(try await saved().wholeExchanges() == whole)
        #expect(whole.count { $0.belongsToToolExchange } == 0)
    }

    @Test("A streaming reply continues after the history is closed and reopened, and is not marked as interrupted")
    func reopening() async throws {
        let reply = try await history.beginReply(start, in: scope)
        await history.close()
        #expect(try await replies() == [streaming(start)])
        reply.append("after all")
        try await reply.finish()
        #expect(try await saved() == [saying("after all")])
        #expect(try locks().isEmpty)
    }

    @Test("1,000 simultaneous replies hold one lock, and leave neither the lock nor unfinished replies behind")
    func thousand() async throws {
        let replies = try await withThrowingTaskGroup(of: StreamingReply.self) { group in
            for number in 0..<1000 {
                group.addTask { [history] in
                    try await history.beginReply(
                        ConversationMessage(id: "\(number)", role: .assistant, text: ""), in: scope)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(try locks().count == 1)
        try await withThrowingTaskGroup { group in
            for (number, reply) in replies.enumerated() {
                reply.append("\(number)")
                group.addTask { try await number.isMultiple(of: 2) ? reply.finish() : reply.interrupt() }
            }
            try await group.waitForAll()
        }
        #expect(try locks().isEmpty)
        #expect(try await drafts() == 0)
        let found = try await saved()
        #expect(found.count == 1000)
        #expect(found.count { $0.isInterrupted } == 500)
    }

    @Test("A history in memory supports streaming replies")
    func inMemory() async throws {
        let history = memory()
        let reply = try await history.beginReply(start, in: scope)
        #expect(try await history.streamingReplies(in: scope.session).map(\.message) == [streaming(start)])
        reply.append("said")
        try await reply.finish()
        #expect(try await saved(in: history) == [saying("said")])
    }
}
