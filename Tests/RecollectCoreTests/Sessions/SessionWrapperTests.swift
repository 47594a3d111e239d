import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("Session storage wrappers")
struct SessionWrapperTests {
    private let below = SlowSessionStorage()

    @Test("A read is cached until the next write")
    func remembers() async throws {
        let storage = CachedSessionStorage(wrapping: below)
        try await storage.saveSession(id: "a", firstMessage: "hello")
        try await storage.saveSession(id: "b", firstMessage: "hello")
        for _ in 0..<3 {
            _ = try await storage.getAllSessions()
            _ = try await storage.getSession(id: "a")
            _ = try await storage.getSession(id: "b")
        }
        #expect(below.reads == 3)
        try await storage.updateLastAccessed(id: "a")
        #expect(try await storage.getAllSessions().map(\.id) == ["a", "b"])
        _ = try await storage.getSession(id: "b")
        #expect(below.reads == 4)
        _ = try await storage.getSession(id: "a")
        #expect(below.reads == 5)
        storage.invalidate()
        _ = try await storage.getSession(id: "b")
        #expect(below.reads == 6)
    }

    @Test("A failed write leaves the cache correct, whether it failed before or after the change")
    func failedWrites() async throws {
        let storage = CachedSessionStorage(wrapping: below)
        try await storage.saveSession(id: "a", firstMessage: "hello")
        _ = try await storage.getSession(id: "a")
        for failsBefore in [true, false] {
            below.failure = failsBefore ? .before : .after
            let chats = [ChatMessage(role: .user, content: "\(failsBefore)")]
            await #expect(throws: RecollectError.self) {
                try await storage.updateSessionMessages(id: "a", messages: chats)
            }
            #expect(try await storage.getSession(id: "a")?.messages == (failsBefore ? [] : chats))
            #expect(try await storage.getAllSessions().map(\.messages) == [failsBefore ? [] : chats])
        }
    }

    @Test("A read that began before a write is not cached after it")
    func overtakenReads() async throws {
        let storage = CachedSessionStorage(wrapping: below)
        try await storage.saveSession(id: "a", firstMessage: "hello")
        let gate = Gate()
        below.afterReading = { await gate.wait() }
        async let session = storage.getSession(id: "a")
        async let list = storage.getAllSessions()
        await gate.untilWaiting(2)
        below.afterReading = nil
        let chats = [ChatMessage(role: .user, content: "written meanwhile")]
        try await storage.updateSessionMessages(id: "a", messages: chats)
        await gate.open()
        #expect(try await session?.messages == [])
        #expect(try await list.count == 1)
        #expect(try await storage.getSession(id: "a")?.messages == chats)
        #expect(try await storage.getAllSessions().map(\.messages) == [chats])
    }

    @Test("The cache holds at most its capacity of messages, from the most recently opened sessions")
    func bounded() async throws {
        let storage = CachedSessionStorage(wrapping: below, capacity: 10)
        for (id, count) in [("a", 4), ("b", 4), ("c", 4), ("huge", 11)] {
            let chats = (0..<count).map { ChatMessage(role: .user, content: "\($0)") }
            try await storage.updateSessionMessages(id: id, messages: chats)
        }
        func readsBelow(_ id: String) async throws -> Int {
            let before = below.reads
            _ = try await storage.getSession(id: id)
            return below.reads - before
        }
        for id in ["a", "b", "a", "c", "huge"] { _ = try await storage.getSession(id: id) }
        #expect(try await readsBelow("a") == 0)
        #expect(try await readsBelow("c") == 0)
        #expect(try await readsBelow("huge") == 1)
        #expect(try await readsBelow("b") == 1)
        #expect(try await readsBelow("a") == 1)
        // The list of this storage holds all 23 messages.
        _ = try await storage.getAllSessions()
        let before = below.reads
        _ = try await storage.getAllSessions()
        #expect(below.reads == before + 1)
    }

    @Test("A cached list does not hold the messages that were read from it")
    func listsStayLight() async throws {
        let suite = DefaultsSuite()
        let stored = suite.storage()
        let storage = CachedSessionStorage(wrapping: stored, capacity: 1)
        let chats = (0..<5).map { ChatMessage(role: .user, content: "\($0)") }
        try await storage.updateSessionMessages(id: "a", messages: chats)
        for _ in 0..<2 {
            let list = try await storage.getAllSessions()
            #expect(list.map(\.heldMessageCount) == [0])
            #expect(await Task.detached { list[0].messages }.value == chats)
        }
    }

    @Test("Calls are logged with counts, never with contents, IDs or texts of foreign errors")
    func logs() async throws {
        let log = LogLines()
        let storage = LoggingSessionStorage(wrapping: below, logger: log.logger)
        let chats = (0..<7).map { ChatMessage(role: .user, content: "SECRET \($0)") }
        try await storage.saveSession(id: "SECRET id", firstMessage: "SECRET greeting")
        try await storage.updateSessionMessages(id: "SECRET id", messages: chats)
        _ = try await storage.getSession(id: "SECRET id")
        _ = try await storage.getSession(id: "SECRET other id")
        _ = try await storage.getAllSessions()
        try await storage.updateLastAccessed(id: "SECRET id")
        try await storage.updateSessionId(oldId: "SECRET id", newId: "SECRET new id")
        below.failure = .before
        await #expect(throws: RecollectError.self) { try await storage.deleteSession(id: "SECRET new id") }
        below.failure = .foreign
        await #expect(throws: SlowSessionStorage.Foreign.self) { try await storage.deleteAllSessions() }
        try await storage.deleteAllSessions()

        let written = log.all
        #expect(written.count == 10)
        #expect(written.allSatisfy { !$0.contains("SECRET") && $0.contains("duration") })
        #expect(written[1].hasPrefix("debug updateSessionMessages") && written[1].contains("messages=7"))
        #expect(written[2].contains("messages=7") && written[3].contains("messages=none"))
        #expect(written[4].contains("sessions=1"))
        #expect(written[7].hasPrefix("error deleteSession failed") && written[7].contains("error=diskFull"))
        #expect(written[8].contains("error=Foreign"))
    }
}

