import Foundation
import GRDB
import RecollectFileSystem
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// The content recovered from damaged databases.
@Suite("Salvage", .needs(.time)) struct SalvageTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A history with the given bytes as its database and its log.
    private func history(_ bytes: Data, in name: String, log: Data? = nil) throws -> SQLiteHistoryStore {
        let historyFolder = folder.file(name)
        try FileManager.default.createDirectory(at: historyFolder, withIntermediateDirectories: true)
        try bytes.write(to: historyFolder.appendingPathComponent("history.sqlite"))
        try log?.write(to: historyFolder.appendingPathComponent("history.sqlite-wal"))
        return SQLiteHistoryStore(
            directory: historyFolder,
            configuration: HistoryConfiguration(durability: .relaxed, indexesInBackground: false))
    }

    @Test("Each damaged page costs at most its messages", .needs(.time), arguments: [true, false])
    func everyPage(isNoise: Bool) async throws {
        let store = try await SalvageStore(in: folder)
        let whole = try Data(contentsOf: store.database)
        for page in try store.pages() {
            let comment: Comment = "page \(page.number), \(page.kind) of \(page.table)"
            var bytes = whole
            let garbage = isNoise ? noise(4096, seed: UInt64(page.number)) : Data(count: 4096)
            bytes.replaceSubrange((page.number - 1) * 4096..<page.number * 4096, with: garbage)
            let history = try history(bytes, in: "\(page.number)")
            try await history.repair()
            let (missing, changed) = try await store.missing(in: history, comment)
            #expect(missing + changed <= page.messages, comment)
            for user in SalvageStore.users {
                let sessions = try await history.sessions(of: user, page: PageRequest(limit: 10)).elements
                #expect(sessions.count == (user == "ann" ? 2 : 1), comment)
            }
            let losses = try await history.losses()
            #expect(losses.reduce(0) { $0 + ($1.lostMessages ?? 0) } == missing, comment)
            let problems = try await history.check().problems.map(\.kind)
            #expect(problems.allSatisfy { $0 == (changed > 0 ? "contentDamaged" : "messagesLost") }, comment)
            #expect(problems.isEmpty == (missing + changed == 0), comment)
            await history.close()
            try FileManager.default.removeItem(at: folder.file("\(page.number)"))
        }
    }

    @Test(
        "Damage at the start of the file, up to all of page 1, costs no message",
        arguments: [1, 16, 100, 4096])
    func start(length: Int) async throws {
        let store = try await SalvageStore(in: folder, rounds: 5)
        var bytes = try Data(contentsOf: store.database)
        bytes.replaceSubrange(0..<length, with: noise(length, seed: 7))
        let history = try history(bytes, in: "damaged")
        #expect(try await store.missing(in: history, "\(length)") == (0, 0))
        #expect(history.events.takeUndelivered().map(\.kind) == [.salvaged])
        #expect(try await history.filesSetAside().contains { $0.hasPrefix("history.damaged-") })
        for scope in SalvageStore.scopes {
            let tags = try await history.session(scope.session)?.tags
            #expect(tags == ["tag \(scope.sessionId)"])
        }
    }

    @Test("Messages of unknown sessions and agents are saved under placeholder IDs")
    func unknownOwners() async throws {
        let store = try await SalvageStore(in: folder, rounds: 5)
        var bytes = try Data(contentsOf: store.database)
        let known = ["session", "scope", "change", "sqlite_autoindex_session_1", "sqlite_autoindex_scope_1"]
        for page in try store.pages() where known.contains(page.table) || page.table.hasPrefix("session_") {
            bytes.replaceSubrange((page.number - 1) * 4096..<page.number * 4096, with: noise(4096, seed: 3))
        }
        let history = try history(bytes, in: "damaged")
        let sessions = try await history.sessions(of: "recovered", page: PageRequest(limit: 10)).elements
        #expect(Set(sessions.map(\.id.sessionId)) == ["recovered-1", "recovered-2", "recovered-3"])
        #expect(sessions.reduce(0) { $0 + $1.messageCount } == 40)
        #expect(sessions.flatMap(\.agentIds).allSatisfy { $0.hasPrefix("recovered-") })
    }

    @Test(
        "Messages that exist only in the log are recovered if the database is empty, missing or noise",
        arguments: ["empty", "gone", "noise"])
    func logAlone(kind: String) async throws {
        let store = folder.history()
        try await store.append(messages(0..<600), to: scope)
        let log = try Data(contentsOf: folder.file("history.sqlite-wal"))
        let size = try Data(contentsOf: folder.file("history.sqlite")).count
        let bytes = kind == "noise" ? noise(size, seed: 5) : Data()
        let history = try history(bytes, in: "damaged", log: log)
        if kind == "gone" { try FileManager.default.removeItem(at: folder.file("damaged/history.sqlite")) }
        let stored = try await history.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 1000))
        #expect(stored.elements.map(\.message) == messages(0..<600))
        #expect(history.events.takeUndelivered().map(\.kind) == [.salvaged])
    }

    @Test("A damaged page of the log hides no later commit", arguments: [0.2, 0.5, 0.8], [true, false])
    func damagedLog(historyFolder: Double, isWholeFrame: Bool) async throws {
        let store = folder.history()
        for start in stride(from: 0, to: 60, by: 2) {
            try await store.append(messages(start..<start + 2), to: scope)
        }
        var log = try Data(contentsOf: folder.file("history.sqlite-wal"))
        let frame = 4096 + 24
        let start = 32 + Int(Double(log.count / frame) * historyFolder) * frame + (isWholeFrame ? 0 : 24)
        log.replaceSubrange(start..<start + 4096, with: noise(4096, seed: 5))
        let bytes = try Data(contentsOf: folder.file("history.sqlite"))
        _ = try history(bytes, in: "damaged", log: log)
        let history = SQLiteHistoryStore(directory: folder.file("damaged"))
        let stored = try await history.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 1000))
        #expect(stored.elements.map(\.message) == messages(0..<60))
        #expect(history.events.takeUndelivered().map(\.kind) == [.salvaged])
    }

    @Test(
        "A damaged database or log behind a symbolic link is salvaged beside the link's target",
        arguments: ["history.sqlite", "big.sqlite"],
        [0, 4096 * 4 + 100, -1])
    func symbolicLink(name: String, damage: Int) async throws {
        let store = folder.history()
        try await store.append(messages(0..<40), to: scope)
        await store.close()
        let elsewhere = try TemporaryFolder()
        let link = folder.file("history.sqlite")
        try FileManager.default.moveItem(at: link, to: elsewhere.file(name))
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: elsewhere.file(name))
        let linked = folder.history()
        for number in 40..<60 { try await linked.append(messages(number..<number + 1), to: scope) }
        // The files left by a killed process.
        let copy = try TemporaryFolder()
        for file in [name, name + "-wal"] {
            try FileManager.default.copyItem(at: elsewhere.file(file), to: copy.file(file))
        }
        let links = try TemporaryFolder()
        try FileManager.default.copyItem(at: folder.file("history.lock"), to: links.file("history.lock"))
        try FileManager.default.createSymbolicLink(
            at: links.file("history.sqlite"), withDestinationURL: copy.file(name))
        let damaged = copy.file(damage < 0 ? name + "-wal" : name)
        var bytes = try Data(contentsOf: damaged)
        let start = damage < 0 ? bytes.count / 2 : damage
        for index in start..<start + 16 { bytes[index] ^= 0x5A }
        try bytes.write(to: damaged)
        let history = links.history()
        let page = try await history.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 100))
        #expect(page.elements.map(\.message) == messages(0..<60))
        #expect(try links.names.contains("history.sqlite") && !links.names.contains { $0.contains("damaged") })
        for event in history.events.takeUndelivered() {
            let aside = try #require(event.setAsideURL)
            #expect(FileManager.default.fileExists(atPath: aside.path))
        }
        #expect(try FileID(at: links.file("history.sqlite").path) == FileID(at: copy.file(name).path))
    }

    @Test("A link to another history's database can be read but not written")
    func linkedHistory() async throws {
        let store = folder.history()
        try await store.append(messages(0..<2), to: scope)
        let links = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            at: links.file("history.sqlite"), withDestinationURL: folder.file("history.sqlite"))
        let linked = links.history()
        #expect(try await linked.window(of: scope, maxMessages: nil) == messages(0..<2))
        await expectError(.readOnly) { try await linked.append(messages(2..<4), to: scope) }
        try await store.append(messages(2..<4), to: scope)
        #expect(try await linked.window(of: scope, maxMessages: nil) == messages(0..<4))
    }

    @Test("An empty database file beside the history's lock is damage")
    func emptyBesideLock() async throws {
        let store = folder.history()
        try await store.append(messages(0..<2), to: scope)
        await store.close()
        try Data().write(to: folder.file("history.sqlite"))
        let history = folder.history()
        #expect(try await history.open().events.takeUndelivered().map(\.kind) == [.salvaged])
        #expect(try await history.losses().count == 1)
    }

    @Test("An empty database file beside attachments is damage, reported until the file set aside is removed")
    func emptyBesideAttachments() async throws {
        let store = folder.history()
        let picture = Attachment(mediaType: "a/b", content: .inline(Data([1])))
        try await store.append([ConversationMessage(role: .user, parts: [.attachment(picture)])], to: scope)
        await store.close()
        try Data().write(to: folder.file("history.sqlite"))
        let history = folder.history()
        let events = try await history.open().events.takeUndelivered()
        #expect(events.map(\.kind) == [.salvaged])
        #expect(events.first?.lostMessages == nil)
        #expect(try await history.check().problems.map(\.kind).contains("messagesLost"))
        let later = folder.history()
        let losses = try await later.losses()
        #expect(losses.count == 1)
        try await later.repair()
        #expect(try AttachmentFiles(directory: folder.file("attachments")).all().count == 1)
        try FileManager.default.removeItem(at: folder.file(try #require(losses.first?.setAside)))
        #expect(try await later.losses().isEmpty)
        try await later.repair()
        #expect(try await later.check().problems.isEmpty)
        await later.close()
        await history.close()
        #expect(try folder.names.allSatisfy { !$0.hasPrefix("history.loss") } == false)
        try await folder.history().open()
        #expect(try folder.names.allSatisfy { !$0.hasPrefix("history.loss") })
    }

    @Test("After a salvage, no number of the change feed is reused")
    func feedNumbers() async throws {
        let store = try await SalvageStore(in: folder, rounds: 5)
        // A released history closes at an unknown time and locks the database then, so it is closed here.
        let earlier = folder.history()
        let before = try await earlier.latestChangeCursor()
        await earlier.close()
        var bytes = try Data(contentsOf: store.database)
        for page in try store.pages() where page.table == "change" || page.messages > 0 {
            bytes.replaceSubrange((page.number - 1) * 4096..<page.number * 4096, with: noise(4096, seed: 3))
        }
        let history = try history(bytes, in: "damaged")
        #expect(try await history.latestChangeCursor().sequence > before.sequence)
        try await history.append(messages(0..<2), to: scope)
        let changes = try await history.changes(after: before, limit: 10)
        #expect(changes.count == 2)
    }

    @Test("Losses are reported by session: in the event, in a check's report, and by a later process")
    func reported() async throws {
        let store = try await SalvageStore(in: folder)
        var bytes = try Data(contentsOf: store.database)
        let leaf = try #require(
            try store.pages().filter { $0.table == "message" && $0.kind == "leaf" }.dropFirst(3).first)
        bytes.replaceSubrange((leaf.number - 1) * 4096..<leaf.number * 4096, with: noise(4096, seed: 3))
        let damaged = try history(bytes, in: "damaged")
        try await damaged.repair()
        let event = try #require(damaged.events.takeUndelivered().first { $0.kind == .salvaged })
        #expect(event.lostMessages == leaf.messages)
        #expect(event.lostSessions.reduce(0) { $0 + $1.lostMessages } == leaf.messages)
        for loss in event.lostSessions {
            let session = SessionKey(userId: loss.userId, sessionId: loss.sessionId)
            let saved = store.saved.filter { $0.key.session == session }.reduce(0) { $0 + $1.value.count }
            let stored = try await damaged.session(session)?.messageCount ?? 0
            #expect(loss.lostMessages == saved - stored)
        }
        await damaged.close()
        let later = SQLiteHistoryStore(directory: folder.file("damaged"))
        #expect(try await later.losses().map(\.sessions) == [event.lostSessions])
        let problems = try await later.check().problems
        #expect(problems.contains { $0.kind == "messagesLost" && $0.message.contains("history.damaged-") })
        try await later.deleteUser("ann")
        #expect(try await later.erasesAll())
        #expect(try await later.losses().isEmpty)
    }
}
