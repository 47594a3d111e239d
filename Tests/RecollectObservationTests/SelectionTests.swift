import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@testable import RecollectObservation

@Suite("Selection and actions", .timeLimit(.minutes(10))) @MainActor struct SelectionTests {
    @Test("The selection stays when the list is reordered or no longer shows the selected session")
    func stays() async throws {
        let history = memory()
        try await history.fill(6)
        let list = await SessionList(history, pageSize: 3).started()
        list.selection = key(name(1))
        try await history.say("newer", in: name(5), hoursAgo: -1)
        try await list.waitForUpdates()
        #expect(list.names.first == name(5) && list.selection == key(name(1)))
        list.query.order = .messageCount
        list.query.tags = ["none"]
        await until { list.sessions.isEmpty }
        #expect(list.selection == key(name(1)))
    }

    @Test(
        "Removing the selected session selects the session below, else the session above, else none",
        arguments: [true, false])
    func neighbors(deletes: Bool) async throws {
        let history = memory()
        try await history.fill(4)
        let list = await SessionList(history).started()
        func remove(_ number: Int) async throws {
            // Directly in the store, so that the list receives the change from the feed.
            if deletes {
                try await history.deleteSession(key(name(number)))
            } else {
                try await history.discardSession(key(name(number)))
            }
            try await list.waitForUpdates()
        }
        list.selection = key(name(1))
        try await remove(1)
        #expect(list.selection == key(name(2)))
        try await remove(0)
        #expect(list.selection == key(name(2)))
        list.selection = key(name(3))
        try await remove(3)
        #expect(list.selection == key(name(2)))
        try await remove(2)
        #expect(list.selection == nil && list.sessions.isEmpty)
    }

    @Test("Archiving the selected session selects its neighbor; deleting all sessions clears the selection")
    func severalAndArchived() async throws {
        let history = memory()
        try await history.fill(40)
        let list = await SessionList(history).started()
        list.selection = key(name(5))
        await list.setArchived(true, of: key(name(5)))
        #expect(list.selection == key(name(6)))
        await until { list.sessions.first { $0.id == list.selection }?.isUnread == false }
        try await history.deleteUser("ann")
        try await list.waitForUpdates()
        #expect(list.selection == nil && list.sessions.isEmpty)
    }

    @Test("The selected session is marked as read, also after new messages, but not in the background")
    func read() async throws {
        let history = memory()
        try await history.fill(2)
        let list = await SessionList(history).started()
        #expect(list.sessions.map(\.isUnread) == [true, true])
        list.selection = key(name(1))
        await until { list.sessions.map(\.isUnread) == [true, false] }
        try await history.say("more", in: name(1), hoursAgo: 1)
        await until { list.sessions.map(\.messageCount) == [1, 2] && !list.sessions[1].isUnread }
        list.marksSelectionAsRead = false
        try await history.say("more", in: name(1), hoursAgo: 1)
        try await list.waitForUpdates()
        #expect(list.sessions[1].isUnread)
        await list.setRead(true, of: key(name(0)))
        #expect(!list.sessions[0].isUnread)
        list.query.isUnread = true
        await until { list.names == [name(1)] }
        await list.setRead(false, of: key(name(0)))
        #expect(list.names == [name(0), name(1)])
    }

    @Test("Marking or changing a session that another writer has deleted does not recreate it")
    func deletedByOthersWhileMarked() async throws {
        let base = memory()
        let history = WatchedHistory(base)
        try await history.fill(2)
        let list = await SessionList(history).started()
        let read = WatchedHistory.Read.session(name(0))
        history.hold(read)
        list.selection = key(name(0))
        await history.waitForHeld(read)
        try await base.deleteSession(key(name(0)))
        history.letGo(read)
        try await list.writes.run {}
        #expect(try await base.session(key(name(0))) == nil)
        try await list.waitForUpdates()
        #expect(list.selection == key(name(1)) && list.error == nil)
        await list.addTag("x", to: key(name(0)))
        #expect(list.error?.code == .notFound)
        #expect(try await base.session(key(name(0))) == nil)
    }

    @Test("A message saved in the background stays unread, even while the session is being marked as read")
    func readWhileMarked() async throws {
        let base = memory()
        let history = WatchedHistory(base)
        try await history.fill(1)
        let list = await SessionList(history).started()
        let read = WatchedHistory.Read.session(name(0))
        history.hold(read)
        list.selection = key(name(0))
        await history.waitForHeld(read)
        list.marksSelectionAsRead = false
        try await base.say("more", in: name(0))
        history.letGo(read)
        try await list.writes.run {}
        #expect(try await base.session(key(name(0)))?.isUnread == true)
    }

    @Test("Deleting sessions while they are being marked as read does not recreate them")
    func deletedWhileMarked() async throws {
        let history = memory()
        try await history.fill(30)
        let list = await SessionList(history).started()
        list.selection = key(name(0))
        while let selection = list.selection { await list.delete(selection) }
        try await list.waitForUpdates()
        #expect(list.sessions.isEmpty && list.error == nil)
    }

    @Test("After an action returns, the list shows its result")
    func actions() async throws {
        let history = memory()
        try await history.fill(3)
        let list = await SessionList(history).started()
        await list.setPinned(true, of: key(name(2)))
        #expect(list.names == [2, 0, 1].map(name))
        await list.rename(key(name(0)), to: "Lamp")
        #expect(list.sessions[1].title == "Lamp")
        await list.addTag("x", to: key(name(0)))
        #expect(list.sessions[1].tags == ["x"])
        await list.delete(key(name(0)))
        #expect(list.names == [2, 1].map(name))
        #expect(try await history.session(key(name(0))) == nil)
        #expect(list.error == nil)
    }

    @Test("Undo restores the last discarded session first, and selects it if it was selected before")
    func undo() async throws {
        let history = memory()
        try await history.fill(3)
        let list = await SessionList(history).started()
        list.selection = key(name(0))
        await list.discard(key(name(0)))
        #expect(list.names == [1, 2].map(name) && list.selection == key(name(1)))
        await list.discard(key(name(2)))
        #expect(list.names == [1].map(name) && list.canUndoDiscard)
        await list.undoDiscard()
        #expect(list.names == [1, 2].map(name) && list.selection == key(name(1)))
        await list.undoDiscard()
        #expect(list.names == [0, 1, 2].map(name) && list.selection == key(name(0)))
        #expect(!list.canUndoDiscard && list.error == nil)
    }

    @Test("A read that starts before a discard and ends after it does not disable undo")
    func undoAfterAnOldRead() async throws {
        let base = memory()
        let history = WatchedHistory(base)
        try await history.fill(2)
        let list = await SessionList(history).started()
        let read = WatchedHistory.Read.session(name(0))
        history.hold(read)
        try await history.update(key(name(0)), with: SessionDetails(isRead: true))
        await history.waitForHeld(read)
        async let discarding: Void = list.discard(key(name(0)))
        while try await base.session(key(name(0)))?.discardedAt == nil { await Task.yield() }
        // Time for the list to process the discard.
        for _ in 0..<100 { await Task.yield() }
        history.letGo(read)
        await discarding
        #expect(list.names == [name(1)] && list.canUndoDiscard)
        await list.undoDiscard()
        #expect(list.names == [0, 1].map(name) && !list.canUndoDiscard)
    }

    @Test("A discard cannot be undone after another writer deleted or restored the session")
    func undoOfNothing() async throws {
        let history = memory()
        try await history.fill(2)
        let list = await SessionList(history).started()
        for number in 0..<2 { await list.discard(key(name(number))) }
        try await history.deleteSession(key(name(0)))
        try await history.restoreSession(key(name(1)))
        try await list.waitForUpdates()
        #expect(!list.canUndoDiscard && list.names == [name(1)])
        await list.discard(key("nowhere"))
        #expect(list.error?.code == .notFound && !list.canUndoDiscard)
    }
}
