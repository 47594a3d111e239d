import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Synchronizations interrupted, or with changes of the history while they run.
extension ChatsAreaTests {
    @Test("chat-projection: a message published and not saved in the history does not count as deleted")
    func interrupted() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        try await say("two", in: other)
        try await elsewhere.chats.synchronize(id, with: other)
        // As a synchronization killed before it saves the additions.
        _ = try await publish()
        #expect(try await workspace.chats.synchronize(id, with: history).new.map(\.message.id) == ["two"])
        #expect(try await texts(history) == ["one", "two"])
        #expect(try await deletedIDs() == [])

        try await history.deleteMessages(["two"], in: id)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await texts(history) == ["one"])
        #expect(try await deletedIDs() == ["two"])
    }

    @Test(
        "chat-projection: a message that was not saved in the history, because it has another one, is not edited by it",
        arguments: [true, false], ["ours", "yours"])
    func refusedAddition(isKilled: Bool, text: String) async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        let scope = Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a")
        try await other.append([message("1", "theirs")], to: scope)
        try await elsewhere.chats.synchronize(id, with: other)
        var (published, local) = try await publish()
        #expect(published.new.count == 1)
        // The app saves its own message before the file's.
        try await history.append([message("1", text)], to: scope)
        if isKilled {
            local.pending = ChatProjection(session: "", entries: published.chat.entries)
            try workspace.archive.note(synchronized: local.bytes, at: path)
        } else {
            try await workspace.chats.save(published, over: local, in: id, of: history, title: nil)
        }
        for _ in 0..<2 {
            try await workspace.chats.synchronize(id, with: history)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        let winner = try await self.published()
        let both = [try await texts(history), try await texts(other)]
        #expect(both == [winner, winner])
        let loser = winner == ["theirs"] ? text : "theirs"
        #expect(try await keptVersions().contains { $0.contains(loser) })
    }

    @Test("chat-projection: an edit made while a synchronization saves another one stays")
    func editedMeanwhile() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        try await other.edit([message("one", "Bob")], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        let (published, local) = try await publish()
        #expect(published.edited.map(\.message.text) == ["Bob"])
        try await history.edit([message("one", "Zoe")], in: id)
        try await workspace.chats.save(published, over: local, in: id, of: history, title: nil)
        #expect(try await texts(history) == ["Zoe"])
        for _ in 0..<2 {
            try await workspace.chats.synchronize(id, with: history)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        for found in [try await texts(history), try await texts(other), try await self.published()] {
            #expect(found == ["Zoe"])
        }
        #expect(try await keptVersions().count { $0.contains("\"Bob\"") } == 1)
    }

    @Test("chat-projection: synchronizations of one session run one after the other, until they are canceled")
    func concurrent() async throws {
        let watched = WatchedHistory(history)
        try await say("one", in: history)
        try await workspace.chats.synchronize(id, with: history)
        watched.hold(.session("Moby Dick"))
        async let first = workspace.chats.synchronize(id, with: watched)
        await watched.waitForHeld(.session("Moby Dick"))
        try await say("two", in: history)
        // In the same process and in another one, the lock is that of the state folder.
        let same = try SharedWorkspace(
            root: folder.root,
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state")))
        let second = Task { [id, history] in try await same.chats.synchronize(id, with: history) }
        let canceled = Task { [id, history] in try await same.chats.synchronize(id, with: history) }
        #expect(try same.archive.lockSynchronization(of: path) == nil)
        try await Task.sleep(for: .milliseconds(100))
        #expect(try await published() == ["one"])
        canceled.cancel()
        await #expect(throws: CancellationError.self) { try await canceled.value }
        watched.letGo(.session("Moby Dick"))
        _ = try await (first, second.value)
        #expect(try await published() == ["one", "two"])
        #expect(try await texts(history) == ["one", "two"])
        #expect(try await keptVersions().isEmpty)
    }

    @Test("chat-projection: an edit after an interrupted synchronization replaces the published one")
    func editedAfterInterruption() async throws {
        try await say("one", in: history)
        try await workspace.chats.synchronize(id, with: history)
        for text in ["z", "a", "one"] {
            try await history.edit([message("one", text)], in: id)
            _ = try await publish()
        }
        try await workspace.chats.synchronize(id, with: history)
        for found in [try await texts(history), try await published()] { #expect(found == ["one"]) }
        #expect(try await keptVersions().isEmpty)
    }

    @Test("chat-projection: a message deleted while a synchronization reads the history does not come back")
    func deletedMeanwhile() async throws {
        let watched = WatchedHistory(history)
        try await say("one", "two", in: history)
        try await workspace.chats.synchronize(id, with: history)
        // The end of the feed is already read.
        watched.hold(.session("Moby Dick"))
        async let synchronized = workspace.chats.synchronize(id, with: watched)
        await watched.waitForHeld(.session("Moby Dick"))
        try await history.deleteMessages(["one"], in: id)
        watched.letGo(.session("Moby Dick"))
        #expect(try await synchronized.new.isEmpty)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await texts(history) == ["two"])
        #expect(try await published() == ["two"])
    }

    @Test("chat-projection: an imported message deleted before it was noted does not come back")
    func deletedBeforeNote() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        try await say("two", "three", in: other)
        try await elsewhere.chats.synchronize(id, with: other)
        // As a synchronization killed after it has appended a message.
        var (published, local) = try await publish()
        local.pending = ChatProjection(
            session: "", entries: published.chat.entries.filter { $0.message.id != "one" })
        try workspace.archive.note(synchronized: local.bytes, at: path)
        try await say("two", in: history)
        try await history.deleteMessages(["two"], in: id)
        published = try await workspace.chats.synchronize(id, with: history)
        #expect(published.new.map(\.message.id) == ["three"])
        #expect(try await texts(history) == ["one", "three"])
        #expect(try await deletedIDs() == ["two"])
    }

    @Test("chat-projection: an edit of a message imported by an interrupted synchronization is the later one")
    func editedBeforeNote() async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        try await say("one", in: other)
        for text in ["y", "z"] {
            try await other.edit([message("one", text)], in: id)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        var (published, local) = try await publish()
        local.pending = ChatProjection(session: "", entries: published.chat.entries)
        try workspace.archive.note(synchronized: local.bytes, at: path)
        try await history.append(
            published.new.map(\.message), to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        try await history.edit([message("one", "a")], in: id)
        published = try await workspace.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await [texts(history), texts(other)] == [["a"], ["a"]])
        // Nothing proves that the editor had this text.
        let kept = try await keptVersions()
        #expect(kept.count == 1 && kept.first?.contains("\"z\"") == true)
    }

    @Test(
        "chat-projection: an edit after an interrupted synchronization is the later one",
        arguments: [
            (.edit, "a"), (.edit, nil), (.update, "a"), (.update, nil),
            // Back to the text before.
            (.edit, "before"),
        ] as [(WatchedHistory.Read, String?)])
    func editedAfterInterruption(read: WatchedHistory.Read, made: String?) async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        func change(_ text: String, in store: SQLiteHistoryStore) async throws {
            if read == .edit {
                try await store.edit([message("one", text)], in: id)
            } else {
                try await store.update(id, with: SessionDetails(title: text))
            }
        }
        func current(_ store: SQLiteHistoryStore) async throws -> String? {
            read == .edit ? try await texts(store).first : try await store.session(id)?.title
        }
        try await change("before", in: history)
        try await workspace.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        for text in ["x", "y", "z"] {
            try await change(text, in: other)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        // The process is killed before or after the change in the history.
        let watched = WatchedHistory(history)
        watched.hold(read)
        let synchronization = Task { [workspace, id] in try await workspace.chats.synchronize(id, with: watched) }
        await watched.waitForHeld(read)
        let note = try #require(try workspace.archive.synchronizedChat(at: path))
        watched.letGo(read)
        _ = try await synchronization.value
        try workspace.archive.note(synchronized: note, at: path)
        #expect(try await current(history) == "z")
        if let made { try await change(made, in: history) }
        for _ in 0..<2 {
            try await workspace.chats.synchronize(id, with: history)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await current(history) == made ?? "z")
        #expect(try await current(other) == made ?? "z")
        #expect(try await keptVersions().count == (made == nil ? 0 : 1))
    }

    @Test("chat-projection: a title after an interrupted removal of the title is the later one")
    func titleAfterInterruptedRemoval() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        for title in ["Whales", "Ships", ""] {
            try await other.update(id, with: SessionDetails(title: title))
            try await elsewhere.chats.synchronize(id, with: other)
            if title == "Whales" { try await workspace.chats.synchronize(id, with: history) }
        }
        let watched = WatchedHistory(history)
        watched.hold(.update)
        let synchronization = Task { [workspace, id] in try await workspace.chats.synchronize(id, with: watched) }
        await watched.waitForHeld(.update)
        let note = try #require(try workspace.archive.synchronizedChat(at: path))
        watched.letGo(.update)
        _ = try await synchronization.value
        try workspace.archive.note(synchronized: note, at: path)
        #expect(try await history.session(id)?.title == nil)
        try await history.update(id, with: SessionDetails(title: "A title of ann's"))
        for _ in 0..<2 {
            try await workspace.chats.synchronize(id, with: history)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await history.session(id)?.title == "A title of ann's")
        #expect(try await other.session(id)?.title == "A title of ann's")
    }

    @Test("chat-projection: a deletion elsewhere applied during a synchronization does not bring the message back")
    func appliedDuringSynchronization() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        try await other.deleteMessages(["1"], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        let deleted = try await workspace.chats.synchronize(id, with: history).deletedElsewhere
        let watched = WatchedHistory(history)
        watched.hold(.messages)
        let (workspace, id) = (workspace, id)
        let synchronization = Task { try await workspace.chats.synchronize(id, with: watched) }
        await watched.waitForHeld(.messages)
        #expect(try await history.delete(deleted, in: id).map(\.text) == ["1"])
        watched.letGo(.messages)
        _ = try await synchronization.value
        try await elsewhere.chats.synchronize(id, with: other)
        for history in [history, other] { #expect(try await texts(history) == ["2"]) }
        #expect(try await workspace.chats.read("Moby Dick")?.messages.map(\.message.text) == ["2"])
    }

    @Test(
        "chat-projection: a deleted message stays deleted if another with its ID is added during the synchronization",
        arguments: ["new", "1"])
    func addedDuringSynchronization(text: String) async throws {
        try await say("1", in: history)
        try await workspace.chats.synchronize(id, with: history)
        try await history.edit([message("1", "edited")], in: id)
        try await workspace.chats.synchronize(id, with: history)
        try await history.deleteMessages(["1"], in: id)
        let watched = WatchedHistory(history)
        watched.hold(.messages)
        let (workspace, id) = (workspace, id)
        let synchronization = Task { try await workspace.chats.synchronize(id, with: watched) }
        await watched.waitForHeld(.messages)
        try await history.append([message("1", text)], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        watched.letGo(.messages)
        _ = try await synchronization.value
        for _ in 0..<2 { try await workspace.chats.synchronize(id, with: history) }
        #expect(try await texts(history) == [text])
        #expect(try await workspace.chats.read("Moby Dick")?.messages.map(\.message.text) == [text])
    }

    @Test("chat-projection: a session deleted or discarded during the synchronization does not come back")
    func deletedDuringTheCall() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        for isDeleted in [false, true] {
            try await say(isDeleted ? "three" : "two", in: other)
            try await elsewhere.chats.synchronize(id, with: other)
            let watched = WatchedHistory(history)
            watched.hold(.session("Moby Dick"))
            async let synchronized = workspace.chats.synchronize(id, with: watched)
            await watched.waitForHeld(.session("Moby Dick"))
            if isDeleted { try await history.deleteSession(id) } else { try await history.discardSession(id) }
            watched.letGo(.session("Moby Dick"))
            #expect(try await !synchronized.new.isEmpty)
            let session = try await history.session(id)
            #expect(isDeleted ? session == nil : session?.discardedAt != nil)
        }
    }
}
