import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Replies in flight") struct ReplyTests {
    private let folder: TemporaryFolder
    private let history: SQLiteHistoryStore
    private let start = ConversationMessage(id: "r", role: .assistant, text: "")

    init() throws {
        folder = try TemporaryFolder()
        history = folder.history()
    }

    private var writers: URL { folder.file("writers") }

    private func locks() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: writers.path)
    }

    private func saved(in history: SQLiteHistoryStore? = nil) async throws -> [ConversationMessage] {
        try await (history ?? self.history).window(of: scope, maxMessages: nil)
    }

    private func saying(_ text: String, isInterrupted: Bool = false) -> ConversationMessage {
        var message = start
        message.parts = [.text(text)]
        message.isInterrupted = isInterrupted
        return message
    }

    private func inFlight(_ message: ConversationMessage) -> ConversationMessage {
        var message = message
        message.isStreaming = true
        return message
    }

    private func replies(of session: SessionKey = scope.session) async throws -> [ConversationMessage] {
        try await history.streamingReplies(in: session).map(\.message)
    }

    private func drafts() async throws -> Int64? {
        try await history.read { try $0.integer("SELECT count(*) FROM streaming_reply") }
    }

    /// Makes it as if the process that writes the drafts had ended: they name a writer whose lock nobody holds.
    private func endWriters(_ name: String = "1B9D6BCD-BBFD-4B2D-9B5D-AB8DFBBD4BED") async throws {
        try await history.write { try $0.run("UPDATE streaming_reply SET writer = ?", name) }
    }

    @Test("a reply is listed as far as it is kept and given to no agent; finished, it is a message like any other")
    func life() async throws {
        try await history.append(messages(0..<1), to: scope)
        let keeper = try await history.saveReply(start, in: scope)
        #expect(try await replies() == [inFlight(start)])
        try await keeper.keep("half", behind: nil)
        #expect(try await replies() == [inFlight(saying("half"))])
        #expect(try await history.streamingReplies(in: scope.session).map(\.agentId) == [scope.agentId])
        #expect(try await saved() == messages(0..<1))
        try await keeper.finish(saying("half and half"))
        #expect(try await replies().isEmpty)
        #expect(try await saved() == messages(0..<1) + [saying("half and half")])
        #expect(try await history.session(scope.session)?.messageCount == 2)
    }

    @Test(
        "the whole way through a draft: appended, flushed by itself, finished with tool calls, marked when interrupted")
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
        let kept = try await saved()
        #expect(kept.map(\.id) == ["r", "m1"])
        #expect(kept[0] == whole)
        #expect(kept[1].isInterrupted && kept[1].text == "text 1 so far")
        #expect(try await drafts() == 0)
    }

    @Test("an attachment that a reply in flight takes over stays when its message is deleted")
    func takenOver() async throws {
        let bytes = Data([1, 2, 3])
        let picture = Attachment(mediaType: "a/b", content: .inline(bytes))
        let hash = Attachment.sha256(of: bytes)
        try await history.append(
            [ConversationMessage(id: "m", role: .user, parts: [.attachment(picture)])], to: scope)
        let kept = Attachment(mediaType: "a/b", content: .stored(sha256: hash, byteCount: 3))
        let reply = ConversationMessage(id: "r", role: .assistant, parts: [.attachment(kept), .text("")])
        let keeper = try await history.saveReply(reply, in: scope)
        try await history.deleteMessages(["m"], in: scope.session)
        #expect(try await history.erasesAll())
        #expect(try await history.attachment(sha256: hash) == bytes)
        try await keeper.finish(reply)
        #expect(try await history.attachment(sha256: hash) == bytes)
        #expect(try await history.check().problems.isEmpty)
    }

    @Test("what a reply began with comes back as it was, with text behind it; U+0000 and empty parts too")
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
            let keeper = try await history.saveReply(first, in: scope)
            #expect(try await replies() == [inFlight(first)])
            var grown = first
            let text = (grown.takeLastText() ?? "") + " \0 more"
            grown.parts.append(.text(text))
            try await keeper.keep(text, behind: nil)
            #expect(try await replies() == [inFlight(grown)])
            try await keeper.finish(grown)
            let kept = try #require(try await history.message("\(number)", in: scope.session)).message
            #expect(kept.text == grown.text && kept.parts.count == grown.parts.count)
            #expect(!kept.hasInlineAttachments)
        }
        #expect(try await history.attachment(sha256: Attachment.sha256(of: Data([1, 2]))) == Data([1, 2]))
    }

    @Test(
        "parts that are appended are kept in the row with the prose before and behind them, and only when there are new ones"
    )
    func growingByParts() async throws {
        let call = ContentPart.toolCall(id: "c", name: "look\0", arguments: ["at": "it"])
        let result = ContentPart.toolResult(id: "c", content: [1, .null])
        let keeper = try await history.saveReply(saying("I look"), in: scope)
        var grown = saying("I look")
        for (text, parts) in [
            (nil, [.text("I look"), call]), (nil, [.text("I look"), call, result]), ("and", nil), ("and see\0", nil),
        ] as [(String?, [ContentPart]?)] {
            try await keeper.keep(text, behind: parts)
            if let parts { grown.parts = parts } else { _ = grown.takeLastText() }
            if let text { grown.parts.append(.text(text)) }
            #expect(try await replies() == [inFlight(grown)])
        }
        try await endWriters()
        #expect(try await replies().isEmpty)
        #expect(try await saved() == [grown.asInterrupted])
    }

    @Test(
        "the end of a reply trims its scope, under `.window` with what nothing uses any more; a recovered one trims nothing"
    )
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
        await expectError(.notFound) { _ = try await history.attachment(sha256: Attachment.sha256(of: bytes)) }
        _ = try await history.saveReply(messages(5..<6)[0], in: scope, maxMessages: 2)
        try await history.write { try $0.run("UPDATE streaming_reply SET writer = 'nobody'") }
        #expect(try await history.streamingReplies(in: scope.session).isEmpty)
        #expect(try await saved(in: history).count == 3)
    }

    @Test("two replies of one id cannot be in flight in a scope, but in two, and one after the other")
    func sameId() async throws {
        let first = try await history.beginReply(start, in: scope)
        await expectError(.invalidArgument) { _ = try await history.beginReply(start, in: scope) }
        let elsewhere = try await history.beginReply(
            start, in: Scope(userId: scope.userId, sessionId: "other", agentId: scope.agentId))
        let other = scope.session.scope(agentId: "other")
        let another = try await history.beginReply(start, in: other)
        another.append("hers")
        #expect(try await history.streamingReplies(in: scope.session).map(\.agentId) == [scope.agentId, "other"])
        try await another.finish()
        #expect(try await history.window(of: other, maxMessages: nil).map(\.text) == [start.text + "hers"])
        try await history.deleteMessages([start.id], in: scope.session)
        try await elsewhere.finish()
        try await first.interrupt()
        // Regenerated under the same id: the message is edited and keeps its place.
        try await history.append(messages(5..<6), to: scope)
        let second = try await history.beginReply(start, in: scope)
        second.append("again")
        try await second.finish()
        #expect(try await saved() == [saying("again")] + messages(5..<6))
    }

    @Test(
        "a reply never replaces a message of another role: it cannot begin with the ID of one, and ends beside one",
        arguments: ["agent", ""], [false, true])
    func otherRole(agentId: String, isInterrupted: Bool) async throws {
        let question = ConversationMessage(id: "r", role: .user, text: "question")
        let reply = try await history.beginReply(start, in: scope)
        reply.append("said")
        try await history.append([question], to: scope.session.scope(agentId: agentId == "" ? "" : scope.agentId))
        isInterrupted ? try await endWriters() : try await reply.finish()
        #expect(try await replies().isEmpty)
        let kept = try await saved()
        #expect(kept.map(\.role) == [.user, .assistant])
        #expect(kept.first == question)
        #expect(kept.last?.isInterrupted == isInterrupted)
        #expect(isInterrupted || kept.last?.text == "said")
        await expectError(.invalidArgument) { _ = try await history.beginReply(start, in: scope) }
    }

    // MARK: Ids that come in from elsewhere

    private func other(_ sessionId: String) -> Scope {
        Scope(userId: scope.userId, sessionId: sessionId, agentId: scope.agentId)
    }

    private func texts(_ scope: Scope) async throws -> [String] {
        try await history.window(of: scope, maxMessages: nil).map(\.text)
    }

    @Test("a reply that a merge brings to a message of its id is saved beside it", arguments: [false, true])
    func mergedBesideMessage(isInterrupted: Bool) async throws {
        let (a, b) = (other("a"), other("b"))
        try await history.append([saying("whole")], to: b)
        let reply = try await history.beginReply(saying("streamed"), in: a)
        try await history.moveSession(a.session, to: b.sessionId)
        isInterrupted ? try await endWriters() : try await reply.finish()
        #expect(try await history.streamingReplies(in: b.session).isEmpty)
        #expect(try await texts(b) == ["whole", "streamed"])
        #expect(try await history.message("r", in: b.session)?.message == saying("whole"))
        #expect(try await history.check().problems.isEmpty)
    }

    @Test(
        "a message that a merge brings to a reply of its id stays as it is, of its agent or of none",
        arguments: ["agent", ""])
    func mergedMessage(agentId: String) async throws {
        let (a, b) = (other("a"), other("b"))
        try await history.append([saying("whole")], to: a.session.scope(agentId: agentId == "" ? "" : a.agentId))
        let reply = try await history.beginReply(saying("streamed"), in: b)
        try await history.moveSession(a.session, to: b.sessionId)
        try await reply.finish()
        let all = try await history.messages(
            of: b.session, agentId: nil, page: PageRequest(limit: 10)
        ).elements
        #expect(all.map(\.message.text).sorted() == ["streamed", "whole"])
        #expect(try await history.message("r", in: b.session)?.message == saying("whole"))
    }

    @Test("a reply of a restored branch's id is saved behind what the branch brings back")
    func restoredBranch() async throws {
        try await history.append(messages(0..<1) + [saying("first answer")], to: scope)
        let branch = try await history.branch(scope.session, from: "r")
        let reply = try await history.beginReply(saying("second answer"), in: scope)
        try await history.restoreBranch(branch, in: scope.session)
        try await reply.finish()
        #expect(try await texts(scope) == [messages(0..<1)[0].text, "first answer", "second answer"])
    }

    @Test("a reply of a deleted session does not end in the session that was made anew under its id")
    func deletedAndMadeAnew() async throws {
        let reply = try await history.beginReply(saying("old words"), in: scope)
        try await history.deleteSession(scope.session)
        try await history.append([saying("new answer")], to: scope)
        await expectError(.notFound) { try await reply.finish() }
        #expect(try await texts(scope) == ["new answer"])
    }

    @Test("two replies of one id in sessions that are merged are both saved")
    func mergedReplies() async throws {
        let (a, b) = (other("a"), other("b"))
        let first = try await history.beginReply(saying("of a"), in: a)
        let second = try await history.beginReply(saying("of b"), in: b)
        try await history.moveSession(a.session, to: b.sessionId)
        try await first.finish()
        try await second.finish()
        #expect(try await texts(b).sorted() == ["of a", "of b"])
    }

    @Test("a reply that a UI has saved already follows its message through a merge", arguments: [false, true])
    func followsItsMessage(isTaken: Bool) async throws {
        let (a, b) = (other("a"), other("b"))
        if isTaken { try await history.append([saying("of b")], to: b) }
        let reply = try await history.beginReply(saying("half"), in: a)
        try await history.append([saying("half")], to: a)
        try await history.moveSession(a.session, to: b.sessionId)
        reply.append(" and half")
        try await reply.finish()
        #expect(try await texts(b) == (isTaken ? ["of b"] : []) + ["half and half"])
    }

    @Test("a reply whose session is deleted, or whose user, goes along and cannot bring it back")
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

    @Test(
        "a reply follows its session to another session id, one that is there already too",
        arguments: [false, true])
    func move(isThere: Bool) async throws {
        let target = Scope(userId: scope.userId, sessionId: "new", agentId: scope.agentId)
        try await history.append(messages(0..<1), to: scope)
        if isThere { try await history.append(messages(8..<9), to: target) }
        let reply = try await history.beginReply(start, in: scope)
        try await history.moveSession(scope.session, to: "new")
        #expect(try await replies(of: target.session) == [inFlight(start)])
        reply.append("said")
        try await reply.finish()
        #expect(try await history.window(of: target, maxMessages: nil).last == saying("said"))
        #expect(try await history.session(scope.session) == nil)
    }

    @Test("a draft that is released unfinished becomes an interrupted message")
    func release() async throws {
        var changes = history.changes(after: try await history.latestChange()).makeAsyncIterator()
        try await history.beginReply(start, in: scope).append("half")
        // The first tells that there is a session.
        #expect(try await changes.next()?.kind == .sessionUpdated)
        #expect(try await changes.next()?.messageId == "r")
        #expect(try await saved() == [saying("half", isInterrupted: true)])
    }

    @Test("an interrupted reply with half a tool exchange does not reach an agent in halves")
    func wholeExchanges() async throws {
        try await history.append(messages(0..<1), to: scope)
        var half = saying("I look")
        half.parts.append(.toolCall(id: "c", name: "look", arguments: [:]))
        _ = try await history.saveReply(half, in: scope)
        try await endWriters()
        #expect(try await replies().isEmpty)
        #expect(try await saved().last?.isInterrupted == true)
        let whole = try await history.wholeWindow(of: scope, maxMessages: nil)
        #expect(try await saved().wholeExchanges() == whole)
        #expect(whole.count { $0.belongsToToolExchange } == 0)
    }

    @Test("a reply in flight goes on when the history is closed and opened anew; nobody takes its writer for dead")
    func reopening() async throws {
        let reply = try await history.beginReply(start, in: scope)
        await history.close()
        #expect(try await replies() == [inFlight(start)])
        reply.append("after all")
        try await reply.finish()
        #expect(try await saved() == [saying("after all")])
        #expect(try locks().isEmpty)
    }

    @Test("1,000 replies at once hold one lock, and leave neither it nor a draft behind")
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
        let kept = try await saved()
        #expect(kept.count == 1000)
        #expect(kept.count { $0.isInterrupted } == 500)
    }

    @Test("a history in memory has replies in flight, too")
    func inMemory() async throws {
        let history = memory()
        let reply = try await history.beginReply(start, in: scope)
        #expect(try await history.streamingReplies(in: scope.session).map(\.message) == [inFlight(start)])
        reply.append("said")
        try await reply.finish()
        #expect(try await saved(in: history) == [saying("said")])
    }
}
