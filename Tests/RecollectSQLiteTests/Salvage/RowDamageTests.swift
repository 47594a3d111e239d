import Foundation
import GRDB
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Rows and index entries that contradict each other after a bit flip. The owner of each message remains known.
@Suite("Damaged rows and index entries") struct RowDamageTests {
    private let folder: TemporaryFolder
    /// The tests use sessions and scopes 2, 3 and 4, because SQLite stores the number 1 without a byte.
    private let all = [("a", "s9"), ("v", "s2"), ("u", "s4"), ("w", "s5")].map { user, session in
        Scope(userId: user, sessionId: session, agentId: "agent")
    }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func said(_ scope: Scope) -> [ConversationMessage] { messages(0..<6, prefix: "\(scope.userId)m") }

    /// Fills and closes a history with six messages in each scope. With `sameIds`, all scopes have the same IDs.
    private func fill(sameIds: Bool = false) async throws -> [Scope: [ConversationMessage]] {
        let store = folder.history()
        var expected: [Scope: [ConversationMessage]] = [:]
        for scope in all {
            let own = said(scope)
            expected[scope] = sameIds ? zip(own, 0...).map { $0.with(id: "id\($1)") } : own
            try await store.append(expected[scope] ?? [], to: scope)
            _ = try await store.sessions(of: scope.userId, page: PageRequest(limit: 1))
        }
        await store.close()
        return expected
    }

    private enum Page: UInt8 {
        case index = 0x0A
        case table = 0x0D
    }

    /// Replaces the only occurrence of some bytes in the pages of one kind.
    private func replace(_ old: [UInt8], by new: [UInt8], in kind: Page) throws {
        var bytes = try Data(contentsOf: folder.file("history.sqlite"))
        var found: [Int] = []
        for start in stride(from: 0, to: bytes.count, by: 4096) where bytes[start] == kind.rawValue {
            var rest = start..<start + 4096
            while let match = bytes.range(of: Data(old), in: rest) {
                found.append(match.lowerBound)
                rest = match.upperBound..<rest.upperBound
            }
        }
        try #require(found.count == 1, "\(found.count) occurrences")
        bytes.replaceSubrange(found[0]..<found[0] + old.count, with: new)
        try bytes.write(to: folder.file("history.sqlite"))
    }

    /// The number and the position of a message, as SQLite stores them.
    private func location(of id: String, in scope: Scope) async throws -> (sequence: UInt8, position: [UInt8]) {
        let store = folder.history()
        let sequence = try await store.read { db in
            try db.integer("SELECT sequence FROM message WHERE message_id = ?", id) ?? 0
        }
        let position = try await store.read { db in
            try db.integer("SELECT position FROM message WHERE message_id = ?", id) ?? 0
        }
        await store.close()
        let size = try #require([1, 2, 3, 4, 6, 8].first { position >> ($0 * 8 - 1) == 0 })
        return (UInt8(sequence), withUnsafeBytes(of: position.bigEndian) { Array($0.suffix(size)) })
    }

