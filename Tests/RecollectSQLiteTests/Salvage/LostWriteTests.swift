import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Pages with intact older versions, as after writes that a disk acknowledged and lost.
@Suite("Repairs after lost writes", .needs(.time)) struct LostWriteTests {
    private let folder: TemporaryFolder
    private let other = Scope(userId: "bob", sessionId: "other", agentId: "a")
    private let last = Scope(userId: "ann", sessionId: "last", agentId: "a")

    init() throws {
        folder = try TemporaryFolder()
    }

    private func long(_ range: Range<Int>, _ prefix: String) -> [ConversationMessage] {
        messages(range, prefix: prefix).map {
            ConversationMessage(
                id: $0.id, role: $0.role, text: $0.id + String(repeating: " pad", count: 30), timestamp: $0.timestamp)
        }
    }

    private var pages: [[UInt8]] {
        get throws {
            let bytes = try [UInt8](Data(contentsOf: folder.file("history.sqlite")))
            return stride(from: 0, to: bytes.count, by: 4096).map { Array(bytes[$0..<$0 + 4096]) }
        }
    }

    /// Opens copies of the history, each with an older version of one leaf page. Returns the number of copies.
    private func forEachOldLeaf(
        of old: [[UInt8]], kind: UInt8 = 0x0D, _ body: (Int, SQLiteHistoryStore) async throws -> Void
    ) async throws -> Int {
        let new = try pages
        let leaves = old.indices.filter {
            $0 < new.count && old[$0] != new[$0] && old[$0][0] == kind && new[$0][0] == kind
        }
        for leaf in leaves {
            let historyFolder = folder.file("old \(leaf)")
            try FileManager.default.createDirectory(at: historyFolder, withIntermediateDirectories: true)
            var bytes = new
            bytes[leaf] = old[leaf]
            try Data(bytes.joined()).write(to: historyFolder.appendingPathComponent("history.sqlite"))
            let store = SQLiteHistoryStore(
                directory: historyFolder, configuration: HistoryConfiguration(indexesInBackground: false))
            try await body(leaf, store)
            await store.close()
        }
        return leaves.count
    }

    @Test("A repair preserves every message with an intact row and reports the missing ones")
    func lostRows() async throws {
        var store = folder.history()
        try await store.append(long(0..<40, "m"), to: scope)
        try await store.append(long(0..<20, "o"), to: other)
        await store.close()
        let old = try pages
        store = folder.history()
        try await store.append(long(40..<60, "m"), to: scope)
        try await store.append(long(0..<30, "l"), to: last)
        await store.close()
        let all = try await read(folder.history())
        let count = try await forEachOldLeaf(of: old) { leaf, store in
            try await store.repair()
            let saved = try await read(store)
            #expect(saved.isSubset(of: all), "leaf \(leaf)")
            let losses = try await store.losses()
            #expect(saved == all || !losses.isEmpty, "leaf \(leaf): \(all.count - saved.count) messages are gone")
            // A leaf page has at most 30 messages.
            #expect(all.count - saved.count <= 30, "leaf \(leaf)")
        }
        #expect(count >= 3)
    }

    @Test("An older page of an index or of the attachment table removes no bytes of attachments in use")
    func lostUses() async throws {
        func message(_ number: Int) -> ConversationMessage {
            let picture = Attachment(mediaType: "image/png", content: .inline(Data("picture \(number)".utf8)))
            return ConversationMessage(id: "p\(number)", role: .user, parts: [.text("see"), .attachment(picture)])
        }
        let pictures = (0..<9).map(message)
        var store = folder.history()
        try await store.append(Array(pictures.prefix(5)), to: scope)
        try await store.append(Array(pictures.prefix(2)), to: other)
        await store.close()
        let old = try pages
        store = folder.history()
        try await store.append(Array(pictures.suffix(4)), to: scope)
        await store.close()
        func expectAll(in store: SQLiteHistoryStore, _ leaf: Int) async throws {
            for number in 0..<9 {
                let bytes = Data("picture \(number)".utf8)
                let saved = try? await store.attachment(sha256: Attachment.sha256(of: bytes), userId: "ann")
                #expect(saved == bytes, "leaf \(leaf), picture \(number)")
            }
        }
        let count = try await forEachOldLeaf(of: old, kind: 0x0A) { leaf, store in
            // Saving known messages again saves their pictures again, without new uses.
            try await store.append(pictures, to: scope)
            try await store.deleteSession(other.session)
            #expect(try await store.erasesAll())
            try await expectAll(in: store, leaf)
            try await store.repair()
            try await expectAll(in: store, leaf)
            #expect(try await store.check().problems.filter { $0.kind != "messagesLost" }.isEmpty, "leaf \(leaf)")
        }
        #expect(count >= 3)
    }

    private func read(_ store: SQLiteHistoryStore) async throws -> Set<String> {
        var found: Set<String> = []
        for scope in [scope, other, last] {
            let messages = try await store.window(of: scope, maxMessages: nil)
            found.formUnion(messages.map { "\(scope.sessionId) \($0.id)" })
        }
        return found
    }

    /// The time at which a history with an older page is repaired.
    enum Repair: CaseIterable {
        case never, before, after
    }

    @Test(
        "Deleted messages and tags on an older page reach no other session, with or without a repair",
        arguments: Repair.allCases,
        [UInt8(0x0D), 0x0A])
    func deletedRows(repair: Repair, kind: UInt8) async throws {
        var store = folder.history()
        try await store.append(long(0..<20, "m"), to: scope)
        try await store.append(long(0..<30, "secret"), to: last)
        try await store.update(last.session, with: SessionDetails(addedTags: ["secret"]))
        await store.close()
        let old = try pages
        store = folder.history()
        try await store.deleteSession(last.session)
        #expect(try await store.erasesAll())
        await store.close()
        let count = try await forEachOldLeaf(of: old, kind: kind) { leaf, store in
            if repair == .before { try await store.repair() }
            let mine = Scope(userId: "bob", sessionId: "mine", agentId: "a")
            try await store.append(long(0..<2, "n"), to: mine)
            if repair == .after { try await store.repair() }
            #expect(try await store.window(of: mine, maxMessages: nil).map(\.id) == ["n0", "n1"], "leaf \(leaf)")
            let page = try await store.messages(of: mine.session, agentId: nil, page: PageRequest(limit: 99))
            #expect(page.elements.map(\.message.id) == ["n0", "n1"], "leaf \(leaf)")
            #expect(try await store.session(mine.session)?.tags == [], "leaf \(leaf)")
            #expect(try await store.session(mine.session)?.messageCount == 2, "leaf \(leaf)")
        }
        #expect(count >= 2)
    }

    @Test("Deleting a session leaves no message behind if an index has an older page", arguments: [false, true])
    func deletionBesideOldIndex(isRepaired: Bool) async throws {
        var store = folder.history()
        try await store.append(long(0..<20, "m"), to: scope)
        await store.close()
        let old = try pages
        store = folder.history()
        try await store.append(long(0..<30, "secret"), to: last)
        await store.close()
        let count = try await forEachOldLeaf(of: old, kind: 0x0A) { leaf, store in
            // An older index of sessions may not contain the session.
            guard try await store.session(last.session) != nil else { return }
            try await store.deleteSession(last.session)
            #expect(try await store.erasesAll())
            if isRepaired { try await store.repair() }
            let left = try await store.read { db in
                try db.integer("SELECT count(*) FROM message WHERE message_id LIKE 'secret%'")
            }
            #expect(left == 0, "leaf \(leaf)")
            #expect(try await store.window(of: scope, maxMessages: nil).count == 20, "leaf \(leaf)")
        }
        #expect(count >= 3)
    }
}
