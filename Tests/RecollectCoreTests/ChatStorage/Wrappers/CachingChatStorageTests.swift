import Foundation
import Testing

@testable import RecollectCore

@Suite("Caching chat storage")
struct CachingChatStorageTests {
    @Test("Without versions, a read is cached for its lifetime, until a save through the cache")
    func lifetime() async throws {
        let below = WatchedChatStorage()
        let now = Locked(ContinuousClock.now)
        let storage = CachingChatStorage(wrapping: below, now: { now.withLock { $0 } })
        try await storage.save(turn(0))
        for _ in 0..<3 {
            #expect(try await storage.load() == turn(0))
            #expect(try await storage.load(budget: 2) == turn(0))
            #expect(try await storage.fetchAllChats(userId: "u", sessionId: "s").count == 2)
        }
        #expect(below.reads == 3)
        try await below.save(turn(1))
        now.withLock { $0 += .milliseconds(999) }
        #expect(try await storage.load() == turn(0))
        now.withLock { $0 += .milliseconds(1) }
        #expect(try await storage.load() == turns(0..<2))
        try await storage.save(turn(2))
        #expect(try await storage.load() == turns(0..<3))
        #expect(below.reads == 5)
    }

    @Test("A failed save also clears the cache, but only for its session")
    func failedSaves() async throws {
        let below = WatchedChatStorage()
        let now = ContinuousClock.now
        let storage = CachingChatStorage(wrapping: below, now: { now })
        _ = try await storage.load()
        _ = try await storage.load(session: "t")
        below.failSaves(RecollectError(.diskFull, "full"))
        await #expect(throws: RecollectError.self) { try await storage.save(turn(0)) }
        _ = try await storage.load()
        _ = try await storage.load(session: "t")
        #expect(below.reads == 3)
    }

    @Test("A read that began before a save is not cached after it")
    func overtakenReads() async throws {
        let below = WatchedChatStorage()
        let now = ContinuousClock.now
        let storage = CachingChatStorage(wrapping: below, now: { now })
        let (reached, gate) = (Latch(), Latch())
        below.afterReading {
            reached.open()
            try await gate.wait()
        }
        async let old = storage.load()
        try await reached.wait()
        below.afterReading(nil)
        try await storage.save(turn(0))
        gate.open()
        #expect(try await old == [])
        #expect(try await storage.load() == turn(0))
    }

    @Test("With versions, another instance's write is seen by the next read, and nothing else is read again")
    func versions() async throws {
        let memory = InMemoryChatStorage()
        let below = Versioned(memory)
        let storage = CachingChatStorage(wrapping: below, lifetime: .zero)
        for number in 0..<5 {
            try await memory.save(turn(number))
            for _ in 0..<3 {
                #expect(try await storage.load() == turns(0...number))
                #expect(try await storage.fetchAllChats(userId: "u", sessionId: "s").count == 2 * number + 2)
            }
        }
        #expect(below.reads == 10)
        try await memory.save([], budget: 2)
        #expect(try await storage.load() == turn(4))
    }

    @Test("The cache holds at most its capacity, from the most recently read sessions")
    func bounded() async throws {
        let memory = InMemoryChatStorage()
        for (session, count) in [("a", 2), ("b", 2), ("c", 2), ("huge", 6)] {
            try await memory.save(turns(0..<count), session: session)
        }
        let below = Versioned(memory)
        // A session and a view add one each to the messages: 6 for each of the small sessions.
        let storage = CachingChatStorage(wrapping: below, capacity: 13)
        func readsBelow(_ session: String) async throws -> Int {
            let before = below.reads
            _ = try await storage.load(session: session)
            return below.reads - before
        }
        var reads: [Int] = []
        for session in ["a", "b", "a", "c", "a", "b", "huge", "huge", "c"] {
            reads.append(try await readsBelow(session))
        }
        // The least recently read session makes room; the huge one never fits.
        #expect(reads == [1, 1, 0, 1, 0, 1, 1, 1, 1])
    }

    @Test("Every change to a file by another instance is seen; unchanged files are not read again")
    func files() async throws {
        let folder = try TemporaryFolder()
        let writer = FileChatStorage(baseURL: folder.url, durability: .relaxed)
        let below = Versioned(FileChatStorage(baseURL: folder.url))
        let storage = CachingChatStorage(wrapping: below, lifetime: .zero)
        #expect(try await storage.load() == [])
        // Each of these leaves a file of the same length, some within one tick of its clock.
        for number in 0..<200 {
            try await writer.save(turn(number), budget: 4)
            #expect(try await storage.load() == turns(max(0, number - 1)...number))
            if number % 10 == 9 {
                try await writer.save([], budget: 2)
                #expect(try await storage.load() == turn(number))
            }
        }
        let old = Date(timeIntervalSinceNow: -60)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: folder.file().path)
        _ = try await storage.load()
        let reads = below.reads
        for _ in 0..<5 { _ = try await storage.load() }
        #expect(below.reads == reads)
        try await writer.save(turn(999))
        #expect(try await storage.load().suffix(2) == turn(999)[...])
    }
}

/// Counts the reads of a storage with versions.
private final class Versioned: ChatStorage {
    private let below: any ChatStorage
    private let watched: WatchedChatStorage

    init(_ below: any ChatStorage) {
        self.below = below
        watched = WatchedChatStorage(below)
    }

    var reads: Int { watched.reads }

    func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        try await watched.fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await watched.save(
            message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await watched.saveMessages(
            messages, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await watched.fetchAllChats(userId: userId, sessionId: sessionId)
    }

    func version(userId: String, sessionId: String) async throws -> ChatVersion? {
        try await below.version(userId: userId, sessionId: sessionId)
    }
}