/// A storage in memory that counts its reads, can pause in them, and fails on demand.
private final class SlowSessionStorage: SessionStorageProtocol, Sendable {
    enum Failure { case before, after, foreign }

    struct Foreign: Error, CustomStringConvertible {
        let description = "SECRET"
    }

    private struct State {
        var reads = 0
        var failure: Failure?
        var afterReading: (@Sendable () async -> Void)?
    }

    private let sessions = InMemorySessionStorage()
    private let state = Locked(State())

    var reads: Int { state.withLock { $0.reads } }

    /// How the next write fails.
    var failure: Failure? {
        get { state.withLock { $0.failure } }
        set { state.withLock { $0.failure = newValue } }
    }

    var afterReading: (@Sendable () async -> Void)? {
        get { state.withLock { $0.afterReading } }
        set { state.withLock { $0.afterReading = newValue } }
    }

    func getAllSessions() async throws -> [StoredSession] {
        try await read { try await sessions.getAllSessions() }
    }

    func getSession(id: String) async throws -> StoredSession? {
        try await read { try await sessions.getSession(id: id) }
    }

    func saveSession(id: String, firstMessage: String) async throws {
        try await write { try await sessions.saveSession(id: id, firstMessage: firstMessage) }
    }

    func updateLastAccessed(id: String) async throws {
        try await write { try await sessions.updateLastAccessed(id: id) }
    }

    func deleteSession(id: String) async throws {
        try await write { try await sessions.deleteSession(id: id) }
    }

    func deleteAllSessions() async throws {
        try await write { try await sessions.deleteAllSessions() }
    }

    func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
        try await write { try await sessions.updateSessionMessages(id: id, messages: messages) }
    }

    func updateSessionId(oldId: String, newId: String) async throws {
        try await write { try await sessions.updateSessionId(oldId: oldId, newId: newId) }
    }

    private func read<Result>(_ work: () async throws -> Result) async throws -> Result {
        let result = try await work()
        let afterReading = state.withLock { state in
            state.reads += 1
            return state.afterReading
        }
        await afterReading?()
        return result
    }

    private func write(_ work: () async throws -> Void) async throws {
        let failure = state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
        let error = RecollectError(.diskFull, "no space is left for SECRET")
        switch failure {
        case .before: throw error
        case .foreign: throw Foreign()
        case .after:
            try await work()
            throw error
        case nil: try await work()
        }
    }
}

/// Suspends its callers until it is opened.
private actor Gate {
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var watcher: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    func wait() async {
        await withCheckedContinuation { continuation in
            waiting.append(continuation)
            guard let watcher, waiting.count >= watcher.count else { return }
            watcher.continuation.resume()
            self.watcher = nil
        }
    }

    func untilWaiting(_ count: Int) async {
        guard waiting.count < count else { return }
        await withCheckedContinuation { watcher = (count, $0) }
    }

    func open() {
        waiting.forEach { $0.resume() }
        waiting = []
    }
}
