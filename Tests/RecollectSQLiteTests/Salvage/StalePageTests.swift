import Foundation
import GRDB
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Damaged pages in the log, with older versions in the log or in the database.
@Suite("Older versions of pages in a salvage", .needs(.time)) struct StalePageTests {
    private let folder: TemporaryFolder
    private let deleted: Set<String> = ["m5", "m6", "m7", "m50", "m51", "m90", "m125"]
    private let edited: ConversationMessage

    private static let frame = 24 + 4096

    init() async throws {
        folder = try TemporaryFolder()
        edited = ConversationMessage(
            id: "m60", role: .user, text: "edited", timestamp: Date(timeIntervalSince1970: 1_700_000_060))
    }

    private func long(_ range: Range<Int>) -> [ConversationMessage] {
        messages(range).map {
            ConversationMessage(
                id: $0.id, role: $0.role, text: $0.id + String(repeating: " pad", count: 40), timestamp: $0.timestamp)
        }
    }

    /// Creates a history with 120 messages in the database, and with saves, deletions and an edit in the log. Returns a
    /// copy, as left by a killed process.
    private func makeHistory() async throws -> URL {
        var history = folder.history()
        try await history.append(long(0..<120), to: scope)
        await history.close()
        history = folder.history()
        for number in 120..<132 { try await history.append(long(number..<number + 1), to: scope) }
        for id in ["m5", "m6", "m7", "m50", "m51", "m90", "m125"] {
            // Only the deletion, because erasing would empty the log.
            let count = try await history.write { try MessageDeletion.delete([id], in: scope.session, $0) }
            #expect(count == 1)
        }
        // Another message of an ID is deleted while the first one is in a branch.
        let branch = try await history.branch(scope.session, from: "m118")
        try await history.append(long(118..<119), to: scope)
        #expect(try await history.write { try MessageDeletion.delete(["m118"], in: scope.session, $0) } == 1)
        try await history.restoreBranch(branch, in: scope.session)
        #expect(try await history.edit([edited], in: scope.session) == 1)
        for number in 132..<141 { try await history.append(long(number..<number + 1), to: scope) }
        let copy = try copy()
        await history.close()
        return copy
    }

    /// Copies an open history, as after a kill.
    private func copy() throws -> URL {
        let copy = folder.file("killed")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        for name in ["history.sqlite", "history.sqlite-wal"] {
            try FileManager.default.copyItem(at: folder.file(name), to: copy.appendingPathComponent(name))
        }
        return copy
    }

    /// Opens a copy of a history with a changed log.
    private func open(_ killed: URL, log: [UInt8]) throws -> SQLiteHistoryStore {
        let historyFolder = folder.file("damaged")
        if FileManager.default.fileExists(atPath: historyFolder.path) {
            try FileManager.default.removeItem(at: historyFolder)
        }
        try FileManager.default.copyItem(at: killed, to: historyFolder)
        try Data(log).write(to: historyFolder.appendingPathComponent("history.sqlite-wal"))
        return SQLiteHistoryStore(
            directory: historyFolder, configuration: HistoryConfiguration(indexesInBackground: false))
    }

    /// The frames of a log before its last commit, and whether each is the last frame of its page.
    private func frames(_ log: [UInt8]) -> [(index: Int, isLast: Bool)] {
        let starts = Array(stride(from: 32, to: log.count, by: Self.frame))
        let commits = starts.indices.filter { log.bigEndian32(starts[$0] + 4) > 0 }
        guard commits.count > 1 else { return [] }
        var last: [UInt32: Int] = [:]
        for index in starts.indices { last[log.bigEndian32(starts[index])] = index }
        return (0...commits[commits.count - 2]).map { ($0, last[log.bigEndian32(starts[$0])] == $0) }
    }

    @Test(
        "A damaged log frame restores no deleted message and undoes no edit, or the loss is reported",
        arguments: [("page", [24 + 2000]), ("salt", [9]), ("page number", [3]), ("salt and page number", [3, 9])])
    func damagedFrame(part: String, offsets: [Int]) async throws {
        let killed = try await makeHistory()
        let log = try [UInt8](Data(contentsOf: killed.appendingPathComponent("history.sqlite-wal")))
        let saved = long(0..<140).filter { !deleted.contains($0.id) }
        let frames = frames(log)
        // Frames replaced by later ones are harmless, so a few of them are enough.
        let chosen = frames.filter { $0.isLast || $0.index.isMultiple(of: 61) }
        #expect(chosen.filter(\.isLast).count > 10)
        var unreported = 0
        for (index, isLast) in chosen {
            var bytes = log
            for offset in offsets { bytes[32 + index * Self.frame + offset] ^= 0x10 }
            let history = try open(killed, log: bytes)
            let stored = try await history.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 1000))
                .elements.map(\.message)
            let isReported = try await history.losses().contains { $0.lostMessages != 0 }
            let comment: Comment = "\(part) of frame \(index), the last of its page: \(isLast)"
            let expected = saved.map { $0.id == edited.id ? edited : $0 }
            #expect(isReported || stored.prefix(expected.count) == expected[...], comment)
            #expect(!stored.contains { deleted.contains($0.id) }, comment)
            let found = Set(stored.map(\.id)).intersection(["m117", "m118", "m119"])
            #expect(found.contains("m118") || found.count < 2, comment)
            #expect(Set(expected.map(\.id)).isSubset(of: stored.map(\.id)) || isReported, comment)
            if !isReported { unreported += 1 }
            await history.close()
        }
        switch part {
        // Damage to derived data costs nothing.
        case "page": #expect(unreported > 0 && unreported < chosen.count)
        // The page of the frame is unknown, so it may be any page.
        case "salt and page number": #expect(unreported == 0)
        default: #expect(unreported == chosen.count)
        }
    }

    @Test("A damaged log frame restores no deleted session and loses no newer one, or the loss is reported")
    func afterDeletion() async throws {
        var history = folder.history()
        let old = Scope(userId: "ann", sessionId: "old", agentId: "a")
        let new = Scope(userId: "ann", sessionId: "new", agentId: "a")
        try await history.append(long(0..<20), to: scope)
        try await history.append(long(20..<60), to: old)
        await history.close()
        history = folder.history()
        let attachments = history.attachments
        #expect(try await history.write { try MessageDeletion.delete(old.session, $0) })
        // All erasing except that of the log, in one commit. The earlier version of the page still lists the session.
        try await history.write { db in
            let step = ErasureStep(attachments: attachments, files: nil, mergedPages: 100, length: .seconds(10))
            while try step.run(db) == .worked {}
        }
        try await history.append(long(60..<90), to: new)
        #expect(try await history.read { try MessageQueries.number(of: new.session, $0)?.rawValue } == 3)
        for number in 90..<93 { try await history.append(long(number..<number + 1), to: new) }
        let killed = try copy()
        await history.close()
        let log = try [UInt8](Data(contentsOf: killed.appendingPathComponent("history.sqlite-wal")))
        var unreported = 0
        let chosen = frames(log).filter(\.isLast)
        for (index, _) in chosen {
            var bytes = log
            bytes[32 + index * Self.frame + 2000] ^= 0x10
            let history = try open(killed, log: bytes)
            #expect(try await history.erasesAll())
            let isReported = try await history.losses().contains { $0.lostMessages != 0 }
            let sessions = try await history.sessions(of: "ann", page: PageRequest(limit: 10)).elements
            let comment: Comment = "frame \(index)"
            #expect(isReported || Set(sessions.map(\.id.sessionId)) == ["s", "new"], comment)
            let stored = try await history.window(of: new, maxMessages: nil)
            #expect(isReported || stored.prefix(32) == long(60..<92)[...], comment)
            #expect(try await history.window(of: scope, maxMessages: nil) == long(0..<20), comment)
            if !isReported { unreported += 1 }
            await history.close()
        }
        #expect(unreported > 0 && unreported < chosen.count)
    }
}
