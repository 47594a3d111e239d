import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// A UI keeps the entries of its sessions in arrays, and saves each with one more entry after changes by others. The
/// rules are the same for transcripts kept in full and for all others.
@Suite("A chat UI with more sessions than transcripts kept in full") struct ManySessionsTests {
    private let history = memory()
    private let sessions: SQLiteSessionStorage
    static let counts = [1, KnownTranscripts.limit + 4]

    init() {
        sessions = SQLiteSessionStorage(history: history, userId: "u")
    }

    /// Saves sessions of four entries, optionally reads them, and returns the UI's arrays.
    private func shown(_ count: Int, reading: Bool = false) async throws -> [[ChatMessage]] {
        var shown: [[ChatMessage]] = []
        for number in 0..<count {
            let entries = (0..<4).map { ChatMessage(role: .user, content: "\(number) entry \($0)") }
            try await sessions.updateSessionMessages(id: "s\(number)", messages: entries)
            shown.append(reading ? try await sessions.getSession(id: "s\(number)")?.messages ?? [] : entries)
        }
        return shown
    }

    /// Saves all sessions with one more entry, and returns their entries.
    private func saved(_ shown: [[ChatMessage]]) async throws -> [[String]] {
        var saved: [[String]] = []
        for (number, entries) in shown.enumerated() {
            let new = ChatMessage(role: .user, content: "new")
            try await sessions.updateSessionMessages(id: "s\(number)", messages: entries + [new])
        }
        for number in shown.indices {
            let other = SQLiteSessionStorage(history: history, userId: "u")
            saved.append(try #require(try await other.getSession(id: "s\(number)")).messages.map(\.content))
        }
        return saved
    }

    private func delete(_ entry: ChatMessage, in id: String) async throws {
        #expect(try await history.deleteMessages([entry.id.uuidString], in: sessions.session(id)) == 1)
    }

    @Test("Messages deleted elsewhere stay deleted", arguments: counts, [false, true])
    func deletedMessages(count: Int, reading: Bool) async throws {
        let shown = try await shown(count, reading: reading)
        for (number, entries) in shown.enumerated() { try await delete(entries[1], in: "s\(number)") }
        let expected = (0..<count).map { ["\($0) entry 0", "\($0) entry 2", "\($0) entry 3", "new"] }
        #expect(try await saved(shown) == expected)
    }

    @Test("Messages of sessions deleted elsewhere stay deleted", arguments: counts)
    func deletedSessions(count: Int) async throws {
        let shown = try await shown(count)
        for number in 0..<count { try await history.deleteSession(sessions.session("s\(number)")) }
        #expect(try await saved(shown) == Array(repeating: ["new"], count: count))
    }

    @Test("Edits made elsewhere are preserved unless the UI edited the same entry", arguments: counts)
    func editsElsewhere(count: Int) async throws {
        var shown = try await shown(count)
        for (number, entries) in shown.enumerated() {
            let edited = entries[1...2].map {
                ConversationMessage(id: $0.id.uuidString, role: .user, text: "\(number) edited elsewhere")
            }
            #expect(try await history.edit(edited, in: sessions.session("s\(number)")) == 2)
            shown[number][2].content = "\(number) edited here"
        }
        let expected = (0..<count).map {
            ["\($0) entry 0", "\($0) edited elsewhere", "\($0) edited here", "\($0) entry 3", "new"]
        }
        #expect(try await saved(shown) == expected)
    }

    @Test("An entry deleted elsewhere is saved again if the UI edited it", arguments: counts)
    func editsOfDeleted(count: Int) async throws {
        var shown = try await shown(count)
        for (number, entries) in shown.enumerated() {
            for index in [1, 2] { try await delete(entries[index], in: "s\(number)") }
            shown[number][2].content = "\(number) edited here"
        }
        let expected = (0..<count).map { ["\($0) entry 0", "\($0) edited here", "\($0) entry 3", "new"] }
        #expect(try await saved(shown) == expected)
    }

    @Test("Entries removed by the UI are removed, and entries saved meanwhile stay", arguments: counts)
    func removed(count: Int) async throws {
        var shown = try await shown(count)
        for number in 0..<count {
            try await history.append(
                [ConversationMessage(role: .user, text: "meanwhile")],
                to: sessions.session("s\(number)").scope(agentId: ""))
            shown[number].swapAt(2, 3)
            shown[number].remove(at: 1)
        }
        let saved = try await saved(shown)
        for number in 0..<count {
            #expect(saved[number].filter { $0 != "meanwhile" } == shown[number].map(\.content) + ["new"])
            #expect(saved[number].contains("meanwhile"))
        }
    }

    @Test("After a change of the session ID, messages deleted elsewhere stay deleted", arguments: [false, true])
    func renamed(isTaken: Bool) async throws {
        let shown = try await shown(2)
        if isTaken {
            try await history.append(
                [ConversationMessage(role: .user, text: "of an agent")],
                to: sessions.session("s2").scope(agentId: "a"))
        }
        try await sessions.updateSessionId(oldId: "s0", newId: "s2")
        try await delete(shown[0][1], in: "s2")
        try await sessions.updateSessionMessages(
            id: "s2", messages: shown[0] + [ChatMessage(role: .user, content: "new")])
        let contents = try #require(try await sessions.getSession(id: "s2")).messages.map(\.content)
        #expect(
            contents.filter { $0 != "of an agent" } == ["0 entry 0", "0 entry 2", "0 entry 3", "new"])
        #expect(contents.contains("of an agent") == isTaken)
    }

    @Test("A duplicate ID in a transcript restores no deleted message", arguments: counts)
    func idsTwice(count: Int) async throws {
        var shown = try await shown(count)
        for (number, entries) in shown.enumerated() {
            try await delete(entries[1], in: "s\(number)")
            let new = ChatMessage(role: .user, content: "twice")
            shown[number] += [new, new]
        }
        let expected = (0..<count).map { ["\($0) entry 0", "\($0) entry 2", "\($0) entry 3", "twice", "new"] }
        #expect(try await saved(shown) == expected)
    }
}