    private func expect(
        _ expected: [Scope: [ConversationMessage]], in store: SQLiteHistoryStore, repairing: Bool = false
    ) async throws {
        if repairing {
            #expect(try await !store.check().problems.isEmpty)
            try await store.repair()
        }
        for (scope, messages) in expected {
            #expect(try await store.window(of: scope, maxMessages: nil) == messages, "\(scope)")
            let page = try await store.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 20))
            #expect(page.elements.map(\.message) == messages, "\(scope)")
        }
        #expect(try await store.check().problems.isEmpty)
    }

    // MARK: Index entries

    @Test(
        "An ID entry pointing to another user's message does not affect that message",
        arguments: ["read", "delete", "edit"])
    func misledID(operation: String) async throws {
        var expected = try await fill()
        let (v, u) = (all[1], all[2])
        let (own, other) = (try await location(of: "vm1", in: v), try await location(of: "um3", in: u))
        try replace(
            [2] + Array("vm1".utf8) + [own.sequence], by: [2] + Array("vm1".utf8) + [other.sequence], in: .index)
        let store = folder.history()
        switch operation {
        case "read":
            #expect(try await store.message("vm1", in: v.session, agentId: nil)?.message == expected[v]?[1])
        case "delete":
            #expect(try await store.deleteMessages(["vm1"], in: v.session) == 1)
            expected[v]?.remove(at: 1)
        default:
            let edited = ConversationMessage(id: "vm1", role: .user, text: "edited", timestamp: .distantPast)
            #expect(try await store.edit([edited], in: v.session) == 1)
            expected[v]?[1] = edited
        }
        try await expect(expected, in: store)
    }

    @Test(
        "A position entry pointing to another user's message does not affect that message",
        arguments: ["delete", "move", "fork"])
    func wrongPosition(operation: String) async throws {
        var expected = try await fill()
        let (v, u) = (all[1], all[2])
        let (own, other) = (try await location(of: "vm1", in: v), try await location(of: "um3", in: u))
        try replace([2] + own.position + [own.sequence], by: [2] + own.position + [other.sequence], in: .index)
        let store = folder.history()
        let target = Scope(userId: "v", sessionId: "other", agentId: "agent")
        switch operation {
        case "delete":
            try await store.deleteSession(v.session)
            #expect(try await store.erasesAll())
            expected[v] = []
        case "move":
            try await store.append(messages(8..<9), to: target)
            try await store.moveSession(v.session, to: "other")
            expected[target] = (expected[v] ?? []) + messages(8..<9)
            expected[v] = []
        default:
            try await store.fork(v.session, at: "vm5", agentId: nil, into: "other")
            expected[target] = expected[v]
        }
        try await expect(expected, in: store)
    }

    @Test("A repair succeeds with two rows for one session, inserted because of a damaged index")
    func twoRows() async throws {
        let expected = try await fill()
        try replace(Array("vs2".utf8) + [2], by: Array("vS2".utf8) + [2], in: .index)
        let store = folder.history()
        try await store.append(messages(10..<11), to: all[1])
        try await store.repair()
        #expect(try await store.check().problems.isEmpty)
        let sessions = try await store.sessions(of: "v", page: PageRequest(limit: 10)).elements
        var found: [String] = []
        for session in sessions {
            found += try await store.window(of: session.id.scope(agentId: "agent"), maxMessages: nil).map(\.id)
        }
        let ids = try #require(expected[all[1]]).map(\.id)
        #expect(Set(found) == Set(ids).union(["m10"]))
    }

    // MARK: Rows

    @Test("A repair restores a damaged scope row from its index", arguments: [false, true])
    func scopeRow(isAgent: Bool) async throws {
        let expected = try await fill()
        let agent = Array("agent".utf8)
        // In the row, the start of the window follows. It is 0 and has no byte. In the index entry, the row number
        // precedes it.
        let damaged: [UInt8] = isAgent ? [3] + Array("cgent".utf8) : [7] + agent
        try replace([3] + agent, by: damaged, in: .table)
        try await expect(expected, in: folder.history(), repairing: true)
    }

    @Test(
        "A repair restores a message's damaged scope, position or ID",
        arguments: ["scope", "far", "near", "id"])
    func messageRow(column: String) async throws {
        let expected = try await fill()
        let v = all[1]
        let own = try await location(of: "vm2", in: v)
        let neighbor = try await location(of: "vm4", in: v)
        let far = [own.position[0] ^ 0x40] + own.position.dropFirst()
        if column == "id" {
            try replace(Array("vm2".utf8), by: Array("vm:".utf8), in: .table)
            return try await expect(expected, in: folder.history(), repairing: true)
        }
        let damaged: [UInt8] =
            switch column {
            case "scope": [2, 6] + own.position
            case "far": [2, 2] + far
            default: [2, 2] + neighbor.position
            }
        try replace([2, 2] + own.position, by: damaged, in: .table)
        try await expect(expected, in: folder.history(), repairing: true)
    }

    @Test("A session with a damaged user ID or session ID still belongs to its user", arguments: ["us2", "vs4", "vs6"])
    func sessionRow(damaged: String) async throws {
        let expected = try await fill()
        try replace(Array("vs2".utf8), by: Array(damaged.utf8), in: .table)
        try await expect(expected, in: folder.history())
    }

    // MARK: Erasing

    @Test("A damaged erasure record erases no live session, and no other user gets the remaining messages")
    func erasure() async throws {
        var expected = try await fill()
        let store = folder.history()
        try await store.write { db in
            try db.run("DELETE FROM session WHERE id = 4")
            try db.run("INSERT INTO erasure (kind, number, name) VALUES ('session', 3, 'u')")
        }
        #expect(try await store.erasesAll())
        #expect(try await store.check().problems.map(\.kind) == ["owner"])
        let new = Scope(userId: "mallory", sessionId: "new", agentId: "agent")
        expected[new] = messages(20..<21)
        expected[all[3]] = []
        try await store.append(messages(20..<21), to: new)
        try await store.repair()
        #expect(
            try await store.read { try $0.integer("SELECT count(*) FROM message WHERE message_id LIKE 'wm%'") } == 0)
        try await expect(expected, in: store)
    }
}
