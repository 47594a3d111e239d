import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Change feed") struct ChangeFeedTests {
    @Test("All changes after a cursor are returned once and in order, also after a reopening")
    func cursor() async throws {
        let folder = try TemporaryFolder()
        var seen: [HistoryChange] = []
        do {
            let history = folder.history()
            try await history.append(messages(0..<3), to: scope)
            seen += try await history.changes(after: .beginning, limit: 2)
            #expect(seen.map(\.messageId) == ["m0", "m1"])
        }
        let history = folder.history()
        try await history.update(scope.session, with: SessionDetails(title: "T"))
        try await history.append(messages(3..<4), to: scope.session.scope(agentId: "b"))
        try await history.deleteMessages(["m0"], in: scope.session)
        seen += try await history.changes(after: seen[1].cursor, limit: 100)
        #expect(seen.dropFirst(2).map(\.kind) == [.messageAdded, .sessionUpdated, .messageAdded, .messageDeleted])
        #expect(seen.dropFirst(2).map(\.messageId) == ["m2", nil, "m3", "m0"])
        #expect(seen[4].agentId == "b")
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.cursor < $1.cursor })
        #expect(try await history.latestChangeCursor() == seen.last?.cursor)
    }

    @Test("`changes()` returns changes saved after the call, and no earlier ones")
    func fromNowOn() async throws {
        let history = SQLiteHistoryStore.inMemory()
        try await history.append(messages(0..<3), to: scope)
        var changes = try await history.changes().makeAsyncIterator()
        try await history.append(messages(3..<4), to: scope)
        #expect(try await changes.next()?.messageId == "m3")
    }

    @Test(
        "A sequence number is never reused, even after the last messages are deleted",
        arguments: ["messages", "session", "user", "trim"])
    func numbersAreNotReused(what: String) async throws {
        let history = SQLiteHistoryStore.inMemory(HistoryConfiguration(retention: .window))
        try await history.append(messages(0..<4), to: scope)
        let cursor = try await history.latestChangeCursor()
        switch what {
        case "messages": try await history.deleteMessages(["m3"], in: scope.session)
        case "session": try await history.deleteSession(scope.session)
        case "user": try await history.deleteUser("ann")
        default: try await history.append([], to: scope, options: AppendOptions(maxMessages: 0))
        }
        try await history.append(messages(4..<5), to: scope)
        let changes = try await history.changes(after: cursor, limit: 10)
        #expect(changes.last?.messageId == "m4")
        #expect(changes.count == 2)
        #expect((changes.first?.kind == .sessionRearranged) == (what == "trim"))
    }

    @Test("A follower receives changes saved by this process and by another process", .needs(.processes))
    func follows() async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        try await history.append(messages(0..<1), to: scope)
        var changes = history.changes(after: .beginning).makeAsyncIterator()
        #expect(try await changes.next()?.messageId == "m0")
        try await history.append(messages(1..<2), to: scope)
        #expect(try await changes.next()?.messageId == "m1")
        _ = try await Worker(["append", "history:\(folder.url.path)", "a", "w", "1", "0", "0"]).finish()
        #expect(try await changes.next()?.messageId == "w-0-q")
    }

    @Test("A slow reader does not buffer changes in memory, and skips messages deleted in the meantime")
    func pulled() async throws {
        let history = SQLiteHistoryStore.inMemory()
        try await history.append(messages(0..<3000), to: scope)
        var slow = history.changes(after: .beginning).makeAsyncIterator()
        #expect(try await slow.next()?.messageId == "m0")
        var fast = history.changes(after: .beginning).makeAsyncIterator()
        for _ in 0..<3000 { _ = try await fast.next() }
        try await history.deleteSession(scope.session)
        var rest: [HistoryChange] = []
        while let change = try await slow.next() {
            rest.append(change)
            if change.kind == .sessionDeleted { break }
        }
        #expect(rest.count <= 500)
    }

    @Test("Repeated changes of a session or message are compacted to the last one, also for a late reader")
    func compacted() async throws {
        let history = SQLiteHistoryStore.inMemory()
        try await history.append(messages(0..<2), to: scope)
        let cursor = try await history.latestChangeCursor()
        for number in 0..<50 {
            try await history.update(scope.session, with: SessionDetails(isRead: number.isMultiple(of: 2)))
            for text in ["edit \(number)", "edit \(number) again"] {
                let edited = ConversationMessage(id: "m1", role: .assistant, text: text)
                try await history.edit([edited], in: scope.session)
            }
        }
        let last = try await history.latestChangeCursor()
        #expect(last.sequence == cursor.sequence + 150)
        let changes = try await history.changes(after: cursor, limit: 100)
        #expect(changes.map(\.kind) == [.sessionUpdated, .messageEdited])
        #expect(changes.last?.cursor == last)
        #expect(try await history.read { try $0.integer("SELECT count(*) FROM change") } == 2)
    }

    @Test("Each message has changes of its own, also those of several agents, and of one ID added again")
    func changesOfOneID() async throws {
        let history = SQLiteHistoryStore.inMemory()
        let (first, other) = (messages(0..<1), scope.session.scope(agentId: "b"))
        for scope in [scope, other, scope] {
            try await history.append(first, to: scope)
            if scope == other { try await history.deleteMessages(["m0"], in: scope.session) }
        }
        let added = try #require(try await history.message("m0", in: scope.session, agentId: nil)?.additionCursor)
        let edited = ConversationMessage(id: "m0", role: .user, text: "edited")
        try await history.edit([edited], in: scope.session)
        try await history.deleteMessages(["m0"], in: scope.session)
        let changes = try await history.changes(after: .beginning, limit: 100).filter { $0.messageId != nil }
        #expect(changes.map(\.kind) == [.messageDeleted, .messageDeleted, .messageEdited, .messageDeleted])
        #expect(changes.map(\.agentId) == ["a", "b", "a", "a"])
        let positions = changes.compactMap(\.additionCursor)
        #expect(positions.count == 4 && Set(positions).count == 3)
        #expect(positions[2...] == [added, added])
    }

    @Test(
        "A message keeps its position if it is assigned to an agent, branched, restored, and moved to another session")
    func positionOfMovedMessage() async throws {
        let history = SQLiteHistoryStore.inMemory()
        try await history.append(messages(0..<2), to: scope.session.scope(agentId: ""))
        let moved = SessionKey(userId: scope.userId, sessionId: "moved")
        func expectPosition(in session: SessionKey) async throws {
            #expect(
                try await history.message("m1", in: session, agentId: nil)?.additionCursor == ChangeCursor(sequence: 2))
        }
        try await history.append(messages(0..<2), to: scope, options: AppendOptions(claimsUnassigned: true))
        try await expectPosition(in: scope.session)
        let branch = try await history.branch(scope.session, from: "m1")
        try await expectPosition(in: branch)
        try await history.restoreBranch(branch, in: scope.session)
        try await history.moveSession(scope.session, to: "moved")
        try await expectPosition(in: moved)
        try await history.append(messages(2..<3), to: scope)
        try await history.moveSession(moved, to: scope.sessionId)
        try await expectPosition(in: scope.session)
    }

    @Test("An expired message removes the deletions of earlier messages of its ID, and of no later one")
    func deletionsOfOneID() async throws {
        let history = SQLiteHistoryStore.inMemory()
        func delete() async throws {
            try await history.append(messages(0..<1), to: scope)
            try await history.deleteMessages(["m0"], in: scope.session)
        }
        try await delete()
        try await history.append(messages(0..<1), to: scope)
        let branched = try #require(try await history.message("m0", in: scope.session, agentId: nil)?.additionCursor)
        let branch = try await history.branch(scope.session, from: "m0")
        try await delete()
        try await history.restoreBranch(branch, in: scope.session)
        _ = try await history.deleteMessages(olderThan: Date())
        let deletions = try await history.changes(after: .beginning, limit: 100).filter { $0.kind == .messageDeleted }
        #expect(deletions.count == 1)
        #expect(try #require(deletions.first?.additionCursor) > branched)
    }
}
