import ClaudeCodeCore
import Foundation
import RecollectTesting
import SessionStorageGuide
import Testing

@Suite("The samples of the custom session storage guide", .serialized)
struct GuideSampleTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")

    @Test("its actors, classes and wrappers keep a session through all eight methods")
    func conformers() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await converse(in: MyCustomStorage())
        try await converse(in: MockSessionStorage())
        try await converse(in: DebugSessionStorage(wrapping: MyCustomStorage()))
        let optimized = OptimizedStorage(file: folder.appendingPathComponent("sessions.json"))
        try await converse(in: optimized)
        try await converse(in: CarefulStorage(folder: folder.appendingPathComponent("careful")))
        // A wrapper of a wrapper of a class that is not Sendable.
        let wrapped = DebugSessionStorage(
            wrapping: DebugSessionStorage(wrapping: try CarefulStorage(folder: folder.appendingPathComponent("inner"))))
        try await converse(in: wrapped)
    }

    @Test("and the suite names what a dictionary of strings gets wrong: it takes é for é")
    func canonicalIds() async throws {
        let check = try #require(SessionStorageConformance.checks.first { $0.name == "sessions.anyStringIsValidID" })
        await #expect(throws: ConformanceFailure.self) { try await check.run { MyCustomStorage() } }
    }

    @Test("its SQLite storage is Recollect's: sessions and messages are there when the database is opened again")
    func sqlite() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("database.sqlite").path
        try await converse(in: SQLiteSessionStorage(databasePath: path))
        let message = sampleMessage()
        do {
            let storage = try SQLiteSessionStorage(databasePath: path)
            try await storage.saveSession(id: "kept", firstMessage: "Hello, Claude!")
            try await storage.updateSessionMessages(id: "kept", messages: [message])
            try await storage.saveSession(id: "kept", firstMessage: "again")
        }
        let sessions = try await SQLiteSessionStorage(databasePath: path).getAllSessions()
        #expect(sessions.map(\.id) == ["kept"])
        #expect(sessions.map(\.firstUserMessage) == ["Hello, Claude!"])
        #expect(await messages(of: sessions[0]) == [message])
    }

    @Test("its container with a database's path is made without touching the disk")
    func container() throws {
        let storage = try dependenciesWithCustomStorage().sessionStorage
        #expect(storage is SQLiteSessionStorage)
        #expect(!FileManager.default.fileExists(atPath: "/path/to"))
    }

    @Test("its OptimizedStorage answers from memory and writes once")
    func optimized() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("sessions.json")
        let storage = OptimizedStorage(file: file)
        let message = ChatMessage(
            role: .toolUse, content: "", messageType: .toolUse, toolName: "Read",
            toolInputData: ToolInputData(parameters: ["path": "a"]))
        try await storage.saveSession(id: "a", firstMessage: "hello")
        try await storage.updateSessionMessages(id: "a", messages: [message])
        #expect(!FileManager.default.fileExists(atPath: file.path))
        try await storage.flush()
        let again = try await OptimizedStorage(file: file).getAllSessions()
        #expect(again.map(\.messages) == [[message]] && again.map(\.firstUserMessage) == ["hello"])
    }

    @Test("its error handling gives StorageError with the cause, and its migration runs once for a version")
    func carefulStorage() async throws {
        defer {
            try? FileManager.default.removeItem(at: folder)
            UserDefaults.standard.removeObject(forKey: "StorageVersion")
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        UserDefaults.standard.removeObject(forKey: "StorageVersion")
        try Data("from version 1".utf8).write(to: folder.appendingPathComponent("old.v1"))
        let storage = try CarefulStorage(folder: folder)
        #expect(try await storage.getAllSessions().map(\.firstUserMessage) == ["from version 1"])
        #expect(UserDefaults.standard.integer(forKey: "StorageVersion") == 2)
        try Data("too late".utf8).write(to: folder.appendingPathComponent("later.v1"))
        #expect(try await CarefulStorage(folder: folder).getAllSessions().map(\.id) == ["old"])

        try Data("no JSON".utf8).write(to: folder.appendingPathComponent("damaged.json"))
        let error = await #expect(throws: StorageError.self) {
            try await storage.saveSession(id: "damaged", firstMessage: "hello")
        }
        guard case .saveFailed(let cause) = error else {
            Issue.record("\(String(describing: error)) is not saveFailed")
            return
        }
        #expect(cause is DecodingError)
        let missing = await #expect(throws: StorageError.self) {
            try await storage.updateSessionMessages(id: "nobody", messages: [])
        }
        #expect(missing?.errorDescription == "There is no session nobody.")
    }

    @Test("moving from the default storage takes all sessions along, their messages too")
    func migration() async throws {
        let preferences = GlobalPreferencesStorage()
        let store = DependencyContainer(globalPreferences: preferences).sessionStorage
        #expect(store is UserDefaultsSessionStorage)
        let ids = (0..<3).map { "recollect-sample-\($0)-\(UUID().uuidString)" }
        let transcript = [sampleMessage(), ChatMessage(role: .assistant, content: "Hello!")]
        for id in ids {
            try await store.saveSession(id: id, firstMessage: "first of \(id)")
            try await store.updateSessionMessages(id: id, messages: transcript)
        }
        let moved = try await migrateFromDefaultStorage(globalPreferences: preferences).sessionStorage
        #expect(moved is MyCustomStorage)
        for id in ids {
            let session = try #require(try await moved.getSession(id: id))
            #expect(session.messages == transcript && session.firstUserMessage == "first of \(id)")
            try await store.deleteSession(id: id)
        }
    }

    @Test("a model on the main actor uses actors, classes and Recollect's storages alike")
    @MainActor
    func mainActor() async throws {
        let storages: [any SessionStorageProtocol] = [
            MyCustomStorage(), MockSessionStorage(), DebugSessionStorage(wrapping: MyCustomStorage()),
        ]
        for storage in storages {
            let sidebar = Sidebar(
                dependencies: DependencyContainer(
                    globalPreferences: GlobalPreferencesStorage(), customSessionStorage: storage))
            try await sidebar.begin(id: "a", firstMessage: "Hello, Claude!\nHow are you?")
            #expect(sidebar.titles == ["Hello, Claude!"])
        }
    }

    @Test("StoredSession and ChatMessage are made as the guide makes them, and have the guide's fields")
    func values() throws {
        let session = sampleSession()
        #expect(session.id == "unique-session-id" && session.firstUserMessage == "Hello, Claude!")
        #expect(session.messages.isEmpty && session.workingDirectory == nil && session.branchName == nil)
        let message = sampleMessage()
        #expect(message.role == .user && message.messageType == .text && message.isComplete)
        #expect(try JSONDecoder().decode(ChatMessage.self, from: JSONEncoder().encode(message)) == message)
    }

    /// All eight methods.
    private func converse(in storage: any SessionStorageProtocol) async throws {
        try await storage.saveSession(id: "a", firstMessage: "Hello")
        try await storage.saveSession(id: "b", firstMessage: "Hi")
        let transcript = [sampleMessage(), ChatMessage(role: .assistant, content: "Hello!")]
        try await storage.updateSessionMessages(id: "a", messages: transcript)
        #expect(try await storage.getSession(id: "a")?.messages == transcript)
        #expect(try await storage.getSession(id: "nobody") == nil)
        try await storage.updateLastAccessed(id: "b")
        #expect(try await Set(storage.getAllSessions().map(\.id)) == ["a", "b"])
        try await storage.updateSessionId(oldId: "a", newId: "c")
        #expect(try await storage.getSession(id: "a") == nil)
        let renamed = try #require(try await storage.getSession(id: "c"))
        #expect(renamed.messages == transcript && renamed.firstUserMessage == "Hello")
        try await storage.deleteSession(id: "b")
        #expect(try await storage.getAllSessions().map(\.id) == ["c"])
        try await storage.deleteAllSessions()
        #expect(try await storage.getAllSessions().isEmpty)
    }

    /// Messages of a listed session are read on the thread that asks: not on one that tasks share.
    private func messages(of session: StoredSession) async -> [ChatMessage] {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: session.messages) }
        }
    }
}
