import Foundation
import GRDB
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("File faults") struct FaultTests {
    /// Creates a closed history with the given number of messages and its log checkpointed into the database.
    private func closedHistory(_ count: Int, in folder: TemporaryFolder) async throws {
        let history = folder.history()
        for start in stride(from: 0, to: count, by: 500) {
            try await history.append(messages(start..<min(count, start + 500)), to: scope)
        }
        await history.close()
    }

    @Test(
        "After page damage, messages are salvaged, the file is set aside, and an event reports the counts",
        .needs(.time))
    func damagedPage() async throws {
        let folder = try TemporaryFolder()
        try await closedHistory(5000, in: folder)
        let file = folder.file("history.sqlite")
        var bytes = try Data(contentsOf: file)
        // Pages of the message table in the middle of the file.
        for page in [bytes.count / 4096 / 3, bytes.count / 4096 / 2] {
            bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(repeating: 0xA5, count: 4096))
        }
        try bytes.write(to: file)
        let history = folder.history()
        let saved = try await history.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 10_000))
            .elements
        var events = history.events.stream().makeAsyncIterator()
        let event = try #require(await events.next())
        #expect(event.kind == .salvaged)
        #expect(event.recoveredMessages == saved.count)
        // Unknown if pages of the messages and of the index of their positions are damaged.
        #expect(event.lostMessages == nil || event.lostMessages == 5000 - saved.count)
        #expect(saved.count > 4500)
        #expect(Set(messages(0..<5000)).isSuperset(of: saved.map(\.message)))
        #expect(zip(saved, saved.dropFirst()).allSatisfy { $0.cursor < $1.cursor })
        let setAside = try #require(event.setAsideURL)
        #expect(try Data(contentsOf: setAside) == bytes)
        try await history.append(messages(5000..<5001), to: scope)
        #expect(try await history.window(of: scope, maxMessages: 2).last == messages(5000..<5001)[0])
    }

    @Test("With a damaged database header, all messages are salvaged", arguments: [0..<60, 16..<100])
    func damagedHeader(zeros: Range<Int>) async throws {
        let folder = try TemporaryFolder()
        try await closedHistory(1000, in: folder)
        let file = folder.file("history.sqlite")
        var bytes = try Data(contentsOf: file)
        bytes.replaceSubrange(zeros, with: Data(repeating: 0, count: zeros.count))
        try bytes.write(to: file)
        let history = folder.history()
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<1000))
        #expect(try folder.names.filter { $0.hasPrefix("history.damaged-") && $0.hasSuffix(".sqlite") }.count == 1)
        #expect(try !folder.names.contains { $0.hasPrefix("history.mending") })
    }

    @Test(
        "With another page size in the header, all messages are salvaged",
        arguments: [[0x20, 0], [0x80, 0], [0, 1], [8, 0], [4, 0], [2, 0], [0, 0]] as [[UInt8]])
    func damagedPageSize(bytes: [UInt8]) async throws {
        let folder = try TemporaryFolder()
        try await closedHistory(1000, in: folder)
        let file = folder.file("history.sqlite")
        var database = try Data(contentsOf: file)
        database.replaceSubrange(16..<18, with: bytes)
        try database.write(to: file)
        let history = folder.history()
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<1000))
        #expect(history.events.takeUndelivered().first { $0.kind == .salvaged }?.lostMessages == 0)
    }

    @Test(
        "After a cut, or with zeros at the end or inside, the loss is reported as it is, or as unknown",
        arguments: [8, 12, 20],
        ["cut", "zero", "hole"])
    func cutFile(pages: Int, damage: String) async throws {
        let folder = try TemporaryFolder()
        let closed = folder.history(durability: .relaxed)
        for session in 0..<200 {
            try await closed.append(
                messages(0..<5), to: Scope(userId: "ann", sessionId: "session \(session)", agentId: "a"))
        }
        await closed.close()
        let file = folder.file("history.sqlite")
        let size = try Data(contentsOf: file).count
        try #require(size > pages * 4096)
        var database = try Data(contentsOf: file).prefix(pages * 4096)
        if damage == "zero" { database += Data(count: size - database.count) }
        if damage == "hole" {
            // All but some pages at both ends.
            database = try Data(contentsOf: file)
            let hole = 2 * 4096..<size - pages * 1024 / 4096 * 4096
            database.replaceSubrange(hole, with: Data(count: hole.count))
        }
        try database.write(to: file)
        let history = folder.history()
        let saved = try await history.check().messageCount
        #expect(saved < 1000)
        let salvaged = try #require(history.events.takeUndelivered().first { $0.kind == .salvaged })
        #expect(salvaged.lostMessages == nil || salvaged.lostMessages == 1000 - saved)
    }

    @Test("A file that is no database is set aside unchanged, and a new history starts", arguments: [1, 99, 100, 5000])
    func garbage(size: Int) async throws {
        let folder = try TemporaryFolder()
        let garbage = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) })
        try garbage.write(to: folder.file("history.sqlite"))
        let history = folder.history()
        try await history.append(messages(0..<2), to: scope)
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<2))
        let name = try #require(try folder.names.first { $0.hasPrefix("history.damaged-") })
        #expect(try Data(contentsOf: folder.file(name)) == garbage)
    }

    @Test("Damaged JSON of one message hides no other message")
    func brokenJSON() async throws {
        let history = memory()
        let call = ConversationMessage(id: "call", role: .assistant, parts: [.thinking("hm", signature: nil)])
        try await history.append(messages(0..<2) + [call] + messages(2..<4), to: scope)
        try await history.write { try $0.run("UPDATE message SET parts = '[{\"thi' WHERE message_id = 'call'") }
        let window = try await history.window(of: scope, maxMessages: nil)
        #expect(window.map(\.id) == ["m0", "m1", "call", "m2", "m3"])
        #expect(window[2].parts == [.unknown(["unreadable": "[{\"thi"])])
        #expect(try await history.message("call", in: scope.session)?.message == window[2])
        #expect(try await history.sessions(of: "ann", page: PageRequest(limit: 5)).elements.count == 1)
    }

    @Test("An empty database file opens as an empty history")
    func empty() async throws {
        let folder = try TemporaryFolder()
        try Data().write(to: folder.file("history.sqlite"))
        try await folder.history().append(messages(0..<2), to: scope)
        #expect(try !folder.names.contains { $0.hasPrefix("history.damaged-") })
    }

    @Test("A foreign database is refused and stays unchanged")
    func foreign() async throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.file("history.sqlite").path)
        try await queue.write { try $0.execute(sql: "CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)") }
        try queue.close()
        let before = try Data(contentsOf: folder.file("history.sqlite"))
        await expectError(.foreignStore) { try await folder.history().open() }
        #expect(try Data(contentsOf: folder.file("history.sqlite")) == before)
        #expect(try folder.names == ["history.lock", "history.sqlite"])
    }

    @Test("A database with a newer schema is refused and stays unchanged")
    func newer() async throws {
        let folder = try TemporaryFolder()
        try await closedHistory(2, in: folder)
        let queue = try DatabaseQueue(path: folder.file("history.sqlite").path)
        try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99 from the future')") }
        try queue.close()
        let before = try Data(contentsOf: folder.file("history.sqlite"))
        await expectError(.newerSchema) { try await folder.history().open() }
        #expect(try Data(contentsOf: folder.file("history.sqlite")) == before)
    }

    @Test("A file in place of the folder, or a folder in place of the database, throws a clear error")
    func inTheWay() async throws {
        let folder = try TemporaryFolder()
        try Data("mine".utf8).write(to: folder.file("file"))
        await expectError(.cannotOpen) { try await SQLiteHistoryStore(directory: folder.file("file")).open() }
        await expectError(.cannotOpen) { try await SQLiteHistoryStore(directory: folder.file("file/below")).open() }
        #expect(try Data(contentsOf: folder.file("file")) == Data("mine".utf8))
        try FileManager.default.createDirectory(at: folder.file("history.sqlite"), withIntermediateDirectories: false)
        await expectError(.foreignStore) { try await folder.history().open() }
    }

    @Test(
        "After a file is unlinked while open, the next save opens the current files", arguments: ["", "-wal", "-shm"])
    func replaced(suffix: String) async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        try await history.append(messages(0..<2), to: scope)
        try FileManager.default.removeItem(at: folder.file("history.sqlite\(suffix)"))
        try await history.append(messages(4..<6), to: scope)
        #expect(history.events.takeUndelivered().map(\.kind).contains(.storeReplaced))
        let saved = try await history.window(of: scope, maxMessages: nil)
        #expect(saved.suffix(2) == messages(4..<6)[...])
        #expect(try await folder.history().window(of: scope, maxMessages: nil) == saved)
    }

    @Test("A log without a database is set aside")
    func strayLog() async throws {
        let folder = try TemporaryFolder()
        try Data(repeating: 1, count: 5000).write(to: folder.file("history.sqlite-wal"))
        let history = folder.history()
        try await history.append(messages(0..<2), to: scope)
        #expect(try folder.names.contains { $0.hasPrefix("history.damaged-") && $0.hasSuffix("-wal") })
        #expect(try await history.window(of: scope, maxMessages: nil).count == 2)
    }

    @Test("Files and folders are accessible only to their owner, regardless of the umask")
    func permissions() async throws {
        let folder = try TemporaryFolder()
        let history = SQLiteHistoryStore(directory: folder.file("new/history"))
        let picture = Attachment(mediaType: "a/b", content: .inline(Data([1])))
        try await history.append([ConversationMessage(role: .user, parts: [.attachment(picture)])], to: scope)
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.url.path) {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name).path)
            let mode = attributes[.posixPermissions] as? Int
            #expect(mode == (attributes[.type] as? FileAttributeType == .typeDirectory ? 0o700 : 0o600), "\(name)")
        }
    }

    @Test("Two stores of one folder share one database; a different durability throws a clear error")
    func shared() async throws {
        let folder = try TemporaryFolder()
        let (first, second) = (folder.history(), folder.history())
        try await first.append(messages(0..<2), to: scope)
        try await second.append(messages(2..<4), to: scope)
        #expect(try await first.window(of: scope, maxMessages: nil) == messages(0..<4))
        #expect(try await first.connection.database() === second.connection.database())
        await expectError(.invalidArgument) { try await folder.history(durability: .relaxed).open() }
    }

    @Test("A closed history is a single file, and reopens on its next use")
    func closes() async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        try await history.append(messages(0..<2), to: scope)
        await history.close()
        await history.close()
        #expect(try folder.names == ["history.lock", "history.sqlite"])
        try await history.append(messages(2..<4), to: scope)
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<4))
    }

    @Test("Saving an attachment again replaces its damaged file", arguments: [Data(), Data([3, 2, 1])])
    func damagedAttachment(damage: Data) async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        let bytes = Data([1, 2, 3])
        let message = ConversationMessage(
            id: "picture", role: .user, parts: [.attachment(Attachment(mediaType: "a/b", content: .inline(bytes)))])
        try await history.append([message], to: scope)
        let hash = Attachment.sha256(of: bytes)
        try damage.write(to: folder.file("attachments/\(hash.prefix(2))/\(hash)"))
        try await history.append([message], to: Scope(userId: "bob", sessionId: "other", agentId: "agent"))
        #expect(try await history.attachment(sha256: hash, userId: "ann") == bytes)
        #expect(try await history.check().problems.isEmpty)
    }

    @Test("If the database's header has more pages than its file, the loss is unknown, and attachments stay")
    func missingEnd() async throws {
        let folder = try TemporaryFolder()
        try await closedHistory(10, in: folder)
        // The message with this attachment was in the missing pages.
        let hash = try AttachmentFiles(directory: folder.file("attachments")).save(Data([9]))
        let file = folder.file("history.sqlite")
        var bytes = try Data(contentsOf: file)
        let pages = UInt32(bytes.count / 4096 + 2)
        bytes.replaceSubrange(28..<32, with: withUnsafeBytes(of: pages.bigEndian) { Data($0) })
        try bytes.write(to: file)
        let history = folder.history()
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<10))
        let salvaged = try #require(history.events.takeUndelivered().first { $0.kind == .salvaged })
        #expect(salvaged.lostMessages == nil)
        try await history.repair()
        #expect(try AttachmentFiles(directory: folder.file("attachments")).read(hash) == Data([9]))
    }

    @Test("A repair keeps the attachments of a damaged message, although a salvage recovers the message")
    func attachmentOfDamagedMessage() async throws {
        let folder = try TemporaryFolder()
        let closed = folder.history()
        let picture = Attachment(mediaType: "a/b", content: .inline(Data([1, 2, 3])))
        let long = ContentPart.text(String(repeating: "word ", count: 4000))
        try await closed.append(
            messages(0..<10) + [ConversationMessage(role: .user, parts: [long, .attachment(picture)])], to: scope)
        await closed.close()
        let file = folder.file("history.sqlite")
        var bytes = try Data(contentsOf: file)
        let part = try #require(bytes.range(of: Data("\"sha256\"".utf8)))
        bytes[part.lowerBound] = 0xFF
        // SQLite reports an index page of zeros. All rows of messages are still there.
        let page = try await closed.read {
            try #require(
                try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'message_by_position'"))
        }
        await closed.close()
        bytes.replaceSubrange((page - 1) * 4096..<page * 4096, with: Data(count: 4096))
        try bytes.write(to: file)
        let history = folder.history()
        try await history.repair()
        let salvaged = try #require(history.events.takeUndelivered().first { $0.kind == .salvaged })
        #expect((salvaged.recoveredMessages, salvaged.lostMessages) == (11, 0))
        #expect(try await history.check().problems.contains { $0.kind == "contentDamaged" })
        let files = AttachmentFiles(directory: folder.file("attachments"))
        #expect(try files.read(Attachment.sha256(of: Data([1, 2, 3]))) == Data([1, 2, 3]))
    }

    @Test("A check finds no problems in an intact history, and a repair removes all problems found")
    func doctor() async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        let picture = Attachment(mediaType: "a/b", content: .inline(Data([1, 2, 3])))
        try await history.append(
            messages(0..<10) + [ConversationMessage(role: .user, parts: [.attachment(picture)])], to: scope)
        let report = try await history.check()
        #expect(report.problems.isEmpty)
        #expect(report.messageCount == 11)
        #expect(report.attachmentCount == 1)
        #expect(report.attachmentBytes == 3)
        try await history.write { try $0.run("UPDATE session SET message_count = 5") }
        let stray = Attachment.sha256(of: Data([9]))
        _ = try AttachmentFiles(directory: folder.file("attachments")).save(Data([9]))
        #expect(Set(try await history.check().problems.map(\.kind)) == ["messageCount", "attachmentUnused"])
        try await history.repair()
        #expect(try await history.check().problems.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: folder.file("attachments/\(stray.prefix(2))/\(stray)").path))
    }

    @Test("A check that cannot read the messages reports no attachment as unused")
    func unreadableUses() async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        let picture = Attachment(mediaType: "a/b", content: .inline(Data([1, 2, 3])))
        try await history.append([ConversationMessage(role: .user, parts: [.attachment(picture)])], to: scope)
        let pages = try await history.read { db in
            try Int.fetchAll(db, sql: "SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'attachment_use'")
        }
        await history.close()
        let file = folder.file("history.sqlite")
        var bytes = try Data(contentsOf: file)
        for page in pages { bytes.replaceSubrange((page - 1) * 4096..<page * 4096, with: noise(4096, seed: 3)) }
        try bytes.write(to: file)
        let kinds = try await history.check().problems.map(\.kind)
        #expect(kinds.contains("integrity") && !kinds.contains("attachmentUnused"))
    }

    #if os(Linux)
        @Test(
            "In an unlistable folder, a save in a new history waits until the history's folder is durable",
            .needs(.strace), .enabled(if: geteuid() == 0, "needs root"))
        func unlistedParent() async throws {
            let folder = try TemporaryFolder()
            let history = folder.file("shut/history")
            try FileManager.default.createDirectory(at: history, withIntermediateDirectories: true)
            let shut = history.deletingLastPathComponent().path
            for path in [history.path, shut] { #expect(chown(path, 65_534, 65_534) == 0) }
            #expect(chmod(shut, 0o300) == 0)
            func save(_ name: String, injecting: [String]) async throws -> Int {
                let tracer =
                    ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
                    + [try #require(strace), "-f", "-qq", "-o", "\(shut)/\(name)", "-e", "trace=syncfs"] + injecting
                let worker = try Worker(["append", "history:\(history.path)", "a", "w", "3", "0", "50"], under: tracer)
                return await worker.finish().count { $0.hasPrefix("saved ") }
            }
            #expect(try await save("failing", injecting: ["-e", "inject=syncfs:error=EIO"]) == 0)
            try FileManager.default.removeItem(at: history)
            try FileManager.default.createDirectory(at: history, withIntermediateDirectories: true)
            #expect(chown(history.path, 65_534, 65_534) == 0)
            #expect(try await save("trace", injecting: []) == 3)
            let trace = try String(contentsOf: folder.file("shut/trace"), encoding: .utf8)
            #expect(trace.contains("syncfs("))
        }
    #endif
}
