import Foundation
import GRDB
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectSQLite

@Suite("Leases of turns")
struct LeaseTests {
    private let folder: TemporaryFolder
    private let history: SQLiteHistoryStore
    private let other: SQLiteHistoryStore
    private let scope = Scope(userId: "ana", sessionId: "trip", agentId: "planner")

    init() throws {
        folder = try TemporaryFolder()
        history = SQLiteHistoryStore(directory: folder.url)
        other = SQLiteHistoryStore(directory: folder.url)
    }

    private func message(_ id: String, _ role: Role = .user) -> ConversationMessage {
        ConversationMessage(
            id: id, role: role, text: "text of \(id)", timestamp: Date(timeIntervalSince1970: 1_700_000_000))
    }

    private func lease(_ store: SQLiteHistoryStore, for duration: Duration = .seconds(3_600)) async throws -> TurnLease
    {
        try #require(try await store.lease(of: scope.session, for: duration))
    }

    /// Makes the leases look as if their processes had been stopped for longer than their durations.
    private func expireLeases() async throws {
        try await history.write { try $0.run("UPDATE turn_lease SET expires_at = 0") }
    }

    @Test("A turn away for longer than its lease saves nothing, and its reply is saved as interrupted by the next turn")
    func lostLease() async throws {
        let first = try await lease(history)
        let lost = try await #require(throws: RecollectError.self) {
            try await first.run {
                try await history.append([message("question")], to: scope)
                let reply = try await history.beginReply(
                    ConversationMessage(id: "reply", role: .assistant, text: "Once"), in: scope)
                try await expireLeases()
                // Another process, and so a task outside of this turn.
                let second = try await Task.detached { try await lease(other) }.value
                #expect(second.token > first.token)
                for operation in [
                    { _ = try await history.append([message("late")], to: scope) },
                    { _ = try await history.deleteMessages(["question"], in: scope.session) },
                    { try await reply.finish() },
                ] as [@Sendable () async throws -> Void] {
                    // The first one cancels the turn. A task of its own is not canceled.
                    let error = await #expect(throws: RecollectError.self) {
                        try await Task { try await operation() }.value
                    }
                    #expect(error?.code == .leaseLost && error?.message.contains("trip") == true)
                }
                try await Task.detached {
                    try await second.run { try await other.append([message("next")], to: scope) }
                }.value
                try await history.append([message("later")], to: scope)
            }
        }
        #expect(lost.code == .leaseLost)
        let saved = try await other.window(of: scope, maxMessages: nil)
        #expect(saved.map(\.id) == ["question", "reply", "next"])
        #expect(saved.map(\.isInterrupted) == [false, true, false])
        #expect(try await other.streamingReplies(in: scope.session).isEmpty)
        // The turn is over: its task can write again.
        try await history.append([message("after")], to: scope)
    }

    @Test("A lease that has expired stays valid until another turn asks for one")
    func expiredLease() async throws {
        try await lease(history).run {
            try await expireLeases()
            try await history.append([message("1")], to: scope)
        }
        #expect(try await history.window(of: scope, maxMessages: nil).map(\.id) == ["1"])
    }

    @Test("The lease of an ended process is free at once, also one from before a restart of the system")
    func endedProcess() async throws {
        let ended = UUID().uuidString
        try await history.write {
            try $0.run(
                "INSERT INTO turn_lease (user_id, session_id, expires_at, writer) VALUES ('ana', 'trip', ?, ?)",
                Int64.max, ended)
        }
        let next = try await lease(history)
        await next.release()
        #expect(try await history.read { try $0.integer("SELECT count(*) FROM turn_lease") } == 0)
    }

    @Test("A living process keeps a lease by renewing it")
    func renewal() async throws {
        let first = try await lease(history, for: .seconds(3))
        let waiting = Task { try await lease(other, for: .seconds(3)) }
        func expiry(_ token: Int64) async throws -> Int64? {
            try await history.read { try $0.integer("SELECT expires_at FROM turn_lease WHERE token = ?", token) }
        }
        let begun = try #require(try await expiry(first.token))
        // Renewed several times, while the other one waits.
        while let time = try await expiry(first.token), time < begun + 1_500 {
            try await Task.sleep(for: .milliseconds(20))
        }
        try await first.run { try await history.append([message("1")], to: scope) }
        let second = try await waiting.value
        #expect(second.token > first.token)
        await second.release()
    }

    @Test("A turn is canceled when its lease is lost")
    func canceledTurn() async throws {
        let first = try await lease(history, for: .seconds(1))
        let error = await #expect(throws: RecollectError.self) {
            try await first.run {
                try await history.write { try $0.run("DELETE FROM turn_lease") }
                // Ends with the cancellation of the turn, after the next renewal.
                try await Task.sleep(for: .seconds(3_600))
            }
        }
        #expect(error?.code == .leaseLost)
    }

    @Test("A turn inside a turn of another session waits for a limited time: that session may wait for this one")
    func nestedTurns() async throws {
        let other = SessionKey(userId: "ana", sessionId: "other")
        let running = try #require(try await history.lease(of: other, for: .seconds(30)))
        let error = await #expect(throws: RecollectError.self) {
            try await history.withLease(of: scope.session) { [history] in
                try await history.withLease(of: other, for: .seconds(1)) {}
            }
        }
        #expect(error?.code == .timedOut && error?.message.contains("trip") == true)
        await running.release()
        #expect(try await history.read { try $0.integer("SELECT count(*) FROM turn_lease") } == 0)
    }

    @Test("A deleted user leaves no trace of expired leases")
    func deletedUser() async throws {
        _ = try await history.append([message("1")], to: scope)
        let first = try await lease(history)
        try await expireLeases()
        let (session, ended) = (scope.session, UUID().uuidString)
        try await history.deleteSession(session)
        #expect(try await history.read { try $0.integer("SELECT count(*) FROM turn_lease") } == 0)
        try await history.write {
            try $0.run(
                "INSERT INTO turn_lease (user_id, session_id, expires_at, writer) VALUES ('ana', 'other', ?, ?)",
                Int64.max, ended)
        }
        try await history.deleteUser("ana")
        #expect(try await history.read { try $0.integer("SELECT count(*) FROM turn_lease") } == 0)
        await first.release()
    }

    @Test("Leases of stores of two histories are apart")
    func twoHistories() async throws {
        let elsewhere = SQLiteHistoryStore.inMemory()
        try await lease(history).run {
            try await elsewhere.append([message("1")], to: scope)
            let inner = try #require(try await elsewhere.lease(of: scope.session, for: .seconds(30)))
            await inner.release()
        }
    }
}
