import Foundation
import RecollectCore
import RecollectSQLite
import Testing

@testable import RecollectWorkspace

/// Older files, files saved by an editor, and histories restored from a backup.
extension ChatsAreaTests {
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
}
