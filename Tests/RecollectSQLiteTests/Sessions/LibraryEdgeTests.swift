import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Combinations of branches, moves, discarding and deletion.
@Suite("Combined operations of the session library") struct LibraryEdgeTests {
    private let history = memory()
    private let id = scope.session

    private func ids(_ session: SessionKey) async throws -> [String] {
        try await LibraryReplica.messages(of: session, in: history).map(\.message.id)
    }

    @Test("Moving a session into a branch of its own branch leaves no cycle")
    func moveIntoOwnBranch() async throws {
        try await history.append(messages(0..<6), to: scope)
        let outer = try await history.branch(id, from: "m2")
        let inner = try await history.branch(outer, from: "m4")
        try await history.moveSession(id, to: inner.sessionId)
        let summary = try #require(try await history.session(inner))
        #expect(summary.branchPoint == nil)
        #expect(try await history.sessions(of: "ann", page: PageRequest(limit: 9)).elements.map(\.id) == [inner])
        #expect(try await history.branches(of: inner).map(\.id) == [outer])
        #expect(try await ids(inner) == ["m0", "m1", "m4", "m5"])
        try await history.deleteSession(inner)
        #expect(try await history.session(outer) == nil)
    }

    @Test("A branch can be restored even if the message before it was deleted")
    func deletedAnchor() async throws {
        try await history.append(messages(0..<4), to: scope)
        let branch = try await history.branch(id, from: "m2")
        try await history.append(messages(4..<6), to: scope)
        try await history.deleteMessages(["m1"], in: id)
        try await history.restoreBranch(branch, in: id)
        #expect(try await ids(id) == ["m0", "m2", "m3"])
        let other = try #require(try await history.branches(of: id).first)
        #expect(try await ids(other.id) == ["m4", "m5"])
        #expect(try await history.check().problems.isEmpty)
    }

    @Test("A branch returns after its message, even if a merge gave the message a new ID", arguments: [false, true])
    func anchorInMergedSession(isKnown: Bool) async throws {
        try await history.append(messages(0..<3), to: scope)
        let branch = try await history.branch(id, from: "m2")
        let (moved, other) = (messages(1..<2)[0], SessionKey(userId: id.userId, sessionId: "other"))
        let new = moved.copyId(from: id.sessionId)
        // The other session may have the message under its new ID from an earlier merge.
        try await history.append(
            [ConversationMessage(id: "m1", role: .assistant, text: "of the other session")]
                + (isKnown ? [moved.with(id: new)] : []), to: other.scope(agentId: scope.agentId))
        try await history.moveSession(id, to: other.sessionId)
        #expect(try await history.session(branch)?.branchPoint == BranchPoint(sessionId: "other", messageId: new))
        try await history.restoreBranch(branch, in: other)
        #expect(try await ids(other).suffix(2) == [new, "m2"])
        #expect(try await history.check().problems.isEmpty)
    }

    @Test("A branch stays after a message without an agent if a merge renames an agent's message of its ID")
    func anchorWithoutAgent() async throws {
        let other = SessionKey(userId: id.userId, sessionId: "other")
        func message(_ text: String) -> ConversationMessage {
            ConversationMessage(
                id: "x", role: .user, text: text, timestamp: Date(timeIntervalSince1970: 1_700_000_000))
        }
        try await history.append([message("of none")], to: id.scope(agentId: ""))
        try await history.append(messages(1..<2), to: scope)
        let branch = try await history.branch(id, from: "m1")
        try await history.append([message("of the agent")], to: scope)
        try await history.append([message("of the other session")], to: other.scope(agentId: scope.agentId))
        try await history.moveSession(id, to: other.sessionId)
        #expect(try await history.session(branch)?.branchPoint == BranchPoint(sessionId: "other", messageId: "x"))
    }

