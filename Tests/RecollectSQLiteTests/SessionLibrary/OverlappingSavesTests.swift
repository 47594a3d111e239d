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

    /// The transcripts of two overlapping saves after `["question", "answer"]`, and the saved texts.
    private static let pairs: [(first: [String], second: [String], saved: [String])] = [
        (["question"], ["question", "answer"], ["question", "answer"]),
        (["question", "answer", "more"], ["question", "answer"], ["question", "answer"]),
        (["question", "wrong edit"], ["question", "answer"], ["question", "answer"]),
        (["question", "draft"], ["question", "draft 2"], ["question", "draft 2"]),
    ]

    @Test("Of overlapping saves by one actor, the last one wins", arguments: pairs.indices)
    @MainActor
    func callOrder(_ index: Int) async throws {
        let pair = Self.pairs[index]
        let ids = (0..<3).map { _ in UUID() }
        func transcript(_ texts: [String]) -> [ChatMessage] {
            zip(ids, texts).map { ChatMessage(id: $0, role: .user, content: $1) }
        }
        try await sessions.updateSessionMessages(id: "s", messages: transcript(["question", "answer"]))
        let (isHeld, release) = (Signal(), DispatchSemaphore(value: 0))
        async let holding: Void = history.connection.database().withWriterConnection { _ in
            isHeld.signal()
            release.wait()
        }
        await isHeld.wait(since: 0, atMost: .seconds(60))
        let saves = [pair.first, pair.second].map { texts in
            Task { try await sessions.updateSessionMessages(id: "s", messages: transcript(texts)) }
        }
        try await Task.sleep(for: .milliseconds(50))
        release.signal()
        for save in saves { try await save.value }
        try await holding
        let saved = try #require(try await SQLiteSessionStorage(history: history, userId: "ann").getSession(id: "s"))
        #expect(saved.messages.map(\.content) == pair.saved)
    }

    @Test("Wrappers keep the order of the calls of one actor", arguments: [true, false])
    @MainActor
    func wrapped(isCached: Bool) async throws {
        let storage: any SessionStorageProtocol & Sendable =
            isCached ? CachedSessionStorage(wrapping: sessions) : LoggingSessionStorage(wrapping: sessions)
        var entry = ChatMessage(role: .assistant, content: "")
        for round in 0..<20 {
            let saves = (0..<10).map { number in
                entry.content = "\(round) \(number)"
                return Task { [entry] in try await storage.updateSessionMessages(id: "s", messages: [entry]) }
            }
            for save in saves { try await save.value }
            #expect(try await sessions.getSession(id: "s")?.messages.map(\.content) == ["\(round) 9"])
        }
    }

    @Test("A read after an overlapping save has the saved transcript")
    @MainActor
    func readAfterSave() async throws {
        for number in 0..<20 {
            let transcript = [ChatMessage(role: .user, content: "\(number)")]
            let save = Task { try await sessions.updateSessionMessages(id: "s \(number)", messages: transcript) }
            let read = Task { try await sessions.getSession(id: "s \(number)")?.messages }
            try await save.value
            #expect(try await read.value?.map(\.content) == ["\(number)"])
        }
    }
}
