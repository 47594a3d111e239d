import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Chat projections in a workspace")
struct ChatsAreaTests {
    private let folder: TestFolder
    private let workspace: SharedWorkspace
    private let history = SQLiteHistoryStore.inMemory()
    private let id = SessionKey(userId: "ann", sessionId: "Moby Dick")
    private var path: WorkspacePath { workspace.chats.path(of: "Moby Dick") }

    init() throws {
        folder = try TestFolder()
        workspace = try SharedWorkspace(
            root: folder.root,
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state")))
    }

    /// The same folder, opened as on another device: with a state folder of its own.
    private func elsewhere() throws -> SharedWorkspace {
        try SharedWorkspace(
            root: folder.root,
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("elsewhere")))
    }

    /// Says the texts on this device, and synchronizes them with another one.
    /// A workspace of this device with a limit for files, in bytes.
    private func limited(to size: Int) throws -> SharedWorkspace {
        var configuration = WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("small"))
        configuration.maxFileSize = size
        return try SharedWorkspace(root: folder.root, configuration: configuration)
    }

    private func otherDevice(having texts: String...) async throws -> (SharedWorkspace, SQLiteHistoryStore) {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        for text in texts { try await say(text, in: history) }
        try await workspace.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        return (elsewhere, other)
    }

    private func say(_ texts: String..., in history: SQLiteHistoryStore, prefix: String = "") async throws {
        for text in texts {
            let message = ConversationMessage(
                id: prefix + text, role: .user, text: text, timestamp: Date(timeIntervalSince1970: 9))
            try await history.append([message], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        }
    }

    @Test("A session is published as a file that does not change until the session has new messages")
    func publishes() async throws {
        try await say("one", "two", in: history)
        try await workspace.chats.synchronize(id, with: history)
        let first = try await workspace.read(path)
        #expect(path.description == "Chats/Moby Dick.json")
        #expect(try await workspace.chats.read("Moby Dick")?.messages.map(\.message.id) == ["one", "two"])
        let published = try await workspace.chats.synchronize(id, with: history)
        #expect(published.new.isEmpty && published.edited.isEmpty)
        #expect(try await workspace.read(path) == first)
        #expect(try await workspace.versions(of: path).count == 1)
        #expect(try await workspace.chats.sessions() == ["Moby Dick"])
    }

    @Test("chat-projection: two histories synchronized through one file converge and stop writing it")
    func twoHistories() async throws {
        let other = SQLiteHistoryStore.inMemory()
        try await say("one", in: history)
        let elsewhere = try elsewhere()
        let both = [(workspace, history), (elsewhere, other)]
        try await say("one", in: other)
        for (workspace, store) in both { try await workspace.chats.synchronize(id, with: store) }
        try await say("here", in: history)
        try await say("there", "further", in: other)
        for (workspace, store) in both + both { try await workspace.chats.synchronize(id, with: store) }
        let resolved = try await workspace.read(path)
        for (workspace, store) in both { try await workspace.chats.synchronize(id, with: store) }
        #expect(try await workspace.read(path) == resolved)
        for store in [history, other] {
            let ids = try await store.messages(of: id, agentId: nil, page: PageRequest(limit: 9)).elements.map(
                \.message.id)
            #expect(Set(ids) == ["one", "here", "there", "further"])
        }
    }

    @Test("chat-edits: an edited message is imported, and a damaged file is archived and rewritten")
    func externalEdit() async throws {
        try await say("one", "two", in: history, prefix: "m-")
        try await workspace.chats.synchronize(id, with: history)
        let url = workspace.rootURL.appendingPathComponent(path.description)
        let text = try await workspace.read(path).text
        try Data(
            text.replacing(#""two""#, with: #""deux""#).replacing(#"{"format""#, with: #"{"notes":[1],"format""#).utf8
        )
        .write(to: url)
        let published = try await workspace.chats.synchronize(id, with: history)
        #expect(published.edited.map(\.message.text) == ["deux"])
        #expect(try await history.message("m-two", in: id)?.message.text == "deux")
        let written = try await workspace.chats.read("Moby Dick")
        #expect(written?.isIntact == true && written?.others == ["notes": [1]])

        try Data("{ broken".utf8).write(to: url)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await workspace.chats.read("Moby Dick")?.messages.map(\.message.text) == ["one", "deux"])
        var archived: [String] = []
        for version in try await workspace.versions(of: path) {
            archived.append(String(decoding: try await workspace.content(of: version.hash), as: UTF8.self))
        }
        #expect(archived.contains("{ broken"))
        #expect(workspace.events.takeUndelivered().map(\.kind) == [.externalEdit, .externalEdit])
    }

    @Test("chat-edits: another session's file copied over this one adds no messages to the history")
    func copiedOver() async throws {
        try await say("one", in: history)
        try await workspace.chats.synchronize(id, with: history)
        let other = ChatProjection(
            session: "other",
            entries: [.init(agents: ["a"], message: ConversationMessage(id: "2", role: .user, text: "elsewhere"))])
        try Data(other.bytes).write(to: workspace.rootURL.appendingPathComponent(path.description))
        #expect(try await workspace.chats.synchronize(id, with: history).new.isEmpty)
        #expect(try await workspace.chats.read("Moby Dick")?.messages.map(\.message.id) == ["one"])
        #expect(try await workspace.versions(of: path).contains { $0.hash == ContentHash(of: other.bytes) })
        #expect(workspace.events.takeUndelivered().map(\.kind) == [.externalEdit])
    }

    @Test("A lost history is restored from the published file")
    func lost() async throws {
        try await say("one", "two", in: history)
        try await workspace.chats.synchronize(id, with: history)
        let empty = SQLiteHistoryStore.inMemory()
        #expect(try await workspace.chats.synchronize(id, with: empty).new.map(\.message.id) == ["one", "two"])
        #expect(try await empty.message("two", in: id) != nil)
    }

    @Test("A deleted message is not restored from the file, and other devices do not delete it automatically")
    func deletions() async throws {
        let other = SQLiteHistoryStore.inMemory()
        let elsewhere = try elsewhere()
        try await say("one", "two", in: history)
        try await workspace.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        try await history.deleteMessages(["one"], in: id)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await workspace.chats.read("Moby Dick")?.messages.map(\.message.id) == ["two"])
        let published = try await elsewhere.chats.synchronize(id, with: other)
        #expect(published.deletedElsewhere.map(\.id) == ["one"])
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await history.message("one", in: id) == nil)
        #expect(try await other.message("one", in: id) != nil)
        #expect(try await deletedIDs() == ["one"])
    }

    @Test("A file of a newer format is rejected and stays unchanged")
    func newer() async throws {
        try await say("one", in: history)
        let newer = #"{"format":"recollect.chat/2"}"#
        try await workspace.write(newer, to: path, replacing: nil)
        await #expect { try await workspace.chats.synchronize(id, with: history) } throws: {
            ($0 as? RecollectError)?.code == .newerSchema
        }
        #expect(try await workspace.read(path).text == newer)
    }

    // MARK: Edits and deletions on several devices

    private func message(_ id: String, _ text: String) -> ConversationMessage {
        ConversationMessage(id: id, role: .user, text: text, timestamp: Date(timeIntervalSince1970: 9))
    }

    private func texts(_ history: SQLiteHistoryStore) async throws -> [String] {
        try await history.messages(of: id, agentId: nil, page: PageRequest(limit: 99)).elements.map(\.message.text)
    }

    /// The texts of the messages in the file.
    private func published() async throws -> [String] {
        try await workspace.chats.read("Moby Dick")?.messages.map(\.message.text) ?? []
    }

    /// The IDs marked as deleted in the file.
    private func deletedIDs() async throws -> [String]? {
        try await workspace.chats.read("Moby Dick")?.deletions.keys.map(\.string).sorted()
    }

    /// Publishes the history, and does not save the file's changes in it.
    private func publish() async throws -> (PublishedChat, local: SynchronizedChat) {
        let last = try await workspace.chats.lastSynchronized("Moby Dick")
        let change = try await history.latestChange()
        let messages = try await stored().copies(after: last)
        let feed = try await workspace.chats.changes(of: id, in: history, after: last, to: change)
        return try await workspace.chats.publish(
            SynchronizedChat(id, title: nil, messages, after: last, feed, change: change), of: messages, since: last,
            feed)
    }

    /// Leaves the note of a synchronization that could not read the file.
    private func synchronizeInVain() async throws {
        let last = try await workspace.chats.lastSynchronized("Moby Dick")
        let change = try await history.latestChange()
        let feed = try await workspace.chats.changes(of: id, in: history, after: last, to: change)
        let state = SynchronizedChat(
            id, title: nil, try await stored().copies(after: last), after: last, feed, change: change)
        try workspace.archive.note(synchronized: state.bytes, at: path)
    }

    private func stored() async throws -> [StoredMessage] {
        try await history.messages(of: id, agentId: nil, page: PageRequest(limit: 99)).elements
    }

    /// Puts a file of the session in place, as a sync service does.
    private func deliver(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: workspace.rootURL.appendingPathComponent(path.description))
    }

    /// The contents of the versions kept beside the file.
    private func keptVersions() async throws -> [String] {
        var contents: [String] = []
        for item in try await workspace.list(WorkspacePath(checked: ["Chats"])) where item.path != path {
            contents.append(try await workspace.read(item.path).text)
        }
        return contents
    }

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

    @Test("chat-projection: devices with one message of several agents settle")
    func sharedByAgents() async throws {
        // The agents of each device.
        let agents = [["b"], ["a"], ["a", "b"]]
        var devices: [(SharedWorkspace, SQLiteHistoryStore)] = []
        for (number, agents) in agents.enumerated() {
            let workspace = try SharedWorkspace(
                root: folder.root,
                configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("device \(number)")))
            let history = SQLiteHistoryStore.inMemory()
            for agent in agents + ["a", "b"].filter({ !agents.contains($0) }) {
                // The other agent has a message of its own with the ID.
                var own = message("1", agents.contains(agent) ? "same" : "own \(number)")
                if !agents.contains(agent) { own.timestamp += 1 }
                try await history.append([own], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent))
            }
            devices.append((workspace, history))
        }
        var files: [String] = []
        for round in 0..<4 {
            for (workspace, history) in devices {
                try await workspace.chats.synchronize(id, with: history)
                if round > 1 { files.append(try await workspace.read(path).text) }
            }
        }
        #expect(Set(files).count == 1)
        for (number, (_, history)) in devices.enumerated() {
            let texts = try await texts(history)
            #expect(Set(texts) == (agents[number].count == 2 ? ["same"] : ["same", "own \(number)"]))
        }
    }

    @Test(
        "chat-projection: an edit on one device, or in the file, reaches all histories",
        arguments: [["Whales", "a", "z"], ["a", "z", "Whales"], ["The", "The ferry", "The ferry leaves"]])
    func edited(texts: [String]) async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        func synchronizeBoth() async throws {
            for _ in 0..<2 {
                try await elsewhere.chats.synchronize(id, with: other)
                try await workspace.chats.synchronize(id, with: history)
            }
        }
        func expect(_ text: String) async throws {
            for found in [try await self.texts(history), try await self.texts(other), try await published()] {
                #expect(found == [text])
            }
        }
        try await history.append(
            [message("m", texts[0])], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        try await workspace.chats.synchronize(id, with: history)
        try await synchronizeBoth()
        try await history.edit([message("m", texts[1])], in: id)
        try await workspace.chats.synchronize(id, with: history)
        try await synchronizeBoth()
        try await expect(texts[1])
        try await other.edit([message("m", texts[2])], in: id)
        try await synchronizeBoth()
        try await expect(texts[2])
        let url = workspace.rootURL.appendingPathComponent(path.description)
        let text = try await workspace.read(path).text
        try Data(text.replacing("\"\(texts[2])\"", with: "\"By hand\"").utf8).write(to: url)
        try await synchronizeBoth()
        try await expect("By hand")
        #expect(try await keptVersions().isEmpty)
    }

    @Test("chat-projection: of two edits of a message, one is published, and the other is kept beside the file")
    func editedTwice() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one", "two")
        for (here, there) in [("Ann", "Bob"), ("Zoe", "Max")] {
            try await history.edit([message("one", here)], in: id)
            try await other.edit([message("one", there)], in: id)
            for _ in 0..<2 {
                try await elsewhere.chats.synchronize(id, with: other)
                try await workspace.chats.synchronize(id, with: history)
            }
            let greatest = max(here, there)
            for found in [try await texts(history), try await texts(other), try await published()] {
                #expect(found == [greatest, "two"])
            }
            let lost = min(here, there)
            #expect(try await keptVersions().filter { $0.contains("\"\(lost)\"") }.count == 1)
        }
        #expect(try await keptVersions().count == 2)
    }

    @Test("chat-projection: an edit of a message deleted on another device is kept beside the file")
    func editedAndDeleted() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one", "two")
        try await other.edit([message("one", "edited")], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        try await history.deleteMessages(["one"], in: id)
        for _ in 0..<2 {
            try await workspace.chats.synchronize(id, with: history)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await published() == ["two"])
        #expect(try await keptVersions().filter { $0.contains("\"edited\"") }.count == 1)
        #expect(try await keptVersions().count == 1)
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

    @Test("chat-projection: an older file brings back neither a deleted message nor a replaced text or title")
    func olderFile() async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        try await say("one", "two", "three", in: history)
        try await history.update(id, with: SessionDetails(title: "Whales"))
        try await workspace.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        try await say("there", in: other)
        try await elsewhere.chats.synchronize(id, with: other)
        let older = try await workspace.read(path).bytes
        try await workspace.chats.synchronize(id, with: history)

        try await history.deleteMessages(["one"], in: id)
        try await history.edit([message("two", "a")], in: id)
        try await history.update(id, with: SessionDetails(title: "A whale"))
        for _ in 0..<2 {
            try await workspace.chats.synchronize(id, with: history)
            try deliver(older)
        }
        try await workspace.chats.synchronize(id, with: history)
        for found in [try await texts(history), try await published()] {
            #expect(found.sorted() == ["a", "there", "three"])
        }
        #expect(try await history.session(id)?.title == "A whale")
        #expect(try await workspace.chats.read("Moby Dick")?.title == "A whale")
        #expect(try await keptVersions().isEmpty)
        try FileManager.default.removeItem(at: workspace.rootURL.appendingPathComponent(path.description))
        try await elsewhere.chats.synchronize(id, with: other)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await texts(history).sorted() == ["a", "there", "three"])

        // An edit by another device that did not know the later one is kept.
        let text = String(decoding: older, as: UTF8.self).replacing("\"three\"}", with: "\"drei\"}")
        try await history.edit([message("three", "tre")], in: id)
        try await workspace.chats.synchronize(id, with: history)
        try deliver(Array(text.utf8))
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await texts(history).contains("tre"))
        #expect(try await keptVersions().count { $0.contains("\"drei\"") } == 1)
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

    @Test("chat-projection: two devices edit a message the same number of times, and each text stays in a file")
    func editedAtOnce() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        let common = try await workspace.read(path).bytes
        for (here, there) in [("Ann", "Bob"), ("Zoe", "Max")] {
            try await history.edit([message("one", here)], in: id)
            try await workspace.chats.synchronize(id, with: history)
            // The service has not brought the file to the other device.
            if here == "Ann" { try deliver(common) }
            try await other.edit([message("one", there)], in: id)
            try await elsewhere.chats.synchronize(id, with: other)
            for _ in 0..<2 {
                try await workspace.chats.synchronize(id, with: history)
                try await elsewhere.chats.synchronize(id, with: other)
            }
            let found = try await published()
            #expect(try await [texts(history), texts(other)] == [found, found])
            let all = try await keptVersions().joined() + found.joined(separator: " ")
            #expect(all.contains(here) && all.contains(there))
        }
    }

    @Test("chat-projection: messages moved into a branch are deleted in the file, and restored ones are not")
    func branches() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one", "two")
        let branch = try await history.branch(id, from: "one")
        try await say("retry", in: history)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await texts(history) == ["retry"])
        #expect(try await published() == ["retry"])
        #expect(try await elsewhere.chats.synchronize(id, with: other).deletedElsewhere == [])
        try await other.deleteMessages(["one", "two"], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await texts(other) == ["retry"])

        try await history.restoreBranch(branch, in: id)
        let restored = try await workspace.chats.synchronize(id, with: history)
        #expect(restored.deletedElsewhere.isEmpty)
        #expect(try await published() == ["one", "two"])
        #expect(try await elsewhere.chats.synchronize(id, with: other).new.map(\.message.id) == ["one", "two"])
        #expect(try await texts(other).sorted() == ["one", "retry", "two"])
        #expect(try await keptVersions().isEmpty)
    }

    @Test(
        "chat-projection: a deleted session does not come back, and a history restored from a backup gets its messages")
    func deletedAndLost() async throws {
        let directory = folder.url.appendingPathComponent("history")
        let backup = folder.url.appendingPathComponent("backup")
        var store = SQLiteHistoryStore(directory: directory)
        try await say("one", "two", in: store)
        try await workspace.chats.synchronize(id, with: store)
        await store.close()
        try FileManager.default.copyItem(at: directory, to: backup)
        store = SQLiteHistoryStore(directory: directory)
        try await say("three", in: store)
        try await workspace.chats.synchronize(id, with: store)
        await store.close()
        try FileManager.default.removeItem(at: directory)
        try FileManager.default.moveItem(at: backup, to: directory)
        store = SQLiteHistoryStore(directory: directory)
        #expect(try await workspace.chats.synchronize(id, with: store).new.map(\.message.id) == ["three"])
        #expect(try await texts(store) == ["one", "two", "three"])
        #expect(try await deletedIDs() == [])

        try await store.deleteSession(id)
        try await workspace.chats.synchronize(id, with: store)
        #expect(try await store.session(id) == nil)
        #expect(try await published() == [])
        #expect(try await deletedIDs() == ["one", "three", "two"])
        await store.close()
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

    @Test("chat-projection: a message of several agents reaches all of them, and a different copy stays as it is")
    func agents() async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        func scope(_ agent: String) -> Scope { Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent) }
        for agent in ["a", "b"] { try await history.append([message("1", "common")], to: scope(agent)) }
        try await history.append([message("2", "of a")], to: scope("a"))
        try await history.append([message("2", "of b")], to: scope("b"))
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await elsewhere.chats.synchronize(id, with: other).new.count == 3)
        for agent in ["a", "b"] {
            #expect(try await other.message("1", in: id, agentId: agent)?.message.text == "common")
        }
        #expect(try await elsewhere.chats.synchronize(id, with: other).new.isEmpty)
        try await other.edit([message("1", "changed"), message("2", "changed")], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        try await workspace.chats.synchronize(id, with: history)
        for agent in ["a", "b"] {
            #expect(try await history.message("1", in: id, agentId: agent)?.message.text == "changed")
        }
        #expect(try await history.message("2", in: id, agentId: "a")?.message.text == "changed")
        #expect(try await history.message("2", in: id, agentId: "b")?.message.text == "of b")
        #expect(try await workspace.chats.synchronize(id, with: history).new.isEmpty)
    }

    @Test("chat-projection: a message is assigned to an agent on one device, and not copied on the other")
    func assigned() async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        let unassigned = Scope(userId: "ann", sessionId: "Moby Dick", agentId: "")
        try await history.append([message("1", "one")], to: unassigned)
        try await workspace.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        try await history.append(
            [message("1", "one")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"),
            options: AppendOptions(adoptsUnassigned: true))
        for _ in 0..<2 {
            try await workspace.chats.synchronize(id, with: history)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await workspace.chats.read("Moby Dick")?.messages.map(\.agentId) == ["a"])
        #expect(try await [texts(history), texts(other)] == [["one"], ["one"]])
    }

    @Test("chat-projection: a history restored from a backup gets later edits and the title from the file")
    func behind() async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        func synchronizeBoth(_ store: SQLiteHistoryStore) async throws {
            for _ in 0..<2 {
                try await workspace.chats.synchronize(id, with: store)
                try await elsewhere.chats.synchronize(id, with: other)
            }
        }
        try await say("one", "two", in: history)
        try await history.update(id, with: SessionDetails(title: "Whales"))
        try await synchronizeBoth(history)
        try await history.edit([message("one", "later")], in: id)
        try await history.update(id, with: SessionDetails(title: "A whale"))
        try await synchronizeBoth(history)
        for title in ["Whales", nil] {
            let backup = SQLiteHistoryStore.inMemory()
            try await say("one", "two", in: backup)
            if let title { try await backup.update(id, with: SessionDetails(title: title)) }
            // The feed of a backup ends before the note.
            var last = try #require(try await workspace.chats.lastSynchronized("Moby Dick"))
            last.change = ChangeCursor(sequence: 1_000)
            try workspace.archive.note(synchronized: last.bytes, at: path)
            try await synchronizeBoth(backup)
            #expect(
                try await [texts(backup), texts(other), published()] == Array(repeating: ["later", "two"], count: 3))
            #expect(try await [backup.session(id)?.title, other.session(id)?.title] == ["A whale", "A whale"])
            // Its own changes count again.
            try await backup.deleteMessages(["two"], in: id)
            try await synchronizeBoth(backup)
            #expect(try await texts(backup) == ["later"])
            try await other.append(
                [message("two", "two")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
            try await other.deleteMessages(["two"], in: id)
            try await say("two", in: backup)
            try await synchronizeBoth(backup)
            #expect(try await [texts(backup), texts(other)] == [["later", "two"], ["later", "two"]])
        }
        #expect(try await keptVersions().isEmpty)
    }

    @Test(
        "chat-projection: an own edit that another device replaced without knowing it is kept, whatever their numbers")
    func unknownEdit() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        let common = try await workspace.read(path).bytes
        for isWritten in [false, true] {
            let mine = isWritten ? "mine, written" : "mine"
            try await history.edit([message("one", mine)], in: id)
            if isWritten {
                try await workspace.chats.synchronize(id, with: history)
                try deliver(common)
            } else {
                // As a synchronization killed between its note and the file.
                _ = try await publish()
                try deliver(common)
            }
            for text in ["b1", "b2", "b3"] {
                try await other.edit([message("one", text)], in: id)
                try await elsewhere.chats.synchronize(id, with: other)
            }
            try await workspace.chats.synchronize(id, with: history)
            #expect(try await published() == texts(history))
            let all = try await keptVersions().joined() + texts(history).joined()
            #expect(all.contains("\"\(mine)\""))
        }
    }

    @Test("chat-projection: an edit undone and a message restored on another device count in later changes")
    func undoneElsewhere() async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        func synchronizeBoth() async throws {
            for _ in 0..<2 {
                try await elsewhere.chats.synchronize(id, with: other)
                try await workspace.chats.synchronize(id, with: history)
            }
        }
        try await say("one", "two", in: history)
        try await history.update(id, with: SessionDetails(title: "T"))
        try await workspace.chats.synchronize(id, with: history)
        try await synchronizeBoth()
        for (text, title) in [("other", "U"), ("one", "T")] {
            try await other.edit([message("one", text)], in: id)
            try await other.update(id, with: SessionDetails(title: title))
            try await elsewhere.chats.synchronize(id, with: other)
        }
        let branch = try await other.branch(id, from: "two")
        try await elsewhere.chats.synchronize(id, with: other)
        try await other.restoreBranch(branch, in: id)
        try await synchronizeBoth()
        try await history.edit([message("one", "a")], in: id)
        try await history.update(id, with: SessionDetails(title: "A"))
        try await history.deleteMessages(["two"], in: id)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await elsewhere.chats.synchronize(id, with: other).deletedElsewhere.map(\.id) == ["two"])
        try await synchronizeBoth()
        #expect(try await [texts(history), texts(other)] == [["a"], ["a", "two"]])
        #expect(try await [history.session(id)?.title, other.session(id)?.title] == ["A", "A"])
        #expect(try await keptVersions().isEmpty)
    }

    @Test("chat-projection: a branch undone before the last synchronization is no evidence of a later deletion")
    func earlierEvidence() async throws {
        try await say("one", "two", in: history)
        try await workspace.chats.synchronize(id, with: history)
        let branch = try await history.branch(id, from: "two")
        try await history.restoreBranch(branch, in: id)
        try await workspace.chats.synchronize(id, with: history)
        #expect(
            try await workspace.chats.lastSynchronized("Moby Dick")?.change.sequence
                == history.latestChange().sequence)
        // Changes of other sessions are not noted one by one.
        try await history.append([message("x", "x")], to: Scope(userId: "ann", sessionId: "other", agentId: "a"))
        try await workspace.chats.synchronize(id, with: history)
        #expect(
            try await workspace.chats.lastSynchronized("Moby Dick")?.change.sequence
                != history.latestChange().sequence)
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

    @Test("chat-projection: an attachment replaced by another device's text is kept beside the file")
    func replacedAttachment() async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        let scope = Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a")
        try await other.append([message("1", "theirs")], to: scope)
        try await elsewhere.chats.synchronize(id, with: other)
        let picture = Data("the bytes of a picture".utf8)
        var own = message("1", "ours")
        for name in ["whale.png", "../a/b.json", nil] {
            own.parts.append(
                .attachment(
                    Attachment(
                        mediaType: "image/png", name: name, content: .inline(picture + Data((name ?? "").utf8)))))
        }
        try await history.append([own], to: scope)
        let hash = Attachment.sha256(of: picture)
        #expect(try await history.attachment(sha256: hash) == picture)
        try await workspace.chats.synchronize(id, with: history)
        try #require(try await texts(history) == ["theirs"])
        let kept = try await keptVersions()
        for name in ["whale.png", "../a/b.json", ""] {
            #expect(kept.contains { $0 == "the bytes of a picture" + name })
        }
        let names = try await workspace.list(WorkspacePath(checked: ["Chats"])).map(\.path.name)
        #expect(names.contains { $0.hasPrefix("Moby Dick attachment (kept") && $0.hasSuffix(".png") })
    }

    @Test(
        "chat-projection: an edit that never reached the file is kept beside another device's edit in a file that an editor saved",
        arguments: ["format", "format over the written edit", "another message", "another message, write begun"])
    func editedFileAfterFailure(edit: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "one", "two")
        try await history.edit([message("one", "ours")], in: id)
        if edit == "format over the written edit" {
            let before = try await workspace.read(path).bytes
            try await workspace.chats.synchronize(id, with: history)
            try deliver(before)
        } else {
            try await synchronizeInVain()
            if edit.hasSuffix("write begun") {
                // The process was killed just before the write.
                let note = try #require(try await workspace.chats.lastSynchronized("Moby Dick"))
                let version = WorkspaceVersion(
                    hash: ContentHash(of: note.chat.bytes), date: Date().wholeMilliseconds, author: .recollect,
                    kind: .written, parents: [try await workspace.read(path).version])
                let line = VersionLine(mark: .begun, path: path, version: version)
                _ = try workspace.archive.begin([line], keeping: [note.chat.bytes])
            }
        }
        try await other.edit([message("one", "theirs")], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        let text = try await elsewhere.read(path).text
        if edit.hasPrefix("format") {
            try deliver(Array(text.replacing("\n", with: "\r\n").utf8))
        } else {
            let edited = text.replacing("{\"_0\":\"two\"}", with: "{\"_0\":\"zwei\"}")
            try #require(edited != text)
            try deliver(Array(edited.utf8))
        }
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await texts(history) == ["theirs", edit.hasPrefix("format") ? "two" : "zwei"])
        #expect(try await keptVersions().contains { $0.contains("\"ours\"") })
    }

    @Test("chat-projection: another agent's earlier text is not taken for an edit")
    func earlierTextOfAnotherAgent() async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        func scope(_ agent: String) -> Scope { Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent) }
        func synchronizeBoth() async throws {
            for _ in 0..<2 {
                try await workspace.chats.synchronize(id, with: history)
                try await elsewhere.chats.synchronize(id, with: other)
            }
        }
        for agent in ["a", "b"] { try await history.append([message("1", "hello")], to: scope(agent)) }
        try await synchronizeBoth()
        let branch = try await history.branch(id, from: "1", agentId: "b")
        try await synchronizeBoth()
        try await history.edit([MessageEdit(of: message("1", "hello"), to: message("1", "hello, ann"))], in: id)
        try await synchronizeBoth()
        try await history.restoreBranch(branch, in: id)
        try await synchronizeBoth()
        for (old, new) in [("hello, ann", "hello, ann and bert"), ("hello, ann and bert", "hello, all")] {
            let edited = try await history.edit([MessageEdit(of: message("1", old), to: message("1", new))], in: id)
            try #require(edited.count == 1)
            try await synchronizeBoth()
            #expect(try await Set(published()) == [new])
            #expect(try await history.message("1", in: id, agentId: "a")?.message.text == new)
            #expect(try await other.message("1", in: id, agentId: "a")?.message.text == new)
        }
    }

    @Test("chat-projection: an attachment too large for the workspace stays in its message, and other edits are saved")
    func largeAttachment() async throws {
        let small = try limited(to: 2_000)
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        let scope = Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a")
        try await other.append([message("1", "theirs"), message("2", "two")], to: scope)
        try await elsewhere.chats.synchronize(id, with: other)
        let video = Data(repeating: 7, count: 3_000)
        var own = message("1", "ours")
        own.parts.append(.attachment(Attachment(mediaType: "video/mp4", content: .inline(video))))
        try await history.append([own, message("2", "a")], to: scope)
        for _ in 0..<2 { try await small.chats.synchronize(id, with: history) }
        #expect(try await texts(history) == ["ours", "two"])
        #expect(try await history.attachment(sha256: Attachment.sha256(of: video)) == video)
    }

    @Test("chat-projection: a damaged version in the archive does not prevent the merge of an edited file")
    func damagedVersion() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        let version = try await workspace.read(path).version
        let objects = folder.url.appendingPathComponent("state/objects")
        let object = try #require(
            FileManager.default.enumerator(at: objects, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
                .first { ($0.deletingLastPathComponent().lastPathComponent + $0.lastPathComponent) == version.rawValue }
        )
        try FileManager.default.removeItem(at: object)
        try Data("damaged".utf8).write(to: object)
        let text = try await workspace.read(path).text
        try deliver(Array(text.replacing("{\"_0\":\"one\"}", with: "{\"_0\":\"by hand\"}").utf8))
        for _ in 0..<2 {
            try await workspace.chats.synchronize(id, with: history)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await texts(history) == ["by hand"])
        #expect(try await texts(other) == ["by hand"])
    }

    @Test(
        "chat-projection: a deletion elsewhere does not name a new message, of the same or another agent",
        arguments: ["a", "b"], [(true, "new"), (false, "new"), (true, "three"), (false, "three")])
    func deletedElsewhereBefore(agent: String, change: (failsFirst: Bool, text: String)) async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        try await say("1", "2", in: other)
        try await other.deleteMessages(["1"], in: id)
        try await say("2", in: history)
        for isNoted in [false, true] {
            try await elsewhere.chats.synchronize(id, with: other)
            if isNoted {
                try await other.append(
                    [message("3", "three")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
                try await elsewhere.chats.synchronize(id, with: other)
                try await other.deleteMessages(["3"], in: id)
                try await elsewhere.chats.synchronize(id, with: other)
            }
            try await workspace.chats.synchronize(id, with: history)
        }
        try await history.append(
            [message("3", change.text)], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent))
        if change.failsFirst { try await synchronizeInVain() }
        for _ in 0..<3 {
            #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await texts(history) == ["2", change.text])
    }

    @Test(
        "chat-projection: an edit of a message deleted elsewhere is kept beside the file, after a failed synchronization, too"
    )
    func editedAfterFailureAndDeleted() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        try await history.edit([message("1", "ours")], in: id)
        try await synchronizeInVain()
        try await other.deleteMessages(["1"], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
        #expect(try await keptVersions().contains { $0.contains("\"ours\"") })
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
        #expect(try await keptVersions().count == 1)
    }

    @Test("chat-projection: an attachment of an edit of a message deleted elsewhere is kept beside the file")
    func attachmentOfDeleted() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        var own = message("1", "ours")
        own.parts.append(
            .attachment(Attachment(mediaType: "image/png", content: .inline(Data("the bytes of a picture".utf8)))))
        try await history.edit([own], in: id)
        try await other.deleteMessages(["1"], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
        let kept = try await keptVersions()
        #expect(kept.contains { $0.contains("\"ours\"") } && kept.contains("the bytes of a picture"))
    }

    @Test("chat-projection: a message that was never saved is kept beside the file if another one of its ID is deleted")
    func deletedInsteadOfPending() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1")
        try await other.append(
            [message("2", "theirs")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        try await elsewhere.chats.synchronize(id, with: other)
        // The save of the other device's message failed.
        var (published, local) = try await publish()
        local.pending = ChatProjection(
            session: "", title: ChatRevision(content: ByteString("")),
            entries: published.chat.entries.filter { $0.message.id == "2" })
        try workspace.archive.note(synchronized: local.bytes, at: path)
        try await history.append(
            [message("2", "ours")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        try await history.deleteMessages(["2"], in: id)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await keptVersions().contains { $0.contains("\"theirs\"") })
    }

    @Test(
        "chat-projection: a text of an editor with an earlier version leaves the later one beside the file",
        arguments: ["theirs", "theirs by hand"])
    func earlierVersionInEditor(text: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "one", "two")
        try await other.edit([message("one", "theirs")], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        let opened = try await workspace.read(path).text
        // Of two edits at the same time, this one wins, and is the newest on both devices.
        try await history.edit([message("one", "yours")], in: id)
        for _ in 0..<2 {
            try await workspace.chats.synchronize(id, with: history)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        try #require(try await texts(other) == ["yours", "two"])
        let kept = try await keptVersions().count
        // Another message is changed in an editor that still shows the file as it was.
        let saved = opened.replacingOccurrences(of: "\"two\"}", with: "\"2\"}")
        try deliver(Array(saved.replacingOccurrences(of: "\"theirs\"}", with: "\"\(text)\"}").utf8))
        for _ in 0..<2 {
            try await workspace.chats.synchronize(id, with: history)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await [texts(history), texts(other)] == [[text, "2"], [text, "2"]])
        #expect(try await keptVersions().count > kept)
        #expect(try await keptVersions().contains { $0.contains("\"yours\"") })
    }

    @Test("chat-projection: a session larger than the workspace's limit with a losing edit is synchronized")
    func largeSession() async throws {
        let small = try limited(to: 6_000)
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        let scope = Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a")
        func long(_ id: String) -> ConversationMessage { message(id, String(repeating: "long ", count: 400)) }
        try await history.append([message("1", "one"), message("2", "two"), long("3"), long("4")], to: scope)
        try await small.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        try await other.deleteMessages(["3", "4"], in: id)
        try await other.append([long("5")], to: scope)
        try await other.edit([message("1", "theirs")], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        try await history.edit([message("1", "ours")], in: id)
        try await history.append([long("6")], to: scope)
        try await small.chats.synchronize(id, with: history)
        #expect(try await keptVersions().contains { $0.contains("\"ours\"") })
        #expect(try await texts(history).contains("theirs"))
    }

    @Test("chat-projection: a deletion elsewhere does not apply to another agent's message of the same ID")
    func deletedElsewhereOfOthers() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        try await other.append([message("1", "of b")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "b"))
        try await elsewhere.chats.synchronize(id, with: other)
        try await history.deleteMessages(["1", "2"], in: id)
        try await workspace.chats.synchronize(id, with: history)
        let deleted = try await elsewhere.chats.synchronize(id, with: other).deletedElsewhere
        #expect(deleted.map(\.text) == ["1", "2"])
        #expect(try await other.delete(deleted, in: id) == deleted)
        #expect(try await texts(other) == ["of b"])
    }

    @Test("chat-projection: a message edited during the synchronization is not deleted with those deleted elsewhere")
    func editedDuringDeletion() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        try await other.deleteMessages(["1", "2"], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        let deleted = try await workspace.chats.synchronize(id, with: history).deletedElsewhere
        try await history.edit([message("1", "edited")], in: id)
        #expect(try await history.delete(deleted, in: id).map(\.id) == ["2"])
        #expect(try await texts(history) == ["edited"])
    }

    @Test(
        "chat-projection: a text that the user of another device did not have is not to be deleted, whenever it was written",
        arguments: ["before", "after", "after a branch", "in a restored branch"])
    func otherTextDeletedElsewhere(time: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        func synchronizeOther() async throws { try await elsewhere.chats.synchronize(id, with: other) }
        func deletions() async throws -> [ConversationMessage] {
            let deleted = try await workspace.chats.synchronize(id, with: history).deletedElsewhere
            try await history.delete(deleted, in: id)
            return deleted
        }
        func edit() async throws { try await history.edit([message("2", "edited")], in: id) }
        switch time {
        case "before":
            try await edit()
            try await other.deleteMessages(["2"], in: id)
        case "after":
            try await other.deleteMessages(["2"], in: id)
            try await synchronizeOther()
            #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere.map(\.id) == ["2"])
            try await edit()
        default:
            let branch = try await other.branch(id, from: "2")
            try await synchronizeOther()
            _ = try await deletions()
            try await edit()
            _ = try await deletions()
            try await other.restoreBranch(branch, in: id)
            if time == "in a restored branch" { try await synchronizeOther() }
            try await other.deleteMessages(["2"], in: id)
        }
        try await synchronizeOther()
        for _ in 0..<2 {
            #expect(try await deletions() == [])
            try await synchronizeOther()
        }
        #expect(try await texts(history) == ["1", "edited"])
        #expect(try await texts(other) == ["1"])
    }

    @Test(
        "chat-projection: messages in a branch, expired, or in another session are not to be deleted elsewhere",
        arguments: ["branch", "expiry", "move", "move into another"])
    func movedElsewhere(change: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        switch change {
        case "branch": _ = try await other.branch(id, from: "2")
        case "expiry":
            // Not on the other device: it keeps all messages.
            try await other.append(
                [message("new", "new")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
            _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        case "move": try await other.moveSession(id, to: "Moby")
        default:
            let new = Scope(userId: "ann", sessionId: "Moby", agentId: "a")
            try await other.append([message("3", "3")], to: new)
            try await other.moveSession(id, to: "Moby")
        }
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            let published = try await workspace.chats.synchronize(id, with: history)
            #expect(published.deletedElsewhere == [])
            #expect(!published.chat.messages.contains { $0.message.id == "2" })
        }
        #expect(try await texts(history) == ["1", "2"])
        // A deletion by the user still counts.
        try await history.deleteMessages(["2"], in: id)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await workspace.chats.read("Moby Dick")?.deletions[ByteString("2")]?.states.isEmpty == false)
    }

    @Test(
        "chat-projection: a message added again after its deletion elsewhere was applied returns on all devices",
        arguments: ["2", "another text"])
    func addedAfterDeletionElsewhere(text: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        try await other.deleteMessages(["2"], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        let deleted = try await workspace.chats.synchronize(id, with: history).deletedElsewhere
        #expect(try await history.delete(deleted, in: id).map(\.id) == ["2"])
        try await history.append([message("2", text)], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        for _ in 0..<2 {
            #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
            #expect(try await elsewhere.chats.synchronize(id, with: other).deletedElsewhere == [])
        }
        #expect(try await [texts(history), texts(other)] == [["1", text], ["1", text]])
    }

    @Test(
        "chat-projection: a message brought back after its deletion elsewhere was applied returns on all devices",
        arguments: ["branch", "session", "session, later"])
    func broughtBack(way: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        func synchronize() async throws -> [ConversationMessage] {
            let deleted = try await workspace.chats.synchronize(id, with: history).deletedElsewhere
            try await history.delete(deleted, in: id)
            return deleted
        }
        let scope = Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a")
        // A branch with an earlier text of the message.
        let branch = try await history.branch(id, from: "2")
        try await history.append([message("2", "later")], to: scope)
        _ = try await synchronize()
        try await elsewhere.chats.synchronize(id, with: other)
        try await other.deleteMessages(["2"], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        try #require(try await synchronize().map(\.text) == ["later"])
        if way == "branch" {
            try await history.restoreBranch(branch, in: id)
        } else {
            try await history.deleteSession(id)
            if way == "session, later" { _ = try await synchronize() }
            try await history.append([message("1", "1"), message("2", "later")], to: scope)
        }
        let text = way == "branch" ? "2" : "later"
        for _ in 0..<2 {
            #expect(try await synchronize() == [])
            #expect(try await elsewhere.chats.synchronize(id, with: other).deletedElsewhere == [])
        }
        #expect(try await [texts(history), texts(other)] == [["1", text], ["1", text]])
    }

    @Test("chat-projection: a message deleted elsewhere does not return because another agent's message has its ID")
    func othersAddedAgain() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        let scope = Scope(userId: "ann", sessionId: "Moby Dick", agentId: "b")
        try await history.append([message("2", "of b")], to: scope)
        _ = try await other.branch(id, from: "2")
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            try await workspace.chats.synchronize(id, with: history)
            try await history.delete([message("2", "of b")], in: id)
            try await history.append([message("2", "new of b")], to: scope)
        }
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await [texts(history), texts(other)] == [["1", "2", "new of b"], ["1"]])
    }

    @Test("chat-projection: an edit back to an earlier text of a message deleted elsewhere is not to be deleted")
    func editedBack() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        try await history.edit([message("2", "later")], in: id)
        try await workspace.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        try await other.deleteMessages(["2"], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        let deleted = try await workspace.chats.synchronize(id, with: history).deletedElsewhere
        #expect(deleted.map(\.text) == ["later"])
        try await history.edit([message("2", "2")], in: id)
        for _ in 0..<2 {
            #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
        }
    }

    @Test(
        "chat-projection: a message added again, or another agent's, that leaves the session after a deletion is not to be deleted elsewhere",
        arguments: ["expiry", "window", "branch", "move"], [true, false])
    func leavesAfterDeletion(change: String, isOthers: Bool) async throws {
        let other = SQLiteHistoryStore.inMemory(
            HistoryConfiguration(retention: change == "window" ? .window : .everything))
        let (elsewhere, scope) = (try elsewhere(), Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        for text in ["1", "2"] { try await say(text, in: other) }
        try await elsewhere.chats.synchronize(id, with: other)
        try await workspace.chats.synchronize(id, with: history)
        if isOthers {
            let text = message("1", "of b")
            try await other.append([text], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "b"))
            try await other.delete([text], in: id)
        } else {
            try await other.deleteMessages(["1"], in: id)
            try await say("1", in: other)
        }
        switch change {
        case "expiry": _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        case "window":
            let new = ["3", "4"].map { message($0, $0) }
            try await other.append(new, to: scope, options: AppendOptions(maxMessages: 2))
        case "branch": _ = try await other.branch(id, from: "1")
        default: try await other.moveSession(id, to: "Moby")
        }
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
        }
        #expect(try await texts(history).contains("1"))
    }

    @Test(
        "chat-projection: a message back with its branch or session after a deletion under its ID, which then leaves again, is not to be deleted elsewhere",
        arguments: [true, false], ["expiry", "branch"])
    func backAfterDeletion(isBranch: Bool, change: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        let moved = SessionKey(userId: "ann", sessionId: "Moby")
        let branch = isBranch ? try await other.branch(id, from: "1") : moved
        if !isBranch { try await other.moveSession(id, to: moved.sessionId) }
        try await other.append([message("1", "new")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        try await other.deleteMessages(["1"], in: id)
        if isBranch {
            try await other.restoreBranch(branch, in: id)
        } else {
            try await other.moveSession(moved, to: id.sessionId)
        }
        if change == "expiry" {
            _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        } else {
            _ = try await other.branch(id, from: "1")
        }
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
        }
        #expect(try await texts(history).contains("1"))
    }

    @Test("chat-projection: a message that expired before its user was deleted is not to be deleted elsewhere")
    func expiredBeforeUser() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        for isExpired in [true, false] {
            if isExpired { _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10)) }
            try await other.deleteUser("ann")
            let last = try await other.latestChange()
            try await other.deleteUser("ann")
            #expect(try await other.latestChange() == last)
            try await elsewhere.chats.synchronize(id, with: other)
            let deleted = try await workspace.chats.synchronize(id, with: history).deletedElsewhere
            #expect(deleted.map(\.text) == (isExpired ? [] : ["3"]))
            if isExpired {
                try await say("3", in: history)
                try await workspace.chats.synchronize(id, with: history)
                try await elsewhere.chats.synchronize(id, with: other)
                #expect(try await texts(other).contains("3"))
            }
        }
        let changes = try await other.changes(after: .beginning, limit: 10)
        #expect(changes.allSatisfy { $0.session.sessionId == "" })
    }

    @Test(
        "chat-projection: the deletion of another message with the ID of one in a branch, expired, or in another session is not that of the former",
        arguments: ["branch", "move", "expiry"], [true, false])
    func deletionOfAnotherMessage(change: String, synchronizes: Bool) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        let scope = Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a")
        switch change {
        case "branch": _ = try await other.branch(id, from: "1")
        case "move": try await other.moveSession(id, to: "Moby")
        default: _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        }
        try await other.append([message("1", "new")], to: scope)
        if synchronizes { try await elsewhere.chats.synchronize(id, with: other) }
        try await other.deleteMessages(["1"], in: id)
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
        }
        #expect(try await texts(history).contains("1"))
    }

    @Test(
        "chat-projection: the deletion of a message is told to other devices, although an earlier one of its ID came back and left",
        arguments: ["expiry", "branch"])
    func deletedBeforeReturn(change: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        let branch = try await other.branch(id, from: "1")
        let scope = Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a")
        try await other.append([message("1", "new")], to: scope)
        try await elsewhere.chats.synchronize(id, with: other)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await texts(history).contains("new"))
        try await other.deleteMessages(["1"], in: id)
        try await other.restoreBranch(branch, in: id)
        if change == "expiry" {
            _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        } else {
            _ = try await other.branch(id, from: "1")
        }
        try await elsewhere.chats.synchronize(id, with: other)
        let deleted = try await workspace.chats.synchronize(id, with: history).deletedElsewhere
        #expect(deleted.map(\.text) == ["new"])
    }

    @Test(
        "chat-projection: a text replaced by another message with its ID is kept beside the file, unless a user deleted it",
        arguments: ["branch", "move", "expiry", "deletion"])
    func idUsedAgain(change: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1")
        let scope = Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a")
        switch change {
        case "branch": _ = try await other.branch(id, from: "1")
        case "move": try await other.moveSession(id, to: "Moby")
        case "expiry": _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        default: try await other.deleteMessages(["1"], in: id)
        }
        try await other.append([message("1", "new")], to: scope)
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            try await workspace.chats.synchronize(id, with: history)
        }
        #expect(try await texts(history) == ["new"])
        #expect(try await keptVersions().count == (change == "deletion" ? 0 : 1))
    }

    @Test(
        "chat-projection: without positions in the history, a deletion of the ID and the agent counts",
        arguments: [true, false])
    func unknownPositions(ofAgent: Bool) async throws {
        try await say("1", in: history)
        try await workspace.chats.synchronize(id, with: history)
        var last = try #require(try await workspace.chats.lastSynchronized("Moby Dick"))
        #expect(last.addedAt.count == 1)
        last.addedAt = [:]
        try workspace.archive.note(synchronized: last.bytes, at: path)
        if ofAgent {
            try await history.deleteMessages(["1"], in: id)
        } else {
            let others = message("1", "of b")
            try await history.append([others], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "b"))
            try await history.delete([others], in: id)
            _ = try await history.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        }
        try await workspace.chats.synchronize(id, with: history)
        let deletion = try #require(try await workspace.chats.read("Moby Dick")?.deletions[ByteString("1")])
        #expect(deletion.states.isEmpty == !ofAgent)
    }

    @Test("chat-projection: the positions of messages appended by a synchronization are noted")
    func appendedPositions() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1")
        try await say("2", in: other)
        try await elsewhere.chats.synchronize(id, with: other)
        try await workspace.chats.synchronize(id, with: history)
        let stored = try #require(try await history.message("2", in: id, agentId: "a"))
        let last = try #require(try await workspace.chats.lastSynchronized("Moby Dick"))
        #expect(last.addedAt[ByteString("2")]?[ByteString("a")] == stored.addedAt)
        // Known also without a synchronization since.
        _ = try await history.branch(id, from: "2")
        try await history.append([message("2", "new")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        try await history.deleteMessages(["2"], in: id)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await elsewhere.chats.synchronize(id, with: other).deletedElsewhere == [])
    }

    @Test(
        "chat-projection: an expired message without an agent is not to be deleted elsewhere, although one of its ID was deleted",
        arguments: [true, false])
    func expiredWithoutAgent(isAssigned: Bool) async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        func scope(_ agent: String) -> Scope { Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent) }
        try await other.append([message("1", "1")], to: scope(""))
        try await elsewhere.chats.synchronize(id, with: other)
        try await workspace.chats.synchronize(id, with: history)
        if isAssigned {
            try await other.deleteMessages(["1"], in: id)
            try await other.append([message("1", "1")], to: scope(""))
            let options = AppendOptions(adoptsUnassigned: true)
            try await other.append([message("1", "1")], to: scope("b"), options: options)
        } else {
            try await other.append([message("1", "of b")], to: scope("b"))
            try await other.delete([message("1", "of b")], in: id)
        }
        _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        #expect(try await texts(other) == [])
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
        }
        #expect(try await texts(history) == ["1"])
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

    @Test(
        "chat-projection: messages that expired before their session was deleted are not to be deleted elsewhere",
        arguments: ["message", "trash", "move"])
    func expiredBeforeDeletion(change: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1")
        switch change {
        case "message": _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        case "trash":
            try await other.discardSession(id)
            #expect(try await other.deleteSessions(discardedBefore: .distantFuture) == 1)
        default: try await other.moveSession(id, to: "Moby")
        }
        try await say("new", in: other)
        try await other.deleteSession(id)
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
    }

    @Test(
        "chat-projection: a new text under the ID of a message in a branch leaves the other text beside the file elsewhere"
    )
    func newTextAfterExpiry() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        _ = try await other.branch(id, from: "2")
        try await elsewhere.chats.synchronize(id, with: other)
        try await workspace.chats.synchronize(id, with: history)
        try await other.append([message("2", "new")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            try await workspace.chats.synchronize(id, with: history)
        }
        #expect(try await texts(history) == ["1", "new"])
        #expect(try await keptVersions().count { $0.contains("\"2\"") } == 1)
    }

    @Test("chat-projection: an expired session in the trash is not to be deleted elsewhere")
    func expiredInTrash() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1")
        try await other.discardSession(id)
        #expect(try await other.deleteSessions(discardedBefore: .distantFuture) == 1)
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
    }

    @Test("chat-projection: messages of a deleted session are to be deleted elsewhere")
    func sessionDeletedElsewhere() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        _ = try await other.branch(id, from: "2")
        try await elsewhere.chats.synchronize(id, with: other)
        try await other.deleteSession(id)
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere.map(\.id) == ["1"])
    }

    @Test("chat-projection: a message deleted before its session moved is to be deleted elsewhere")
    func deletedBeforeMove() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2", "3")
        try await other.deleteMessages(["1", "2"], in: id)
        try await say("2", in: other)
        try await other.moveSession(id, to: "Moby")
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere.map(\.id) == ["1"])
    }

    @Test("chat-projection: a message deleted on another device stays deleted there if a branch with it is restored")
    func othersDeletion() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one", "two")
        try await other.deleteMessages(["two"], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        try await workspace.chats.synchronize(id, with: history)
        let branch = try await history.branch(id, from: "two")
        try await workspace.chats.synchronize(id, with: history)
        try await history.restoreBranch(branch, in: id)
        #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere.map(\.id) == ["two"])
        #expect(try await elsewhere.chats.synchronize(id, with: other).new.isEmpty)
        #expect(try await texts(other) == ["one"])
        // Deleted here, too, and saved again.
        try await history.deleteMessages(["two"], in: id)
        try await workspace.chats.synchronize(id, with: history)
        try await say("two", in: history)
        try await workspace.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await texts(other) == ["one", "two"])

        // The other device still has the text that this one deleted.
        try await history.deleteMessages(["two"], in: id)
        try await workspace.chats.synchronize(id, with: history)
        try await history.append(
            [message("two", "deux")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        try await workspace.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await texts(other) == ["one", "deux"])
        #expect(try await keptVersions().isEmpty)
    }

    @Test("chat-projection: messages that expire from an agent's window do not come back")
    func expired() async throws {
        let store = SQLiteHistoryStore(
            directory: folder.url.appendingPathComponent("history"),
            configuration: HistoryConfiguration(retention: .window))
        for number in 1...6 {
            for agent in ["a", "b"] {
                try await store.append(
                    [message("\(number)", "\(number)")],
                    to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent),
                    options: AppendOptions(maxMessages: agent == "a" ? 2 : 4))
                try await workspace.chats.synchronize(id, with: store)
            }
        }
        func window(_ agent: String) async throws -> [String] {
            try await store.window(
                of: Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent), maxMessages: nil
            ).map(\.text)
        }
        #expect(try await window("a") == ["5", "6"])
        #expect(try await window("b") == ["3", "4", "5", "6"])
        #expect(try await Set(published()) == ["3", "4", "5", "6"])
        #expect(try await keptVersions().isEmpty)
        await store.close()
    }

    @Test("chat-projection: another user's session of the same ID is refused")
    func anotherUser() async throws {
        try await say("one", in: history)
        try await workspace.chats.synchronize(id, with: history)
        let other = SessionKey(userId: "bob", sessionId: "Moby Dick")
        try await history.append(
            [message("2", "two")], to: Scope(userId: "bob", sessionId: "Moby Dick", agentId: "a"))
        await #expect { try await workspace.chats.synchronize(other, with: history) } throws: {
            ($0 as? RecollectError)?.code == .invalidArgument
        }
        #expect(try await published() == ["one"])
        #expect(try await history.message("one", in: other) == nil)
    }

    @Test("chat-projection: a discarded session stays discarded, and gets the file's messages after it is restored")
    func discarded() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        try await say("two", in: other)
        try await elsewhere.chats.synchronize(id, with: other)
        try await history.discardSession(id)
        #expect(try await workspace.chats.synchronize(id, with: history).new.map(\.message.id) == ["two"])
        #expect(try await history.session(id)?.discardedAt != nil)
        try await history.restoreSession(id)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await texts(history) == ["one", "two"])
    }

    @Test("chat-projection: a losing edit with a credential is not written beside the file")
    func losingCredential() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        try await history.edit([message("one", "AKIA" + "Q3ZJ7MX2LWTD6VKF")], in: id)
        try await other.edit([message("one", "Zoe")], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        await #expect { try await workspace.chats.synchronize(id, with: history) } throws: {
            ($0 as? RecollectError)?.code == .credential
        }
        #expect(try await keptVersions().isEmpty)
        #expect(try await texts(history) == ["AKIA" + "Q3ZJ7MX2LWTD6VKF"])
    }

    @Test("chat-projection: of two titles, one is published, and the other is kept beside the file")
    func titles() async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        try await say("one", in: history)
        try await say("one", in: other)
        try await history.update(id, with: SessionDetails(title: "Whales"))
        try await other.update(id, with: SessionDetails(title: "Ships"))
        for _ in 0..<2 {
            try await workspace.chats.synchronize(id, with: history)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await workspace.chats.read("Moby Dick")?.title == "Whales")
        #expect(try await keptVersions().map { $0.contains("\"Ships\"") } == [true])
        try await other.update(id, with: SessionDetails(title: "Sea"))
        try await elsewhere.chats.synchronize(id, with: other)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await workspace.chats.read("Moby Dick")?.title == "Sea")
        #expect(try await history.session(id)?.title == "Sea")
        #expect(try await keptVersions().count == 1)
        try await history.update(id, with: SessionDetails(title: ""))
        try await workspace.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await workspace.chats.read("Moby Dick")?.title == nil)
        #expect(try await [history.session(id)?.title, other.session(id)?.title] == [nil, nil])
        #expect(try await keptVersions().count == 1)
    }

    @Test(
        "chat-projection: an edit back to an earlier text is kept beside another edit made at the same time",
        arguments: ["zebra", "aardvark"])
    func editedBack(_ there: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        func synchronizeBoth() async throws {
            for _ in 0..<2 {
                try await workspace.chats.synchronize(id, with: history)
                try await elsewhere.chats.synchronize(id, with: other)
            }
        }
        try await history.edit([message("one", "middle")], in: id)
        try await synchronizeBoth()
        try await history.edit([message("one", "one")], in: id)
        try await other.edit([message("one", there)], in: id)
        try await synchronizeBoth()
        let found = try await published()
        #expect(try await [texts(history), texts(other)] == [found, found])
        let all = try await keptVersions() + found.map { "\"\($0)\"}" }
        for text in ["one", there] { #expect(all.contains { $0.contains("\"\(text)\"}") }) }
    }

    @Test("chat-projection: of two edits made at the same time, an older file does not bring back the losing one")
    func olderLoser() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        let common = try await workspace.read(path).bytes
        var older: [[UInt8]] = []
        for (device, store, text) in [(workspace, history, "aaa"), (elsewhere, other, "bbb")] {
            try deliver(common)
            try await store.edit([message("one", text)], in: id)
            try await store.update(id, with: SessionDetails(title: text))
            try await device.chats.synchronize(id, with: store)
            older.append(try await workspace.read(path).bytes)
        }
        for bytes in older + older {
            try deliver(bytes)
            for (device, store) in [(workspace, history), (elsewhere, other), (workspace, history)] {
                try await device.chats.synchronize(id, with: store)
            }
            #expect(try await [texts(history), texts(other), published()] == [["bbb"], ["bbb"], ["bbb"]])
            #expect(try await [history.session(id)?.title, other.session(id)?.title] == ["bbb", "bbb"])
        }
        #expect(
            try await keptVersions().contains { $0.contains("\"aaa\"}") && $0.contains("\"title\":\"aaa\"") })
    }

    @Test(
        "chat-projection: an edit in a restored history replaces no later content of the file",
        arguments: [false, true])
    func editedBehindAlone(isTitle: Bool) async throws {
        let backup = SQLiteHistoryStore.inMemory()
        for store in [history, backup] { try await say("one", in: store) }
        try await workspace.chats.synchronize(id, with: history)
        for (store, text) in [(history, "later"), (backup, "amended")] {
            if isTitle {
                try await store.update(id, with: SessionDetails(title: text))
            } else {
                try await store.edit([message("one", text)], in: id)
            }
            // The feed of a backup ends before the note.
            var last = try #require(try await workspace.chats.lastSynchronized("Moby Dick"))
            if store === backup { last.change = ChangeCursor(sequence: 1_000) }
            try workspace.archive.note(synchronized: last.bytes, at: path)
            for _ in 0..<2 { try await workspace.chats.synchronize(id, with: store) }
        }
        #expect(try await isTitle ? backup.session(id)?.title == "amended" : texts(backup) == ["amended"])
        #expect(try await keptVersions().count == 1)
        #expect(try await keptVersions().allSatisfy { $0.contains("\"later\"") })
    }

    @Test(
        "chat-projection: a history restored from a backup brings back no deleted message, and loses no edit",
        arguments: [false, true])
    func editedBehind(isTitle: Bool) async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        func synchronizeBoth(_ store: SQLiteHistoryStore) async throws -> [PublishedChat] {
            var published: [PublishedChat] = []
            for _ in 0..<2 {
                published.append(try await workspace.chats.synchronize(id, with: store))
                try await elsewhere.chats.synchronize(id, with: other)
            }
            return published
        }
        let backup = SQLiteHistoryStore.inMemory()
        for store in [history, backup] { try await say("one", "two", in: store) }
        _ = try await synchronizeBoth(history)
        func change(_ store: SQLiteHistoryStore, to text: String) async throws {
            if isTitle {
                try await store.update(id, with: SessionDetails(title: text))
            } else {
                try await store.edit([message("one", text)], in: id)
            }
        }
        try await change(other, to: "later")
        for store in [history, other] { try await store.deleteMessages(["two"], in: id) }
        _ = try await synchronizeBoth(history)
        // The feed of a backup ends before the note.
        var last = try #require(try await workspace.chats.lastSynchronized("Moby Dick"))
        last.change = ChangeCursor(sequence: 1_000)
        try workspace.archive.note(synchronized: last.bytes, at: path)
        try await change(backup, to: "amended")
        #expect(try await synchronizeBoth(backup).map { $0.deletedElsewhere.map(\.id) } == [["two"], ["two"]])
        let found = try await published()
        #expect(try await [texts(backup), texts(other)] == [found + ["two"], found])
        let file = try await workspace.read(path).text
        let all = try await keptVersions() + [file]
        for text in ["later", "amended"] { #expect(all.contains { $0.contains("\"\(text)\"") }) }
        // A later edit of the message brings it back, and so does saving it again.
        try await backup.deleteMessages(["two"], in: id)
        _ = try await synchronizeBoth(backup)
        try await say("two", in: backup)
        _ = try await synchronizeBoth(backup)
        #expect(try await texts(other) == found + ["two"])
    }

    @Test("chat-projection: when one agent's copy of an ID expires, another agent's message replaces no text")
    func expiredCopy() async throws {
        let store = SQLiteHistoryStore(
            directory: folder.url.appendingPathComponent("history"),
            configuration: HistoryConfiguration(retention: .window))
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        func append(_ id: String, _ text: String, to agent: String) async throws {
            try await store.append(
                [message(id, text)], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent),
                options: AppendOptions(maxMessages: 2))
        }
        try await append("1", "first of a", to: "a")
        try await append("1", "first of b", to: "b")
        for round in 2...4 {
            for _ in 0..<2 {
                try await workspace.chats.synchronize(id, with: store)
                try await elsewhere.chats.synchronize(id, with: other)
            }
            try await append("\(round)", "\(round)", to: "a")
        }
        #expect(try await texts(other).contains("first of a"))
        #expect(try await store.message("1", in: id, agentId: "b")?.message.text == "first of b")
        #expect(try await store.message("1", in: id, agentId: "a") == nil)
        #expect(try await keptVersions().isEmpty)
        await store.close()
    }

    @Test("chat-projection: of two sessions whose IDs are one name to the disk, the second is refused")
    func sameNameToTheDisk() async throws {
        try await say("one", in: history)
        try await workspace.chats.synchronize(id, with: history)
        let bytes = try await workspace.read(path).bytes
        // As seen on a disk that ignores the letter case.
        let other = SessionKey(userId: "ann", sessionId: "MOBY DICK")
        let file = folder.root.appendingPathComponent(workspace.chats.path(of: "MOBY DICK").description)
        try Data(bytes).write(to: file)
        try await history.append([message("1", "two")], to: Scope(userId: "ann", sessionId: "MOBY DICK", agentId: "a"))
        for _ in 0..<2 {
            await #expect(throws: RecollectError.self) { try await workspace.chats.synchronize(other, with: history) }
            #expect(try Data(contentsOf: file) == Data(bytes))
        }
        // A copy of a session with another name is replaced.
        try FileManager.default.removeItem(at: file)
        try await workspace.chats.synchronize(other, with: history)
        #expect(try await workspace.chats.read("MOBY DICK")?.messages.map(\.message.text) == ["two"])
    }

    @Test("chat-projection: of messages of several agents with one ID, none replaces another one")
    func agentsWithOneID() async throws {
        func append(_ text: String, to agent: String, in session: String = "Moby Dick", adopts: Bool = false)
            async throws
        {
            try await history.append(
                [message("1", text)], to: Scope(userId: "ann", sessionId: session, agentId: agent),
                options: AppendOptions(adoptsUnassigned: adopts))
        }
        func both() async throws -> [String] {
            try await stored().filter { $0.message.id == "1" }.map { "\($0.agentId): \($0.message.text)" }.sorted()
        }
        // The message of b is moved to a position before that of a.
        try await append("question to a", to: "a")
        try await workspace.chats.synchronize(id, with: history)
        try await append("question to b", to: "b", in: "draft")
        try await history.moveSession(SessionKey(userId: "ann", sessionId: "draft"), to: "Moby Dick")
        #expect(try await stored().map(\.agentId) == ["b", "a"])
        for _ in 0..<2 {
            #expect(try await workspace.chats.synchronize(id, with: history).edited.isEmpty)
            #expect(try await both() == ["a: question to a", "b: question to b"])
        }
        // The published message is edited.
        try await history.edit([MessageEdit(of: message("1", "question to a"), to: message("1", "edited"))], in: id)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await published() == ["edited"])
        #expect(try await both() == ["a: edited", "b: question to b"])
        // On another device, a third agent has a message with the ID.
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        try await other.append(
            [message("1", "question to c")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "c"))
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            try await workspace.chats.synchronize(id, with: history)
        }
        #expect(try await texts(other) == ["edited", "question to c"])
        #expect(try await both() == ["a: edited", "b: question to b"])
        #expect(try await published() == ["edited"])
        #expect(try await keptVersions().isEmpty)
    }

    @Test(
        "chat-projection: of messages of two agents with one ID, a conflict copy brings neither text to the other agent"
    )
    func agentsWithOneIDInConflict() async throws {
        // Each device publishes its message before the folders meet.
        let apart = try TestFolder()
        let (elsewhere, other) = (
            try SharedWorkspace(
                root: apart.root,
                configuration: WorkspaceConfiguration(stateURL: apart.url.appendingPathComponent("state"))),
            SQLiteHistoryStore.inMemory()
        )
        let scope = { (agent: String) in Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent) }
        try await history.append([message("1", "answer of b")], to: scope("b"))
        try await other.append([message("1", "question to a")], to: scope("a"))
        try await workspace.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        try FileManager.default.copyItem(
            at: apart.root.appendingPathComponent(path.description),
            to: folder.root.appendingPathComponent("Chats/Moby Dick.sync-conflict-20261127-101010-ABCDEFG.json"))
        #expect(try await workspace.resolveConflicts().count == 1)
        let file = folder.root.appendingPathComponent(path.description)
        let elsewhereFile = apart.root.appendingPathComponent(path.description)
        for _ in 0..<2 {
            try Data(contentsOf: file).write(to: elsewhereFile)
            try await elsewhere.chats.synchronize(id, with: other)
            try Data(contentsOf: elsewhereFile).write(to: file)
            try await workspace.chats.synchronize(id, with: history)
        }
        #expect(try await published() == ["question to a"])
        for store in [history, other] {
            #expect(try await store.message("1", in: id, agentId: "a")?.message.text == "question to a")
        }
        #expect(try await history.message("1", in: id, agentId: "b")?.message.text == "answer of b")
        #expect(try await keptVersions().contains { $0.contains("answer of b") })
    }

    @Test("chat-projection: another agent's new message with the ID of an expired or lost one is no edit of it")
    func expiredBeforeReuse() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1")
        let agents = { (store: SQLiteHistoryStore) in
            try await store.messages(of: self.id, agentId: nil, page: PageRequest(limit: 9)).elements
                .filter { $0.message.id == "1" }.map { "\($0.agentId): \($0.message.text)" }.sorted()
        }
        // The history is lost, and begun again by another agent.
        let empty = SQLiteHistoryStore.inMemory()
        try await empty.append([message("1", "of b")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "b"))
        for _ in 0..<2 {
            try await workspace.chats.synchronize(id, with: empty)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await agents(empty) == ["a: 1", "b: of b"])
        #expect(try await agents(other) == ["a: 1"])
        // It expires, and another agent's message comes between two synchronizations.
        let folder = try TemporaryFolder()
        let third = try SharedWorkspace(
            root: workspace.rootURL,
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state")))
        let store = SQLiteHistoryStore(
            directory: folder.url.appendingPathComponent("history"),
            configuration: HistoryConfiguration(retention: .window))
        try await third.chats.synchronize(id, with: store)
        #expect(try await agents(store) == ["a: 1"])
        for (number, agent) in [("2", "a"), ("3", "a"), ("4", "a"), ("1", "b")] {
            try await store.append(
                [message(number, "\(number) of \(agent)")],
                to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent),
                options: AppendOptions(maxMessages: 2))
        }
        for _ in 0..<2 {
            try await third.chats.synchronize(id, with: store)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await agents(store) == ["b: 1 of b"])
        #expect(try await agents(other) == ["a: 1"])
        // A later edit of it is published.
        try await store.edit([message("1", "edited by b")], in: id)
        for _ in 0..<2 {
            try await third.chats.synchronize(id, with: store)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await agents(store) == ["b: edited by b"])
        #expect(try await agents(other) == ["a: 1", "b: edited by b"])
        #expect(try await keptVersions().isEmpty)
        await store.close()
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

    @Test("chat-projection: a title that loses against one with more changes is kept beside the file")
    func unknownTitle() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        let common = try await workspace.read(path).bytes
        try await history.update(id, with: SessionDetails(title: "mine"))
        try await workspace.chats.synchronize(id, with: history)
        try deliver(common)
        for title in ["b1", "b2"] {
            try await other.update(id, with: SessionDetails(title: title))
            try await elsewhere.chats.synchronize(id, with: other)
        }
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await [history.session(id)?.title, workspace.chats.read("Moby Dick")?.title] == ["b2", "b2"])
        #expect(try await keptVersions().map { $0.contains("\"title\":\"mine\"") } == [true])
    }

    @Test(
        "chat-projection: a branch restored under an ID used again since gets its text back on all devices",
        arguments: ["a", "b"])
    func restoredBeforeReuse(agent: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        let branch = try await history.branch(id, from: "one")
        try await history.append(
            [message("one", "other")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent))
        func synchronizeBoth() async throws {
            for _ in 0..<2 {
                try await workspace.chats.synchronize(id, with: history)
                try await elsewhere.chats.synchronize(id, with: other)
            }
        }
        try await synchronizeBoth()
        // Another agent's message is another one.
        #expect(try await texts(other) == [agent == "a" ? "other" : "one"])
        try await history.restoreBranch(branch, in: id)
        try await synchronizeBoth()
        #expect(try await history.message("one", in: id, agentId: "a")?.message.text == "one")
        #expect(try await published() == ["one"])
        #expect(try await texts(other) == ["one"])
    }

    @Test("chat-projection: of several agents' messages, the deleted one is published if it comes back")
    func returnedCopy() {
        let (own, others) = (message("1", "of a"), message("1", "of b"))
        var last = SynchronizedChat(
            userId: "ann", chat: ChatProjection(session: "Moby Dick", entries: []), change: ChangeCursor(sequence: 1))
        last.replaced = [ByteString("1"): [ChatRevision(content: own.json).state]]
        let copies = [("b", others), ("a", own)].map { agent, message in
            StoredMessage(agentId: agent, cursor: MessageCursor(position: 0), message: message)
        }.copies(after: last)
        #expect(copies.map(\.message) == [own])
        #expect(copies[0].agents == ["a"])
    }

    @Test("chat-projection: after many edits of a message, the latest ones are known as replaced")
    func manyEdits() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        for number in 1...70 {
            try await history.edit([message("one", "\(number)")], in: id)
            try await workspace.chats.synchronize(id, with: history)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await texts(other) == ["70"])
        #expect(try await keptVersions().isEmpty)
    }
}
