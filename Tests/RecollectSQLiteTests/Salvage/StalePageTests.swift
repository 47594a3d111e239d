import Foundation
import GRDB
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Damaged pages of the log for which older versions stand in.
@Suite("Older versions of pages in a salvage") struct StalePageTests {
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

    /// Makes a history whose database has 120 messages, and whose log has saves, deletions, and an edit. Returns its copy, as a
    /// killed process leaves it.
    private func makeHistory() async throws -> URL {
        var history = folder.history()
        try await history.append(long(0..<120), to: scope)
        await history.close()
        history = folder.history()
        for number in 120..<132 { try await history.append(long(number..<number + 1), to: scope) }
        for id in ["m5", "m6", "m7", "m50", "m51", "m90", "m125"] {
            // The deletion alone: erasing would empty the log.
            let count = try await history.write { try MessageDeletion.delete([id], in: scope.conversation, $0) }
            #expect(count == 1)
        }
        #expect(try await history.edit([edited], in: scope.conversation) == 1)
        for number in 132..<141 { try await history.append(long(number..<number + 1), to: scope) }
        let copy = folder.file("killed")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        for name in ["history.sqlite", "history.sqlite-wal"] {
            try FileManager.default.copyItem(at: folder.file(name), to: copy.appendingPathComponent(name))
        }
        await history.close()
        return copy
    }

    /// The frames of a log before its last commit, and whether each is the last of its page.
    private func frames(_ log: [UInt8]) -> [(index: Int, isLast: Bool)] {
        let starts = Array(stride(from: 32, to: log.count, by: Self.frame))
        let commits = starts.indices.filter { log.bigEndian32(starts[$0] + 4) > 0 }
        guard commits.count > 1 else { return [] }
        var last: [UInt32: Int] = [:]
        for index in starts.indices { last[log.bigEndian32(starts[index])] = index }
        return (0...commits[commits.count - 2]).map { ($0, last[log.bigEndian32(starts[$0])] == $0) }
    }

    @Test(
        "one damaged frame of the log brings no deleted message back and undoes no edit, or the loss is told",
        arguments: [("page", [24 + 2000]), ("salt", [9]), ("page number", [3]), ("salt and page number", [3, 9])])
    func damagedFrame(part: String, offsets: [Int]) async throws {
        let killed = try await makeHistory()
        let log = try [UInt8](Data(contentsOf: killed.appendingPathComponent("history.sqlite-wal")))
        let saved = long(0..<140).filter { !deleted.contains($0.id) }
        let frames = frames(log)
        // Frames that a later one replaces can do no harm, so a few of them are enough.
        let chosen = frames.filter { $0.isLast || $0.index.isMultiple(of: 31) }
        #expect(chosen.filter(\.isLast).count > 10)
        var untold = 0
        for (index, isLast) in chosen {
            let place = folder.file("damaged")
            try FileManager.default.copyItem(at: killed, to: place)
            var bytes = log
            for offset in offsets { bytes[32 + index * Self.frame + offset] ^= 0x10 }
            try Data(bytes).write(to: place.appendingPathComponent("history.sqlite-wal"))
            let history = SQLiteHistoryStore(
                directory: place, configuration: HistoryConfiguration(indexesInBackground: false))
            let kept = try await history.messages(of: scope.conversation, agentId: nil, page: PageRequest(limit: 1000))
                .elements.map(\.message)
            let isTold = try await history.losses().contains { $0.lostMessages != 0 }
            let comment: Comment = "\(part) of frame \(index), the last of its page: \(isLast)"
            let expected = saved.map { $0.id == edited.id ? edited : $0 }
            #expect(isTold || kept.prefix(expected.count) == expected[...], comment)
            #expect(!kept.contains { deleted.contains($0.id) }, comment)
            #expect(Set(expected.map(\.id)).isSubset(of: kept.map(\.id)) || isTold, comment)
            if !isTold { untold += 1 }
            await history.close()
            try FileManager.default.removeItem(at: place)
        }
        switch part {
        // Damage to what is derived costs nothing.
        case "page": #expect(untold > 0 && untold < chosen.count)
        // The page of the frame is not known, so it may be any.
        case "salt and page number": #expect(untold == 0)
        default: #expect(untold == chosen.count)
        }
    }
}
