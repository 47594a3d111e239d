import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Recovery of interrupted replies") struct ReplyRecoveryTests {
    private let folder: TemporaryFolder
    private let start = ConversationMessage(id: "r", role: .assistant, text: "so far")

    init() throws {
        folder = try TemporaryFolder()
    }

    private var writers: URL { folder.file("writers") }
    private let gone = "1B9D6BCD-BBFD-4B2D-9B5D-AB8DFBBD4BED"

    private var interrupted: ConversationMessage { start.asInterrupted }

    /// Creates a closed history with a streaming reply of a writer that has ended.
    private func abandonedReply(
        _ message: ConversationMessage? = nil, after action: (SQLiteHistoryStore) async throws -> Void = { _ in }
    ) async throws {
        let history = folder.history()
        _ = try await history.saveReply(message ?? start, in: scope)
        try await action(history)
        try await history.write { [gone] in
            try $0.run("UPDATE streaming_reply SET writer = ? WHERE message_id = 'r'", gone)
        }
        await history.close()
    }

    private func saved(in history: SQLiteHistoryStore) async throws -> [ConversationMessage] {
        try await history.window(of: scope, maxMessages: nil)
    }

    @Test("Opening the history saves the reply as interrupted, with its attachments, and reports it")
    func opening() async throws {
        let bytes = Data([1, 2, 3])
        var begun = start
        begun.parts.insert(.attachment(Attachment(mediaType: "a/b", content: .inline(bytes))), at: 0)
        try await abandonedReply(begun)
        let history = folder.history()
        let stored = try await saved(in: history)
        #expect(stored.map(\.text) == ["so far"])
        #expect(stored.allSatisfy { $0.isInterrupted && !$0.hasInlineAttachments })
        #expect(try await history.attachment(sha256: Attachment.sha256(of: bytes), userId: "ann") == bytes)
        #expect(history.events.takeUndelivered().map(\.kind) == [.interruptedReply])
        #expect(try await history.check().problems.isEmpty)
    }

    @Test("On a full disk, the reply is shown, and saved when space is available", .needs(.tinyDisk))
    func fullDisk() async throws {
        let disk = try TinyDisk(at: folder.file("disk"), kilobytes: 1024)
        let history = SQLiteHistoryStore(directory: disk.url)
        // Opened before the reply, because an opening saves interrupted replies.
        let sessions = SQLiteSessionStorage(history: history, userId: scope.userId)
        _ = try await history.saveReply(start, in: scope)
        try await history.write { [gone] in try $0.run("UPDATE streaming_reply SET writer = ?", gone) }
        disk.fill()
        #expect(try await history.streamingReplies(in: scope.session).map(\.message.text) == ["so far"])
        #expect(try await sessions.getSession(id: scope.sessionId)?.messages.map(\.content) == ["so far"])
        await expectError(.diskFull) {
            let text = String(repeating: "x", count: 1 << 20)
            try await history.append([ConversationMessage(role: .user, text: text)], to: scope)
        }
        try FileManager.default.removeItem(at: disk.url.appendingPathComponent("filler"))
        #expect(try await history.streamingReplies(in: scope.session).isEmpty)
        #expect(try await saved(in: history) == [interrupted])
    }

    @Test("A complete reply saved meanwhile is left unchanged, a part of the reply is edited, and nothing is lost")
    func savedMeanwhile() async throws {
        let whole = ConversationMessage(id: "r", role: .assistant, text: "so far and to the end")
        let other = ConversationMessage(id: "r", role: .assistant, text: "what it said the first time")
        let part = ConversationMessage(id: "r", role: .assistant, text: "so")
        let call = ContentPart.toolCall(id: "c", name: "look", arguments: [:])
        var calling = start
        calling.parts.append(call)
        var called = whole
        called.parts.insert(call, at: 0)
        let trimmed = ConversationMessage(id: "r", role: .assistant, text: "so")
        var indented = start
        indented.parts = [.text("\n\nso far\n")]
        let copy = ConversationMessage.copyId(of: "r", from: scope.sessionId)
        for (begun, held, stored) in [
            (start, whole, [whole]), (start, other, [other, interrupted.with(id: copy)]),
            (calling, whole, [whole, calling.asInterrupted.with(id: copy)]), (calling, called, [called]),
            (start, part, [interrupted]), (indented, trimmed, [indented.asInterrupted]), (indented, whole, [whole]),
        ] {
            try await abandonedReply(begun) { history in
                try await history.append([held], to: scope)
                try await history.edit([held], in: scope.session)
            }
            let history = folder.history()
            #expect(try await history.streamingReplies(in: scope.session).isEmpty)
            #expect(try await saved(in: history) == stored)
            try await history.deleteSession(scope.session)
            await history.close()
        }
    }

    @Test("Beginning a reply with the same ID saves the interrupted reply first, and the new one must continue it")
    func beginningAnew() async throws {
        let history = folder.history()
        _ = try await history.saveReply(start, in: scope)
        try await history.write { [gone] in
            try $0.run("UPDATE streaming_reply SET writer = ? WHERE message_id = 'r'", gone)
        }
        await expectError(.invalidArgument) {
            _ = try await history.beginReply(ConversationMessage(id: "r", role: .assistant, text: ""), in: scope)
        }
        let second = try await history.beginReply(start, in: scope)
        #expect(try await saved(in: history) == [interrupted])
        second.append(", and on")
        try await second.finish()
        #expect(try await saved(in: history).map(\.text) == ["so far, and on"])
    }

    @Test("An invalid writer name is never used as a file name")
    func foreignName() async throws {
        let precious = folder.file("precious.lock")
        try Data("mine".utf8).write(to: precious)
        for name in ["../precious", "", ".", "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed", "a\0b"] {
            let history = folder.history()
            _ = try await history.saveReply(
                ConversationMessage(id: name, role: .assistant, text: "so far"), in: scope)
            try await history.write { try $0.run("UPDATE streaming_reply SET writer = ?", name) }
            #expect(try await history.streamingReplies(in: scope.session).isEmpty)
            #expect(try await saved(in: history).last?.isInterrupted == true)
        }
        #expect(try Data(contentsOf: precious) == Data("mine".utf8))
    }

    @Test("The next opening removes locks without replies, and foreign files stay")
    func strayLocks() async throws {
        let files = FileManager.default
        try files.createDirectory(at: writers, withIntermediateDirectories: true)
        let link = writers.appendingPathComponent("\(UUID().uuidString).lock")
        let precious = folder.file("precious")
        try Data("mine".utf8).write(to: precious)
        try files.createSymbolicLink(at: link, withDestinationURL: precious)
        let directory = "\(UUID().uuidString).lock"
        try files.createDirectory(at: writers.appendingPathComponent(directory), withIntermediateDirectories: false)
        try Data().write(to: writers.appendingPathComponent("notes.lock"))
        try Data().write(to: writers.appendingPathComponent("\(gone).lock"))
        let history = try await folder.history().open()
        await history.close()
        let left = try files.contentsOfDirectory(atPath: writers.path)
        #expect(Set(left) == [link.lastPathComponent, directory, "notes.lock"])
        #expect(try Data(contentsOf: precious) == Data("mine".utf8))
    }

    @Test("Replies stay streaming if their lock cannot be examined")
    func doubt() async throws {
        try await abandonedReply()
        try FileManager.default.createDirectory(
            at: writers.appendingPathComponent("\(gone).lock"), withIntermediateDirectories: true)
        let history = folder.history()
        #expect(try await history.streamingReplies(in: scope.session).map(\.message.id) == ["r"])
        #expect(try await saved(in: history).isEmpty)
    }

    @Test("A symbolic link in place of the lock folder is not followed: replies cannot begin, but all else works")
    func inTheWay() async throws {
        let elsewhere = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(at: writers, withDestinationURL: elsewhere.url)
        let history = folder.history()
        await expectError(.cannotOpen) { _ = try await history.beginReply(start, in: scope) }
        try await history.append(messages(0..<2), to: scope)
        #expect(try await saved(in: history) == messages(0..<2))
        #expect(try elsewhere.names.isEmpty)
    }

    @Test("Only the current user may read the locks")
    func permissions() async throws {
        let history = folder.history()
        let reply = try await history.beginReply(start, in: scope)
        let lock = try #require(try FileManager.default.contentsOfDirectory(atPath: writers.path).first)
        for (path, mode) in [(writers.path, 0o700), (writers.appendingPathComponent(lock).path, 0o600)] {
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode)
        }
        try await reply.finish()
    }

    @Test("A reply whose lock file was removed is saved as interrupted, and its end corrects this")
    func removedLock() async throws {
        let history = folder.history()
        let reply = try await history.beginReply(start, in: scope)
        try FileManager.default.removeItem(at: writers)
        #expect(try await history.streamingReplies(in: scope.session).isEmpty)
        #expect(try await saved(in: history) == [interrupted])
        reply.append(", and to the end")
        try await reply.finish()
        #expect(try await saved(in: history).map(\.text) == ["so far, and to the end"])
        #expect(try await saved(in: history).map(\.isInterrupted) == [false])
    }

    @Test("A reply that begins after the lock file was removed creates a new lock file")
    func newLock() async throws {
        let history = folder.history()
        let first = try await history.beginReply(start, in: scope)
        try FileManager.default.removeItem(at: writers)
        let second = try await history.beginReply(ConversationMessage(id: "2", role: .assistant, text: ""), in: scope)
        #expect(try await history.streamingReplies(in: scope.session).map(\.message.id) == ["2"])
        try await first.finish()
        #expect(try await history.streamingReplies(in: scope.session).map(\.message.id) == ["2"])
        try await second.finish()
        #expect(try FileManager.default.contentsOfDirectory(atPath: writers.path).isEmpty)
    }

    @Test("After a salvage, replies of living writers continue, and others are saved as interrupted")
    func salvage() async throws {
        let history = folder.history()
        let reply = try await history.beginReply(ConversationMessage(id: "l", role: .assistant, text: ""), in: scope)
        try await abandonedReply()
        await history.close()
        let file = folder.file("history.sqlite")
        var bytes = try Data(contentsOf: file)
        bytes.replaceSubrange(0..<60, with: Data(repeating: 0, count: 60))
        try bytes.write(to: file)
        #expect(try await history.streamingReplies(in: scope.session).map(\.message.id) == ["l"])
        #expect(history.events.takeUndelivered().map(\.kind).contains(.salvaged))
        #expect(try await saved(in: history) == [interrupted])
        reply.append("goes on")
        try await reply.finish()
        #expect(try await saved(in: history).map(\.text) == ["so far", "goes on"])
    }
}
