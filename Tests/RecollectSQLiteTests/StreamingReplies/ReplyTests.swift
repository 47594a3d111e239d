import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Streaming replies") struct ReplyTests {
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

    private func streaming(_ message: ConversationMessage) -> ConversationMessage {
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

    /// Simulates the end of the writing process: the replies then name a writer without a held lock.
    private func endWriters(_ name: String = "1B9D6BCD-BBFD-4B2D-9B5D-AB8DFBBD4BED") async throws {
        try await history.write { try $0.run("UPDATE streaming_reply SET writer = ?", name) }
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
        #expect(try await history.attachment(sha256: hash) == bytes)
        try await writer.finish(reply, isAppended: true)
        #expect(try await history.attachment(sha256: hash) == bytes)
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
        #expect(try await history.attachment(sha256: Attachment.sha256(of: Data([1, 2]))) == Data([1, 2]))
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
        await expectError(.notFound) { _ = try await history.attachment(sha256: Attachment.sha256(of: bytes)) }
        _ = try await history.saveReply(messages(5..<6)[0], in: scope, maxMessages: 2)
        try await history.write { try $0.run("UPDATE streaming_reply SET writer = 'nobody'") }
        #expect(try await history.streamingReplies(in: scope.session).isEmpty)
        #expect(try await saved(in: history).count == 3)
    }

    @Test("A scope has at most one streaming reply per ID; other scopes and later replies can reuse the ID")
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
        // A reply regenerated with the same ID edits the message, which keeps its position.
        try await history.append(messages(5..<6), to: scope)
        let second = try await history.beginReply(start, in: scope)
        second.append("again")
        try await second.finish()
        #expect(try await saved() == [saying("again")] + messages(5..<6))
    }

    @Test(
        "A reply never replaces a message of another role: it is refused at its start or saved beside it",
        arguments: ["agent", ""], [false, true])
    func otherRole(agentId: String, isInterrupted: Bool) async throws {
        let question = ConversationMessage(id: "r", role: .user, text: "question")
        let reply = try await history.beginReply(start, in: scope)
        reply.append("said")
        try await history.append([question], to: scope.session.scope(agentId: agentId == "" ? "" : scope.agentId))
        isInterrupted ? try await endWriters() : try await reply.finish()
        #expect(try await replies().isEmpty)
        let found = try await saved()
        #expect(found.map(\.role) == [.user, .assistant])
        #expect(found.first == question)
        #expect(found.last?.isInterrupted == isInterrupted)
        #expect(isInterrupted || found.last?.text == "said")
        await expectError(.invalidArgument) { _ = try await history.beginReply(start, in: scope) }
    }

    @Test(
        "A streaming reply of a known ID replaces an empty reply and continues an interrupted one, but no complete one")
    func completeReply() async throws {
        for (known, rest) in [
            (saying("wh", isInterrupted: true), "ole"), (saying("", isInterrupted: true), "whole"),
            (saying(""), "whole"),
        ] {
            try await history.append([known], to: scope)
            let reply = try await history.beginReply(saying(known.text), in: scope)
            reply.append(rest)
            try await reply.finish()
            #expect(try await saved() == [saying("whole")])
            await expectError(.invalidArgument) { _ = try await history.beginReply(start, in: scope) }
            #expect(try await saved() == [saying("whole")])
            try await history.deleteSession(scope.session)
        }
    }

    @Test("An interrupted reply with content is not replaced by a streaming reply of its ID that does not continue it")
    func interruptedReply() async throws {
        let call = ContentPart.toolCall(id: "c", name: "look", arguments: [:])
        var calling = saying("half", isInterrupted: true)
        calling.parts.append(call)
        var thinking = calling
        thinking.parts = [.thinking("hm", signature: nil)]
        for (known, others) in [
            (saying("half", isInterrupted: true), [start, saying("ha"), saying("other")]),
            (calling, [start, saying("half"), saying("half and half")]), (thinking, [start]),
        ] {
            for agentId in [scope.agentId, ""] {
                try await history.append([known], to: scope.session.scope(agentId: agentId))
                for other in others {
                    await expectError(.invalidArgument) { _ = try await history.beginReply(other, in: scope) }
                }
                #expect(try await history.message("r", in: scope.session)?.message == known)
                var continued = known
                continued.isInterrupted = false
                try await history.beginReply(continued, in: scope).finish()
                #expect(try await saved() == [continued])
                try await history.deleteSession(scope.session)
            }
        }
    }

    // MARK: IDs from merges, restored branches and recreated sessions

    private func other(_ sessionId: String) -> Scope {
        Scope(userId: scope.userId, sessionId: sessionId, agentId: scope.agentId)
    }

    private func texts(_ scope: Scope) async throws -> [String] {
        try await history.window(of: scope, maxMessages: nil).map(\.text)
    }

    @Test(
        "A streaming reply merged into a session with a message of its ID is saved beside that message",
        arguments: [false, true])
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
        "A message merged into a session with a streaming reply of its ID is left unchanged",
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

    @Test("A complete reply's ID is refused after a failed write, too", arguments: [false, true])
    func completeAfterRollback(isOtherProcess: Bool) async throws {
        let other = isOtherProcess ? folder.history() : history
        try await other.beginReply(saying("complete"), in: scope).finish()
        await #expect(throws: RecollectError.self) { try await history.restoreBranch(scope.session, in: scope.session) }
        for _ in 0..<2 {
            await #expect { try await history.beginReply(start, in: scope) } throws: {
                ($0 as? RecollectError)?.code == .invalidArgument
            }
        }
        #expect(try await texts(scope) == ["complete"])
    }

    @Test("The ID of a complete message without an agent is refused for a reply of an agent new to the session")
    func completeWithoutAgent() async throws {
        try await history.append([saying("complete")], to: scope.session.scope(agentId: ""))
        await #expect { try await history.beginReply(start, in: scope) } throws: {
            ($0 as? RecollectError)?.code == .invalidArgument
        }
        let all = try await history.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 9)).elements
        #expect(all.map(\.message) == [saying("complete")])
    }

    @Test("A complete reply's ID is refused in a discarded session, too", arguments: ["agent", ""])
    func completeInDiscarded(agentId: String) async throws {
        let complete = scope.session.scope(agentId: agentId == "" ? "" : scope.agentId)
        try await history.append([saying("complete")], to: complete)
        try await history.discardSession(scope.session)
        await #expect { try await history.beginReply(start, in: scope) } throws: {
            ($0 as? RecollectError)?.code == .invalidArgument
        }
        #expect(try await history.message("r", in: scope.session)?.message == saying("complete"))
    }

    @Test("A second streaming reply of one ID is refused if one of the two has no agent", arguments: [false, true])
    func streamingWithoutAgent(isFirst: Bool) async throws {
        let unassigned = scope.session.scope(agentId: "")
        let reply = try await history.beginReply(saying("first"), in: isFirst ? unassigned : scope)
        await #expect { try await history.beginReply(start, in: isFirst ? scope : unassigned) } throws: {
            ($0 as? RecollectError)?.code == .invalidArgument
        }
        try await reply.finish()
        #expect(try await history.message("r", in: scope.session)?.message == saying("first"))
    }

    @Test("Of two streaming replies with one ID in merged sessions, one of an agent and one of none, both are saved")
    func mergedWithoutAgent() async throws {
        let (a, b) = (other("a"), other("b"))
        let first = try await history.beginReply(saying("of none"), in: a.session.scope(agentId: ""))
        let second = try await history.beginReply(saying("of b"), in: b)
        try await history.moveSession(a.session, to: b.sessionId)
        try await first.finish()
        try await second.finish()
        #expect(try await allTexts(b.session) == ["of b", "of none"])
    }

    @Test("A merge that gives a message without an agent a new ID leaves the reply to the agent's own message")
    func mergedBesideUnassigned() async throws {
        let (a, b) = (other("a"), other("b"))
        try await history.append([saying("of the UI")], to: a.session.scope(agentId: ""))
        try await history.append([saying("half", isInterrupted: true)], to: a)
        try await history.append([saying("of b")], to: b.session.scope(agentId: ""))
        let reply = try await history.beginReply(saying("half of it"), in: a)
        try await history.moveSession(a.session, to: b.sessionId)
        try await reply.finish()
        #expect(try await allTexts(b.session) == ["half of it", "of b", "of the UI"])
    }

    @Test("A reply saved by a UI stays one message if the other merged session streams a reply of its ID")
    func mergedBesideSaved() async throws {
        let (a, b) = (other("a"), other("b"))
        let first = try await history.beginReply(saying("of a"), in: a)
        try await history.append([saying("of a")], to: a)
        let second = try await history.beginReply(saying("of b"), in: b)
        try await history.moveSession(a.session, to: b.sessionId)
        try await first.finish()
        try await second.finish()
        #expect(try await allTexts(b.session) == ["of a", "of b"])
    }

    @Test("A reply whose saved message a former merge has copied is saved to the copy")
    func mergedIntoCopy() async throws {
        let (a, b) = (other("a"), other("b"))
        try await history.append([saying("of b")], to: b)
        try await history.append([saying("half")], to: a)
        try await history.moveSession(a.session, to: b.sessionId)
        let reply = try await history.beginReply(saying("half"), in: a)
        try await history.append([saying("half")], to: a)
        try await history.moveSession(a.session, to: b.sessionId)
        reply.append(" and half")
        try await reply.finish()
        #expect(try await allTexts(b.session) == ["half and half", "of b"])
    }

    @Test("Two streaming replies of merged sessions are both saved, though a UI saved the same beginning of both")
    func mergedBothSaved() async throws {
        let (a, b) = (other("a"), other("b"))
        var replies: [StreamingReply] = []
        for scope in [a, b] {
            try await replies.append(history.beginReply(saying("half"), in: scope))
            try await history.append([saying("half")], to: scope)
        }
        try await history.moveSession(a.session, to: b.sessionId)
        for (reply, text) in zip(replies, [" of a", " of b"]) {
            reply.append(text)
            try await reply.finish()
        }
        #expect(try await allTexts(b.session) == ["half of a", "half of b"])
    }

    @Test(
        "A streaming reply with a placeholder without an agent leaves the agent's message with its ID after a merge",
        arguments: [false, true])
    func mergedBesidePlaceholder(isTarget: Bool) async throws {
        let (a, b) = (other("a"), other("b"))
        try await history.append([saying("")], to: a.session.scope(agentId: ""))
        let reply = try await history.beginReply(start, in: a)
        try await history.append([saying("of b")], to: b)
        let (from, into) = isTarget ? (b, a) : (a, b)
        try await history.moveSession(from.session, to: into.sessionId)
        reply.append("words")
        try await reply.finish()
        #expect(try await allTexts(into.session) == ["", "of b", "words"])
    }

    @Test("A streaming reply with a placeholder without an agent leaves a restored message with its ID")
    func restoredBesidePlaceholder() async throws {
        try await history.append([saying("")], to: scope.session.scope(agentId: ""))
        try await history.append([saying("of the branch")], to: scope)
        let branch = try await history.branch(scope.session, from: "r", agentId: scope.agentId)
        let reply = try await history.beginReply(start, in: scope)
        try await history.restoreBranch(branch, in: scope.session)
        reply.append("words")
        try await reply.finish()
        #expect(try await allTexts(scope.session) == ["", "of the branch", "words"])
    }

    @Test("A message without an agent with the content of an interrupted reply becomes the agent's")
    func interruptedBesideUnassigned() async throws {
        let reply = try await history.beginReply(saying("half"), in: scope)
        try await history.append([saying("half of it")], to: scope.session.scope(agentId: ""))
        try await reply.interrupt()
        #expect(try await texts(scope) == ["half of it"])
        #expect(try await allTexts(scope.session) == ["half of it"])
    }

    @Test("An interrupted reply leaves another interrupted one saved meanwhile", arguments: ["", "ha", "another"])
    func interruptedRetry(text: String) async throws {
        let retry = try await history.beginReply(start, in: scope)
        try await history.append([saying("half of it", isInterrupted: true)], to: scope)
        retry.append(text)
        try await retry.interrupt()
        #expect(try await allTexts(scope.session) == (text == "another" ? ["another"] : []) + ["half of it"])
        let longer = try await history.beginReply(saying("half of it and more"), in: scope)
        try await longer.interrupt()
        #expect(try await texts(scope).contains("half of it and more"))
        #expect(try await !texts(scope).contains("half of it"))
    }

    @Test("A fork into a session with a streaming reply keeps the copied message of its ID", arguments: ["agent", ""])
    func forkedBesideReply(agentId: String) async throws {
        let (a, b) = (other("a"), other("b"))
        try await history.append([saying("copied")], to: a.session.scope(agentId: agentId == "" ? "" : a.agentId))
        let reply = try await history.beginReply(saying("streamed"), in: b)
        try await history.fork(a.session, at: "r", agentId: nil, into: b.sessionId)
        try await reply.finish()
        #expect(try await allTexts(b.session) == ["copied", "streamed"])
    }

    private func allTexts(_ session: SessionKey) async throws -> [String] {
        try await history.messages(of: session, agentId: nil, page: PageRequest(limit: 20)).elements
            .map(\.message.text).sorted()
    }

    @Test("A second merge gives no message the ID of a streaming reply", arguments: ["agent", ""])
    func mergedTwice(agentId: String) async throws {
        let (a, b) = (other("a"), other("b"))
        let second = a.session.scope(agentId: agentId == "" ? "" : a.agentId)
        try await history.append([saying("of b")], to: b)
        let reply = try await history.beginReply(saying("streamed"), in: a)
        try await history.moveSession(a.session, to: b.sessionId)
        if agentId == "" { try await history.append([saying("of no agent")], to: b.session.scope(agentId: "")) }
        try await history.append([saying("second of a")], to: second)
        try await history.moveSession(a.session, to: b.sessionId)
        try await reply.finish()
        #expect(
            try await allTexts(b.session)
                == ["of b"] + (agentId == "" ? ["of no agent"] : []) + ["second of a", "streamed"])
        #expect(try await history.check().problems.isEmpty)
    }

    @Test("A reply that streams when a branch is cut follows its question into the branch, and back")
    func branchedQuestion() async throws {
        try await history.append(messages(0..<3), to: scope)
        let reply = try await history.beginReply(start, in: scope)
        let branch = try await history.branch(scope.session, from: "m2")
        #expect(try await replies() == [])
        #expect(try await replies(of: branch).map(\.id) == ["r"])
        reply.append("words")
        try await reply.finish()
        #expect(try await saved().map(\.id) == ["m0", "m1"])
        try await history.restoreBranch(branch, in: scope.session)
        #expect(try await saved().map(\.id) == ["m0", "m1", "m2", "r"])
    }

    @Test("A reply with the ID of a restored message is saved after the messages of the branch")
    func restoredBranch() async throws {
        try await history.append(messages(0..<1) + [saying("first answer")], to: scope)
        let branch = try await history.branch(scope.session, from: "r")
        let reply = try await history.beginReply(saying("second answer"), in: scope)
        try await history.restoreBranch(branch, in: scope.session)
        try await reply.finish()
        #expect(try await texts(scope) == [messages(0..<1)[0].text, "first answer", "second answer"])
    }

    @Test("A reply of a deleted session is not saved to a new session with the same ID")
    func deletedAndRecreated() async throws {
        let reply = try await history.beginReply(saying("old words"), in: scope)
        try await history.deleteSession(scope.session)
        try await history.append([saying("new answer")], to: scope)
        await expectError(.notFound) { try await reply.finish() }
        #expect(try await texts(scope) == ["new answer"])
    }

    @Test("Two streaming replies with one ID in merged sessions are both saved")
    func mergedReplies() async throws {
        let (a, b) = (other("a"), other("b"))
        let first = try await history.beginReply(saying("of a"), in: a)
        let second = try await history.beginReply(saying("of b"), in: b)
        try await history.moveSession(a.session, to: b.sessionId)
        try await first.finish()
        try await second.finish()
        #expect(try await texts(b).sorted() == ["of a", "of b"])
    }

    @Test("A streaming reply already saved by a UI follows its message through a merge", arguments: [false, true])
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

    @Test(
        "A streaming reply follows its session to another session ID, even of an existing session",
        arguments: [false, true])
    func move(isThere: Bool) async throws {
        let target = Scope(userId: scope.userId, sessionId: "new", agentId: scope.agentId)
        try await history.append(messages(0..<1), to: scope)
        if isThere { try await history.append(messages(8..<9), to: target) }
        let reply = try await history.beginReply(start, in: scope)
        try await history.moveSession(scope.session, to: "new")
        #expect(try await replies(of: target.session) == [streaming(start)])
        reply.append("said")
        try await reply.finish()
        #expect(try await history.window(of: target, maxMessages: nil).last == saying("said"))
        #expect(try await history.session(scope.session) == nil)
    }

    @Test("A streaming reply released unfinished becomes an interrupted message")
    func release() async throws {
        var changes = history.changes(after: try await history.latestChange()).makeAsyncIterator()
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
        let whole = try await history.wholeWindow(of: scope, maxMessages: nil)
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
