import Foundation
import RecollectCore
import RecollectSQLite
import Testing

@testable import RecollectWorkspace

/// Edits of messages and titles on several devices, against other edits and against deletions.
extension ChatsAreaTests {
    /// A workspace of this device with a limit for files, in bytes.
    private func limited(to size: Int) throws -> SharedWorkspace {
        var configuration = WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("small"))
        configuration.maxFileSize = size
        return try SharedWorkspace(root: folder.root, configuration: configuration)
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
        #expect(try await history.attachment(sha256: hash, userId: "ann") == picture)
        try await workspace.chats.synchronize(id, with: history)
        try #require(try await texts(history) == ["theirs"])
        let kept = try await keptVersions()
        for name in ["whale.png", "../a/b.json", ""] {
            #expect(kept.contains { $0 == "the bytes of a picture" + name })
        }
        let names = try await workspace.list(WorkspacePath(checked: ["Chats"])).map(\.path.name)
        #expect(names.contains { $0.hasPrefix("Moby Dick attachment (kept") && $0.hasSuffix(".png") })
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
        #expect(try await history.attachment(sha256: Attachment.sha256(of: video), userId: "ann") == video)
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
