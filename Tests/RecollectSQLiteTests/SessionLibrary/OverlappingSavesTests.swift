import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Overlapping saves of one session") struct OverlappingSavesTests {
    private let folder: TemporaryFolder
    private let history: SQLiteHistoryStore
    private let sessions: SQLiteSessionStorage

    init() throws {
        folder = try TemporaryFolder()
        history = folder.history()
        sessions = SQLiteSessionStorage(history: history, userId: "ann")
    }

    @Test("Overlapping saves by several instances lose nothing")
    func severalInstances() async throws {
        let shared = [ChatMessage(role: .user, content: "shared")]
        try await sessions.updateSessionMessages(id: "s", messages: shared)
        let own = (0..<20).map { ChatMessage(role: .assistant, content: "\($0)") }
        var storages: [SQLiteSessionStorage] = []
        for _ in own {
            let storage = SQLiteSessionStorage(history: history, userId: "ann")
            _ = try await storage.getSession(id: "s")
            storages.append(storage)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (storage, message) in zip(storages, own) {
                group.addTask { try await storage.updateSessionMessages(id: "s", messages: shared + [message]) }
            }
            try await group.waitForAll()
        }
        let saved = try #require(try await sessions.getSession(id: "s")).messages
        #expect(Set(saved.map(\.content)) == Set((shared + own).map(\.content)))
        #expect(saved.count == 21)
    }

    @Test("Overlapping saves by one instance preserve the messages of both saves")
    func oneInstance() async throws {
        let shared = [ChatMessage(role: .user, content: "shared")]
        try await sessions.updateSessionMessages(id: "s", messages: shared)
        let (isHeld, release) = (Signal(), DispatchSemaphore(value: 0))
        async let holding: Void = history.connection.database().withWriterConnection { _ in
            isHeld.signal()
            release.wait()
        }
        await isHeld.wait(since: 0, atMost: .seconds(60))
        let begun = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for content in ["1", "2"] {
                group.addTask {
                    begun.withLock { $0 += 1 }
                    try await sessions.updateSessionMessages(
                        id: "s", messages: shared + [ChatMessage(role: .assistant, content: content)])
                }
            }
            while begun.withLock({ $0 < 2 }) { try await Task.sleep(for: .milliseconds(1)) }
            try await Task.sleep(for: .milliseconds(100))
            release.signal()
            try await group.waitForAll()
        }
        try await holding
        let saved = try #require(try await sessions.getSession(id: "s")).messages
        #expect(Set(saved.map(\.content)) == ["shared", "1", "2"])
        #expect(saved.count == 3)
    }
}
