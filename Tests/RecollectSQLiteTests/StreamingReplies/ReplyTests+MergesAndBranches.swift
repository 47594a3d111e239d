import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Replies of sessions merged, forked, moved, created again, or cut into branches while they stream.
extension ReplyTests {
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

    @Test("A fork into a session with a streaming reply keeps the copied message of its ID", arguments: ["agent", ""])
    func forkedBesideReply(agentId: String) async throws {
        let (a, b) = (other("a"), other("b"))
        try await history.append([saying("copied")], to: a.session.scope(agentId: agentId == "" ? "" : a.agentId))
        let reply = try await history.beginReply(saying("streamed"), in: b)
        try await history.fork(a.session, at: "r", agentId: nil, into: b.sessionId)
        try await reply.finish()
        #expect(try await allTexts(b.session) == ["copied", "streamed"])
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
}
