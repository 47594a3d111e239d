import Foundation
import Observation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@testable import RecollectObservation

@Suite("Session list", .timeLimit(.minutes(10))) @MainActor struct SessionListTests {
    @Test("A list reads nothing before it is started, even if its properties are set")
    func nothingBeforeStart() async throws {
        let history = WatchedHistory(memory())
        try await history.fill(2)
        let list = SessionList(history)
        list.selection = key(name(0))
        list.query.order = .title
        list.searchText = "talk"
        await list.loadMore()
        #expect(history.takeReads().isEmpty)
        #expect(list.sessions.isEmpty && !list.isRunning && !list.isLoading)
        list.start()
        #expect(list.isLoading)
        await until { !list.isLoading && list.results != nil }
        #expect(list.names == [name(0), name(1)])
    }

    @Test("Pages load one after another to the end, and the first page has all pinned sessions")
    func paging() async throws {
        let history = memory()
        try await history.fill(12)
        for number in [9, 11] { try await history.update(key(name(number)), with: .init(isPinned: true)) }
        let list = await SessionList(history, pageSize: 4).started()
        #expect(list.names == [9, 11, 0, 1, 2, 3].map(name))
        #expect(list.sections.map(\.kind).first == .pinned && list.hasMore)
        #expect(list.sections.flatMap(\.sessions) == list.sessions)
        await list.loadMore()
        #expect(list.names == [9, 11, 0, 1, 2, 3, 4, 5, 6, 7].map(name))
        async let first: Void = list.loadMore()
        async let second: Void = list.loadMore()
        _ = await (first, second)
        #expect(list.names == [9, 11, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10].map(name))
        #expect(!list.hasMore)
    }

    @Test("After a session changes, the list reads only that session, and nothing of other users")
    func readsWhatChanged() async throws {
        let history = WatchedHistory(memory())
        try await history.fill(3)
        let list = await SessionList(history).started()
        _ = history.takeReads()
        try await history.say("again", in: name(2))
        try await list.waitForUpdates()
        #expect(list.names == [name(0), name(2), name(1)] || list.names == [name(2), name(0), name(1)])
        let feed: Set<WatchedHistory.Read> = [.latestChangeCursor, .changes]
        #expect(history.takeReads().filter { !feed.contains($0) } == [.session(name(2))])
        try await list.waitForUpdates()
        #expect(history.takeReads().filter { !feed.contains($0) } == [])
    }

    @Test("Changes in a burst are shown together, after the spacing")
    func bursts() async throws {
        let history = WatchedHistory(memory())
        try await history.fill(1)
        let clock = ManualClock()
        let list = await SessionList(history, spacing: .milliseconds(100), clock: clock).started()
        try await history.say("first", in: "burst")
        await until { list.names.contains("burst") }
        await clock.wait { $0.first == .milliseconds(100) }
        _ = history.takeReads()
        for number in 0..<100 { try await history.say("\(number)", in: "burst") }
        let cursor = try await history.latestChangeCursor()
        #expect(!history.takeReads().contains(.session("burst")))
        // The list may read the session when the feed has returned only the first half of the burst.
        var reads: [WatchedHistory.Read] = []
        while list.followed < cursor {
            await clock.wait { $0.first.map { $0 <= .milliseconds(100) } ?? false }
            clock.advance(by: .milliseconds(100))
            await Task.yield()
            reads += history.takeReads()
        }
        #expect(list.sessions.first { $0.id.sessionId == "burst" }?.messageCount == 101)
        #expect(reads.count { $0 == .session("burst") } <= 20)
    }

    @Test("A batch of many changed sessions costs two list queries, not a read of each session")
    func manyAtOnce() async throws {
        let history = WatchedHistory(memory())
        let list = await SessionList(history).started()
        list.stop()
        try await history.fill(40)
        var batch = ChangeBatch()
        for change in try await history.changes(after: .beginning, limit: 100) { batch.add(change, of: "ann") }
        _ = history.takeReads()
        try await list.apply(batch)
        #expect(list.names == (0..<40).map(name))
        #expect(history.takeReads() == [.list(text: ""), .list(text: "")])
    }

    @Test("A page read before a change and returned after it does not undo the change")
    func latePage() async throws {
        let history = WatchedHistory(memory())
        try await history.fill(6)
        let list = await SessionList(history, pageSize: 3).started()
        let witness = await SessionList(history, pageSize: 3).started()
        history.hold(.list(text: ""))
        let page = Task { await list.loadMore() }
        await history.waitForHeld(.list(text: ""))
        try await history.say("newer", in: name(4), hoursAgo: -1)
        try await witness.waitForUpdates()
        history.letGo(.list(text: ""))
        await page.value
        try await list.waitForUpdates()
        #expect(list.names == [4, 0, 1, 2, 3, 5].map(name))
        #expect(list.sessions.first?.messageCount == 2)
    }

    @Test("A view observes changes of the properties it reads, and of no others")
    func observation() async throws {
        let history = memory()
        try await history.fill(3)
        let list = await SessionList(history).started()
        let heard = Locked<[String]>([])
        func watch(_ name: String, _ look: () -> Void) {
            withObservationTracking(look) { heard.withLock { $0.append(name) } }
        }
        watch("sections") { _ = list.sections }
        watch("sessions") { _ = list.sessions }
        watch("hasMore") { _ = list.hasMore }
        watch("selection") { _ = list.selection }
        watch("error") { _ = list.error }
        try await history.append(
            [ConversationMessage(role: .user, text: "x")], to: key("s", of: "bob").scope(agentId: "a"))
        try await list.waitForUpdates()
        #expect(heard.withLock { $0 } == [])
        try await history.update(key(name(1)), with: SessionDetails(title: "New"))
        try await list.waitForUpdates()
        #expect(heard.withLock { $0.sorted() } == ["sections", "sessions"])
    }

    @Test("A new query reloads the list, and a changed session is shown if it matches the query")
    func queries() async throws {
        let history = memory()
        try await history.fill(4)
        try await history.say("of b", in: "other", by: "b")
        let list = await SessionList(history).started()
        list.query.order = .title
        list.query.agentId = "a"
        await until { !list.isLoading }
        #expect(list.names == (0..<4).map(name) && list.sections.map(\.kind) == [.all])
        list.query.isArchived = true
        await until { list.sessions.isEmpty }
        try await history.update(key(name(3)), with: .init(isArchived: true))
        try await history.update(key("other"), with: .init(isArchived: true))
        try await list.waitForUpdates()
        #expect(list.names == [name(3)])
        list.query.tags = ["work"]
        await until { list.sessions.isEmpty }
        await list.addTag("work", to: key(name(3)))
        #expect(list.names == [name(3)])
        await list.removeTag("work", from: key(name(3)))
        #expect(list.names == [])
    }

    @Test("After queries in quick succession, the list shows the last one, even if it equals the first")
    func queriesWhileLoading() async throws {
        let history = WatchedHistory(memory())
        try await history.fill(2)
        try await history.say("of b", in: "other", hoursAgo: 3, by: "b")
        let list = await SessionList(history).started()
        let read = WatchedHistory.Read.list(text: "")
        for agents in [["b", nil], ["b", "a"], ["b", "a", "b"]] {
            history.hold(read)
            list.query.agentId = agents[0]
            await history.waitForHeld(read)
            for agent in agents.dropFirst() { list.query.agentId = agent }
            history.letGo(read)
            await until { !list.isLoading }
            let expected = ["a": [0, 1].map(name), "b": ["other"]]
            #expect(list.names == list.query.agentId.map { expected[$0] } ?? [name(0), name(1), "other"])
        }
        #expect(list.error == nil)
    }

    @Test("A new order rebuilds the sections, even if the order of the sessions stays the same")
    func sectionsOfAnotherOrder() async throws {
        let history = memory()
        try await history.fill(1)
        let list = await SessionList(history).started()
        list.query.order = .title
        await until { list.sections.map(\.kind) == [.all] }
    }

    @Test("A list loads more sessions when archiving leaves it with less than a page")
    func fillsUp() async throws {
        let history = memory()
        try await history.fill(8)
        let list = await SessionList(history, pageSize: 3).started()
        for number in 0..<3 { await list.setArchived(true, of: key(name(number))) }
        #expect(list.names.count >= 3 && list.names == (3..<(3 + list.names.count)).map(name))
        #expect(list.error == nil)
    }

    @Test("A list shows sessions saved by another process", .needs(.processes))
    func otherProcess() async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        let list = SessionList(history: history, userId: "u")
        list.start()
        await until { !list.isLoading }
        let worker = try Worker(["append", "history:\(folder.url.path)", "a", "w", "1", "0", "0"])
        _ = await worker.wait(forLines: 1)
        await until { list.sessions.first?.messageCount == 2 }
        _ = await worker.finish()
        #expect(worker.endedWell)
    }

    @Test("A failure is set in `error`, and a list stopped by a failure can be started again")
    func failures() async throws {
        let history = WatchedHistory(memory())
        try await history.fill(1)
        history.fail(RecollectError(.busy, "test"))
        let list = await SessionList(history).started()
        #expect(list.error?.code == .busy && !list.isRunning)
        history.fail(nil)
        list.error = nil
        #expect(await list.started().names == [name(0)])
        #expect(list.error == nil && list.isRunning)
        await list.rename(key("nowhere"), to: "x")
        #expect(list.error?.code == .notFound)
        #expect(try await history.session(key("nowhere")) == nil)
    }

    @Test("A stopped list no longer changes, and a restarted list shows the current history")
    func stops() async throws {
        let history = memory()
        try await history.fill(1)
        let list = await SessionList(history).started()
        let witness = await SessionList(history).started()
        list.stop()
        #expect(!list.isRunning)
        try await history.fill(3)
        try await witness.waitForUpdates()
        #expect(list.names == [name(0)])
        #expect(await list.started().names == witness.names)
    }

    @Test("Releasing a list deallocates it and cancels its waits")
    func released() async throws {
        let clock = ManualClock()
        let history = memory()
        try await history.fill(1)
        var list: SessionList? = await SessionList(history, clock: clock).started()
        list?.selection = key(name(0))
        try await list?.waitForUpdates()
        await clock.wait { $0.contains { $0 > .seconds(3600) } }
        weak let remains = list
        list = nil
        await clock.wait { $0.isEmpty }
        #expect(remains == nil)
    }

    @Test("Sections are rebuilt at the end of the day")
    func midnight() async throws {
        let history = memory()
        try await history.fill(1)
        let clock = ManualClock()
        let date = Locked(noon)
        let list = SessionList(
            history: history, userId: "ann", calendar: utc, clock: clock, now: { date.withLock { $0 } })
        list.start()
        await until { !list.isLoading }
        #expect(list.sections.map(\.kind) == [.today])
        let rest = try #require(utc.dateInterval(of: .day, for: noon)).end.timeIntervalSince(noon)
        await clock.wait { $0.last == .seconds(rest) }
        date.withLock { $0 = noon + rest }
        clock.advance(by: .seconds(rest))
        await until { list.sections.map(\.kind) == [.yesterday] }
    }
}
