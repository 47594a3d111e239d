import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Migration between histories")
struct HistoryMigrationTests {
    private let source = memory()
    private let target = memory()

    /// Fills the source with sessions that use every feature of a session.
    private func fill() async throws {
        let picture = Attachment(mediaType: "image/png", name: "p.png", content: .inline(Data("picture".utf8)))
        let s = SessionKey(userId: "ann", sessionId: "s")
        for index in 0..<6 {
            // Two agents alternate; the session has the order of saving.
            try await source.append(
                [messages(index..<(index + 1))[0]], to: s.scope(agentId: index.isMultiple(of: 2) ? "a" : "b"))
        }
        try await source.append(
            [
                ConversationMessage(
                    id: "odd", role: Role(rawValue: "narrator"),
                    parts: [.text("\u{0}e\u{301}"), .attachment(picture), .unknown(["x": 1])],
                    metadata: ["usage": ["input_tokens": 3]], unknownFields: ["later": [1, 2]])
            ], to: s.scope(agentId: "a"))
        try await source.update(
            s,
            with: SessionDetails(
                title: "Title", workingDirectory: "/w", branchName: "main", metadata: ["k": [1]], isPinned: true,
                isArchived: true, isRead: true, addedTags: ["blue", "red"]))
        for (number, session) in ["t", "u", "gone", "empty"].enumerated() {
            let id = SessionKey(userId: "ann", sessionId: session)
            if session == "empty" {
                try await source.update(id, with: SessionDetails(firstMessage: "said first"))
            } else {
                try await source.append(
                    messages((10 * number)..<(10 * number + 4), prefix: session), to: id.scope(agentId: "a"))
            }
        }
        try await source.discardSession(SessionKey(userId: "ann", sessionId: "gone"))
        try await source.append(messages(0..<2), to: Scope(userId: "bob", sessionId: "s", agentId: ""))
    }

    private func all(_ history: SQLiteHistoryStore, _ user: String) async throws -> [Session] {
        try await history.sessions(of: user, sessionIdPrefix: "", limit: 1000)
    }

    private func expectEqual(_ user: String = "ann") async throws {
        let (left, right) = (try await all(source, user), try await all(target, user))
        #expect(left.count == right.count)
        for (left, right) in zip(left, right) {
            var (expected, found) = (left, right)
            // The migration discards sessions at a time of its own.
            if left.discardedAt != nil {
                (expected.discardedAt, found.discardedAt) = (.distantPast, right.discardedAt.map { _ in .distantPast })
            }
            #expect(expected == found)
            let page = PageRequest<MessageCursor>(limit: .max)
            let saved = try await source.messages(of: left.id, agentId: nil, page: page).elements
            let moved = try await target.messages(of: left.id, agentId: nil, page: page).elements
            #expect(saved.map(\.agentId) == moved.map(\.agentId))
            #expect(saved.map(\.message) == moved.map(\.message))
        }
    }

