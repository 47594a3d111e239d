import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Replies with the ID of another reply or of a saved message of the session.
extension ReplyTests {
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
}
