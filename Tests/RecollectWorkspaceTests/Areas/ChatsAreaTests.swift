import Foundation
import RecollectCore
import RecollectSQLite
import Testing

@testable import RecollectWorkspace

@Suite("Chat projections in a workspace")
struct ChatsAreaTests {
    let folder: TestFolder
    let workspace: SharedWorkspace
    let history = SQLiteHistoryStore.inMemory()
    let id = SessionKey(userId: "ann", sessionId: "Moby Dick")
    var path: WorkspacePath { workspace.chats.path(of: "Moby Dick") }

    init() throws {
        folder = try TestFolder()
        workspace = try SharedWorkspace(
            root: folder.root,
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state")))
    }

    /// The same folder, opened as on another device: with a state folder of its own.
    func elsewhere() throws -> SharedWorkspace {
        try SharedWorkspace(
            root: folder.root,
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("elsewhere")))
    }

    /// Says the texts on this device, and synchronizes them with another one.
    func otherDevice(having texts: String...) async throws -> (SharedWorkspace, SQLiteHistoryStore) {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        for text in texts { try await say(text, in: history) }
        try await workspace.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        return (elsewhere, other)
    }

    func say(_ texts: String..., in history: SQLiteHistoryStore, prefix: String = "") async throws {
        for text in texts {
            let message = ConversationMessage(
                id: prefix + text, role: .user, text: text, timestamp: Date(timeIntervalSince1970: 9))
            try await history.append([message], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        }
    }

    func message(_ id: String, _ text: String) -> ConversationMessage {
        ConversationMessage(id: id, role: .user, text: text, timestamp: Date(timeIntervalSince1970: 9))
    }

    func texts(_ history: SQLiteHistoryStore) async throws -> [String] {
        try await history.messages(of: id, agentId: nil, page: PageRequest(limit: 99)).elements.map(\.message.text)
    }

    /// The texts of the messages in the file.
    func published() async throws -> [String] {
        try await workspace.chats.read("Moby Dick")?.messages.map(\.message.text) ?? []
    }

    /// The IDs marked as deleted in the file.
    func deletedIDs() async throws -> [String]? {
        try await workspace.chats.read("Moby Dick")?.deletions.keys.map(\.string).sorted()
    }

    /// Publishes the history, and does not save the file's changes in it.
    func publish() async throws -> (PublishedChat, local: SynchronizedChat) {
        let last = try await workspace.chats.lastSynchronized("Moby Dick")
        let change = try await history.latestChangeCursor()
        let messages = try await stored().copies(after: last)
        let feed = try await workspace.chats.changes(of: id, in: history, after: last, to: change)
        return try await workspace.chats.publish(
            SynchronizedChat(id, title: nil, messages, after: last, feed, change: change), of: messages, since: last,
            feed)
    }

    /// Leaves the note of a synchronization that could not read the file.
    func synchronizeInVain() async throws {
        let last = try await workspace.chats.lastSynchronized("Moby Dick")
        let change = try await history.latestChangeCursor()
        let feed = try await workspace.chats.changes(of: id, in: history, after: last, to: change)
        let state = SynchronizedChat(
            id, title: nil, try await stored().copies(after: last), after: last, feed, change: change)
        try workspace.archive.note(synchronized: state.bytes, at: path)
    }

    func stored() async throws -> [StoredMessage] {
        try await history.messages(of: id, agentId: nil, page: PageRequest(limit: 99)).elements
    }

    /// Puts a file of the session in place, as a sync service does.
    func deliver(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: workspace.rootURL.appendingPathComponent(path.description))
    }

    /// The contents of the versions kept beside the file.
    func keptVersions() async throws -> [String] {
        var contents: [String] = []
        for item in try await workspace.list(WorkspacePath(checked: ["Chats"])) where item.path != path {
            contents.append(try await workspace.read(item.path).text)
        }
        return contents
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
}