    @Test("Sessions keep their agents, order, attachments, titles, tags and state; discarded ones stay discarded")
    func everything() async throws {
        try await fill()
        #expect(try await source.users() == ["ann", "bob"])
        let latest = try await source.latestChangeCursor()
        let report = try await source.migrate(user: "ann", to: target)
        #expect(
            (report.sessionCount, report.movedSessionCount, report.messageCount, report.addedMessageCount) == (
                5, 5, 19, 19
            ))
        try await expectEqual()
        #expect(try await target.users() == ["ann"])
        #expect(try await source.latestChangeCursor() == latest)
        #expect(
            try await target.attachment(sha256: Attachment.sha256(of: Data("picture".utf8)), userId: "ann")
                == Data("picture".utf8))
        let query = SessionQuery(userId: "ann", order: .lastAccess)
        let orders = try await [source, target].asyncMap { history in
            try await history.sessions(query, page: PageRequest(limit: 10)).elements.map(\.id.sessionId)
        }
        #expect(orders[0] == orders[1])
    }

    @Test("Branches of a discarded session are discarded in the target")
    func discardedBranches() async throws {
        let id = SessionKey(userId: "ann", sessionId: "s")
        try await source.append(messages(0..<4), to: id.scope(agentId: "a"))
        _ = try await source.branch(id, from: "m2")
        try await source.discardSession(id)
        for _ in 0..<2 {
            try await source.migrate(user: "ann", to: target)
            let listed = try await target.sessions(of: "ann", page: PageRequest(limit: 9)).elements
            #expect(listed.isEmpty)
            let query = SessionQuery(userId: "ann", isDiscarded: true)
            let discarded = try await target.sessions(query, page: PageRequest(limit: 9)).elements
            #expect(discarded.map(\.messageCount).sorted() == [2, 2])
        }
    }

    @Test("Repeating a migration adds only new content of the source and preserves changes in the target")
    func again() async throws {
        try await fill()
        try await source.migrate(user: "ann", to: target)
        let latest = try await target.latestChangeCursor()
        let again = try await source.migrate(user: "ann", to: target)
        #expect(
            (again.sessionCount, again.movedSessionCount, again.messageCount, again.addedMessageCount) == (5, 0, 19, 0))
        #expect(try await target.latestChangeCursor() == latest)

        let t = Scope(userId: "ann", sessionId: "t", agentId: "a")
        try await target.append(messages(0..<1, prefix: "own"), to: t)
        try await target.update(t.session, with: SessionDetails(title: "Mine", addedTags: ["mine"]))
        try await source.append(messages(20..<22, prefix: "new"), to: t)
        try await source.update(t.session, with: SessionDetails(title: "Theirs", addedTags: ["theirs"]))
        let third = try await source.migrate(user: "ann", to: target)
        #expect((third.movedSessionCount, third.addedMessageCount) == (1, 2))
        let moved = try await target.session(t.session)
        #expect(moved?.title == "Mine" && moved?.tags == ["mine", "theirs"])
        #expect(
            try await target.window(of: t, maxMessages: nil).map(\.id) == [
                "t0", "t1", "t2", "t3", "own0", "new20", "new21",
            ])
    }

    @Test("A migration interrupted after its last message transfers discarded and read marks on its next run")
    func interruptedAtTheEnd() async throws {
        let scope = Scope(userId: "ann", sessionId: "gone", agentId: "a")
        try await source.append(messages(0..<4), to: scope)
        try await source.update(scope.session, with: SessionDetails(isRead: true))
        try await source.discardSession(scope.session)
        let run = Task { [source, target] in
            try await source.migrate(user: "ann", to: target) { _ in withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: CancellationError.self) { _ = try await run.value }
        #expect(try await target.window(of: scope, maxMessages: nil).count == 4)
        #expect(try await target.session(scope.session)?.discardedAt == nil)
        try await source.migrate(user: "ann", to: target)
        try await expectEqual()
        // From then on, the user's changes in the target are preserved.
        try await target.restoreSession(scope.session)
        try await source.migrate(user: "ann", to: target)
        #expect(try await target.session(scope.session)?.discardedAt == nil)
    }

    @Test("A branch becomes an archived session with its origin in the metadata")
    func branches() async throws {
        let s = SessionKey(userId: "ann", sessionId: "s")
        try await source.append(messages(0..<6), to: s.scope(agentId: "a"))
        let branch = try await source.branch(s, from: "m4")
        try await source.append(messages(7..<8), to: s.scope(agentId: "a"))
        let report = try await source.migrate(user: "ann", to: target)
        #expect((report.sessionCount, report.messageCount) == (2, 7))
        let moved = try #require(try await target.session(branch))
        #expect(moved.isArchived)
        #expect(moved.metadata["branchPoint"] == ["sessionId": "s", "messageId": "m3"])
        #expect(try await target.window(of: branch.scope(agentId: "a"), maxMessages: nil).map(\.id) == ["m4", "m5"])
        #expect(
            try await target.window(of: s.scope(agentId: "a"), maxMessages: nil).map(\.id) == [
                "m0", "m1", "m2", "m3", "m7",
            ])
        #expect(try await source.migrate(user: "ann", to: target).movedSessionCount == 0)
    }

    @Test("Different content with the same ID is reported with its session and field, and the rest is migrated")
    func conflict() async throws {
        for session in ["s", "t"] {
            try await source.append(messages(0..<4), to: Scope(userId: "ann", sessionId: session, agentId: "a"))
        }
        try await target.append(messages(0..<4).map { $0.mappingText { _ in "e\u{301}" } }, to: scope)
        let error = await #expect(throws: RecollectError.self) {
            try await source.migrate(user: "ann", to: target)
        }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("session s") == true && error?.message.contains("`parts`") == true)
        #expect(try await target.session(SessionKey(userId: "ann", sessionId: "t"))?.messageCount == 4)
        #expect(try await target.window(of: scope, maxMessages: nil).first?.text == "e\u{301}")
    }

    @Test("A migration copies a session in use, and a later one completes it")
    func inUse() async throws {
        try await source.append(messages(0..<1_200), to: scope)
        let (pages, continuation) = AsyncStream<Void>.makeStream()
        let writing = Task { [source] in
            var number = 0
            for await _ in pages {
                try await source.append(
                    [ConversationMessage(id: "later \(number)", role: .user, text: "\(number)")], to: scope)
                number += 1
            }
        }
        for _ in 0..<3 { try await source.migrate(user: "ann", to: target) { _ in continuation.yield() } }
        continuation.finish()
        try await writing.value
        try await source.migrate(user: "ann", to: target)
        try await expectEqual()
    }

    @Test("A message with an attachment that no store has is migrated", arguments: ["ABC", "../a", ""])
    func unknownAttachment(hash: String) async throws {
        let attachment = Attachment(mediaType: "a/b", content: .stored(sha256: hash, byteCount: 1))
        try await source.append(
            messages(0..<2) + [ConversationMessage(id: "m", role: .user, parts: [.attachment(attachment)])], to: scope)
        let folder = try TemporaryFolder()
        let onDisk = folder.history()
        #expect(try await source.migrate(user: "ann", to: onDisk).addedMessageCount == 3)
        #expect(try await onDisk.migrate(user: "ann", to: target).addedMessageCount == 3)
        try await expectEqual()
    }

    @Test("5,000 messages migrate without losses or duplicates when runs are canceled at random points")
    func interrupted() async {
        await Seeds.run(1) { seed in
            let user = "ann \(seed)"
            let random = Locked(SeededGenerator(seed: seed))
            for session in 0..<4 {
                for agent in ["a", "b"] {
                    try await source.append(
                        messages(0..<625, prefix: "\(session)\(agent)"),
                        to: Scope(userId: user, sessionId: "s\(session)", agentId: agent))
                }
            }
            var runs = 0
            while true {
                runs += 1
                let run = Task { [source, target] in
                    try await source.migrate(user: user, to: target) { _ in
                        guard random.withLock({ Int.random(in: 0..<3, using: &$0) }) == 0 else { return }
                        withUnsafeCurrentTask { $0?.cancel() }
                    }
                }
                do {
                    let report = try await run.value
                    #expect((report.sessionCount, report.messageCount) == (4, 5000))
                    break
                } catch is CancellationError {
                    continue
                }
            }
            #expect(runs > 1)
            try await expectEqual(user)
        }
    }

    @Test("A migration to chat files includes messages outside the window and inlines attachments")
    func toFiles() async throws {
        let folder = try TemporaryFolder()
        try await fill()
        try await source.append(messages(50..<60), to: scope, options: AppendOptions(maxMessages: 2))
        let files = FileChatStorage(baseURL: folder.url, sameRole: .keep)
        let report = try await source.migrate(user: "ann", to: files)
        #expect((report.messageCount, report.addedMessageCount) == (29, 29))
        let page = PageRequest<MessageCursor>(limit: .max)
        let stored = try await source.messages(of: scope.session, agentId: "a", page: page).elements.map(\.message)
        let found = try await files.fetch(userId: "ann", sessionId: "s", agentId: "a", maxMessages: nil)
        #expect(found == (try await source.restoringAttachments(of: stored, userId: "ann")))
        #expect(found.contains { $0.hasInlineAttachments })
        #expect(try await source.migrate(user: "ann", to: files).addedMessageCount == 0)
    }
}

extension Array {
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async throws -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