    @Test("A branch is restored after a deletion of its branch point, though the branch has a message with that ID")
    func anchorInBranch() async throws {
        func message(_ id: String, _ text: String) -> ConversationMessage {
            ConversationMessage(id: id, role: .user, text: text)
        }
        try await history.append([message("x", "of none")], to: id.scope(agentId: ""))
        try await history.append([message("x", "of the agent"), message("y", "more")], to: scope)
        let branch = try await history.branch(id, from: "x", agentId: scope.agentId)
        _ = try await history.deleteMessages(["x"], in: id)
        try await history.restoreBranch(branch, in: id)
        #expect(
            try await history.messages(of: id, agentId: nil, page: PageRequest(limit: 9)).elements.map(\.message.text)
                == ["of the agent", "more"])
    }

    @Test("A branch can be restored even if its message IDs are taken")
    func takenIDs() async throws {
        try await history.append(messages(0..<3), to: scope)
        let branch = try await history.branch(id, from: "m2")
        let other = ConversationMessage(id: "m0", role: .user, text: "another")
        try await history.append([messages(1..<2)[0], other], to: branch.scope(agentId: "a"))
        try await history.restoreBranch(branch, in: id)
        #expect(try await ids(id) == ["m0", "m1", "m2", other.copyId(from: branch.sessionId)])
        #expect(try await history.session(id)?.messageCount == 4)
        #expect(try await history.check().problems.isEmpty)
    }

    @Test("A whole session can be moved to a branch and restored")
    func branchAtFirst() async throws {
        try await history.append(messages(0..<3), to: scope)
        let branch = try await history.branch(id, from: "m0")
        #expect(try await history.session(id)?.messageCount == 0)
        try await history.append(messages(3..<4), to: scope)
        try await history.restoreBranch(branch, in: id)
        #expect(try await ids(id) == ["m0", "m1", "m2"])
        #expect(try await history.branches(of: id).map(\.messageCount) == [1])
    }

    @Test("Repeated moves to the same session keep each different content once")
    func repeatedMoves() async throws {
        let old = SessionKey(userId: "ann", sessionId: "old")
        try await history.append([ConversationMessage(id: "m", role: .user, text: "new")], to: scope)
        for text in ["one", "one", "two", "one", "two"] {
            try await history.append(
                [ConversationMessage(id: "m", role: .user, text: text, timestamp: Date(timeIntervalSince1970: 1))],
                to: old.scope(agentId: "a"))
            try await history.moveSession(old, to: "s")
        }
        let saved = try await LibraryReplica.messages(of: id, in: history).map(\.message.text)
        #expect(saved.sorted() == ["new", "one", "two"])
        #expect(try await history.check().problems.isEmpty)
    }

    @Test("A merged session is read only if both sessions were read", arguments: [false, true])
    func mergedReading(isUnread: Bool) async throws {
        let other = SessionKey(userId: "ann", sessionId: "other")
        try await history.append(messages(0..<2), to: scope)
        try await history.append(messages(2..<4), to: other.scope(agentId: "a"))
        try await history.update(id, with: SessionDetails(isRead: true))
        try await history.update(other, with: SessionDetails(isRead: !isUnread))
        try await history.moveSession(id, to: "other")
        #expect(try await history.session(other)?.isUnread == isUnread)
    }

    @Test("Deleting old discarded sessions includes a discarded session with a discarded branch")
    func discardedBranch() async throws {
        try await history.append(messages(0..<4), to: scope)
        let branch = try await history.branch(id, from: "m2")
        for session in [id, branch] { try await history.discardSession(session) }
        try await history.deleteSessions(discardedBefore: .distantFuture)
        #expect(try await history.session(id) == nil)
        #expect(try await history.session(branch) == nil)
    }

    @Test(
        "A fork into a session with only a streaming reply or deleted messages is possible", arguments: [false, true])
    func forkIntoUsedSession(hasReply: Bool) async throws {
        let target = SessionKey(userId: "ann", sessionId: "fork")
        try await history.append(messages(0..<3), to: scope)
        var reply: StreamingReply?
        if hasReply {
            reply = try await history.beginReply(
                ConversationMessage(id: "r", role: .assistant, text: "so"), in: target.scope(agentId: "a"))
        } else {
            try await history.append(messages(7..<8), to: target.scope(agentId: "a"))
            try await history.deleteMessages(["m7"], in: target)
            try await history.discardSession(target)
        }
        try await history.fork(id, at: "m1", into: "fork")
        try await reply?.finish()
        #expect(try await ids(target) == ["m0", "m1"] + (hasReply ? ["r"] : []))
        #expect(try await history.session(target)?.discardedAt == nil)
    }

    @Test("A fork into a session without messages preserves that session's own details")
    func forkIntoTitledSession() async throws {
        try await history.append(messages(0..<3), to: scope)
        try await history.update(
            id, with: SessionDetails(title: "Theirs", branchName: "main", metadata: ["k": 1, "l": 2]))
        let target = SessionKey(userId: "ann", sessionId: "fork")
        try await history.update(
            target, with: SessionDetails(title: "Mine", workingDirectory: "/mine", metadata: ["k": 3]))
        let before = try #require(try await history.session(target))
        try await history.fork(id, at: "m1", into: "fork")
        let fork = try #require(try await history.session(target))
        #expect(fork.title == "Mine" && fork.workingDirectory == "/mine" && fork.branchName == "main")
        #expect(fork.metadata["k"] == 3 && fork.metadata["l"] == 2 && fork.metadata["forkedFrom"] != nil)
        #expect(fork.createdAt == before.createdAt)
    }

    @Test("Dates that are not numbers delete nothing, and extreme dates leave every list complete")
    func strangeMoments() async throws {
        try await history.append(messages(0..<3), to: scope)
        try await history.discardSession(id)
        let nan = Date(timeIntervalSince1970: .nan)
        await expectError(.invalidArgument) { try await history.deleteMessages(olderThan: nan) }
        await expectError(.invalidArgument) { try await history.deleteSessions(discardedBefore: nan) }
        #expect(try await history.window(of: scope, maxMessages: nil).count == 3)
        let sessions = SQLiteSessionStorage(history: history, userId: "ann")
        for (number, date) in [Double.nan, .infinity, 1e300, 0].enumerated() {
            try await history.update(
                SessionKey(userId: "ann", sessionId: "s\(number)"),
                with: SessionDetails(lastAccessedAt: Date(timeIntervalSince1970: date)))
        }
        try await history.append(
            [ConversationMessage(role: .user, text: "far", timestamp: Date(timeIntervalSince1970: 1e300))],
            to: Scope(userId: "ann", sessionId: "s3", agentId: ""))
        for number in 0..<4 { try await sessions.updateLastAccessed(id: "s\(number)") }
        var found: [String] = []
        var request = PageRequest<SessionCursor>?(PageRequest(limit: 1))
        while let next = request, found.count < 10 {
            let page = try await history.sessions(SessionQuery(userId: "ann", order: .lastAccess), page: next)
            found += page.elements.map(\.id.sessionId)
            request = page.next.map { PageRequest(limit: 1, after: $0) }
        }
        #expect(found == ["s3", "s2", "s1", "s0"])
    }

    @Test("A repair preserves the preview of a session that has only a first message")
    func repairedPreview() async throws {
        try await history.update(id, with: SessionDetails(firstMessage: "said first"))
        try await history.repair()
        #expect(try await history.session(id)?.preview == "said first")
    }

    @Test("Deleting a user leaves no session ID in the change feed, even of sessions deleted before")
    func deletedUser() async throws {
        try await history.append(messages(0..<1), to: scope)
        try await history.deleteSession(id)
        try await history.deleteUser("ann")
        let cursor = try await history.latestChangeCursor()
        try await history.deleteUser("ann")
        let changes = try await history.changes(after: .beginning, limit: 10)
        #expect(changes.map(\.kind) == [.userDeleted])
        #expect(try await history.latestChangeCursor() == cursor)
    }

    @Test("A search finds both an edited original and its copy with the earlier text")
    func editedOriginal() async throws {
        try await history.append([ConversationMessage(id: "m", role: .user, text: "apple one")], to: scope)
        try await history.fork(id, at: "m", into: "copy")
        try await history.edit([ConversationMessage(id: "m", role: .user, text: "apple two")], in: id)
        let hits = try await history.search(SearchQuery(userId: "ann", text: "apple")).elements
        #expect(Set(hits.map(\.session.sessionId)) == [id.sessionId, "copy"])
    }

    @Test("An agent with only a streaming reply is not listed for the session")
    func silentAgent() async throws {
        try await history.append(messages(0..<2), to: scope)
        let reply = try await history.beginReply(messages(2..<3)[0], in: id.scope(agentId: "parrot"))
        defer { withExtendedLifetime(reply) {} }
        #expect(try await history.session(id)?.agentIds == ["a"])
        let listed = try await history.sessions(
            SessionQuery(userId: "ann", agentId: "parrot"), page: PageRequest(limit: 9))
        #expect(listed.elements.isEmpty)
    }

    @Test("An attachment of a message that is not saved leaves no file behind")
    func unusedAttachment() async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        try await history.append(messages(0..<2), to: scope)
        let attachment = Attachment(mediaType: "a/b", content: .inline(Data("bytes".utf8)))
        let again = ConversationMessage(id: "m0", role: .user, parts: [.attachment(attachment)])
        let unknown = ConversationMessage(id: "unknown", role: .user, parts: [.attachment(attachment)])
        try await history.append([again], to: scope)
        try await history.edit([unknown], in: id)
        #expect(try await history.check().problems.isEmpty)
    }

    @Test("The preview is the first user message to any agent, and is updated for messages inserted before it")
    func preview() async throws {
        try await history.append([ConversationMessage(id: "1", role: .assistant, text: "hello")], to: scope)
        try await history.append(
            [ConversationMessage(id: "2", role: .user, text: "first")], to: id.scope(agentId: "b"))
        #expect(try await history.session(id)?.preview == "first")
        try await history.append([ConversationMessage(id: "3", role: .user, text: "later")], to: scope)
        try await history.deleteMessages(["1"], in: id)
        #expect(try await history.session(id)?.preview == "first")
        let sessions = SQLiteSessionStorage(history: history, userId: "ann")
        let shown = try #require(try await sessions.getSession(id: "s")).messages
        try await sessions.updateSessionMessages(
            id: "s", messages: [ChatMessage(role: .user, content: "before")] + shown)
        #expect(try await history.session(id)?.preview == "before")
    }

    @Test("Sorted lists return each session once in both directions, even with equal or unusual titles")
    func titles() async throws {
        let titles = ["b", "B", "b", "", "é", "E\u{301}", "a\u{0}b", "a\u{0}c", "a", "", "Z", "z"]
        for (number, title) in titles.enumerated() {
            let session = SessionKey(userId: "ann", sessionId: number == 3 ? "" : "s\(number)")
            try await history.update(session, with: SessionDetails(title: title, addedTags: ["t\u{0}", "t"]))
        }
        for order in SessionQuery.Order.allCases {
            let query = SessionQuery(userId: "ann", order: order, tags: ["t\u{0}"])
            let all = try await history.sessions(query, page: PageRequest(limit: .max)).elements
            #expect(all.count == titles.count)
            for isForward in [true, false] {
                var paged: [Session] = []
                var cursor: SessionCursor?
                repeat {
                    let request =
                        isForward ? PageRequest(limit: 1, after: cursor) : PageRequest(limit: 1, before: cursor)
                    let page = try await history.sessions(query, page: request)
                    paged = isForward ? paged + page.elements : page.elements + paged
                    cursor = page.next
                } while cursor != nil && paged.count <= titles.count
                #expect(paged == all, "\(order), forward \(isForward)")
            }
        }
    }

    @Test("A list can be filtered by any number of tags")
    func manyTags() async throws {
        let tags = (0..<2_000).map { "tag \($0)" }
        try await history.update(id, with: SessionDetails(title: "all", addedTags: tags))
        try await history.update(
            SessionKey(userId: "ann", sessionId: "other"),
            with: SessionDetails(title: "some", addedTags: Array(tags.dropLast())))
        let query = SessionQuery(userId: "ann", tags: tags + tags.prefix(2))
        #expect(try await history.sessions(query, page: PageRequest(limit: 9)).elements.map(\.id) == [id])
    }

    @Test("Invalid usage values and extreme dates do not stop saves and lists")
    func strangeNumbers() async throws {
        let usages: [JSONValue] = [
            "7", -5, .number(1e300), .integer(.max), .null, [], ["input_tokens": "12"], ["input_tokens": -3],
            ["input_tokens": .integer(.max)], ["input_tokens": .number(1e300)], ["input_tokens": 5],
        ]
        for (number, usage) in usages.enumerated() {
            try await history.append(
                [
                    ConversationMessage(
                        id: "u\(number)", role: .user, text: "t",
                        timestamp: Date(timeIntervalSince1970: [-1e300, 1e300, -1, .nan, 0][number % 5]),
                        metadata: ["usage": usage])
                ], to: scope)
        }
        let input = try #require(try await history.session(id)).usage.input
        #expect(input == 12 + 5 + (2 << 40))
        try await history.deleteMessages(["u6"], in: id)
        #expect(try await history.session(id)?.usage.input == input - 12)
        let sessions = SQLiteSessionStorage(history: history, userId: "ann")
        try await sessions.saveSession(id: "later", firstMessage: "x")
        #expect(try await sessions.getAllSessions().map(\.id) == ["later", "s"])
    }
}
