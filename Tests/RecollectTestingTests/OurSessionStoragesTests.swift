import Foundation
import Logging
import Recollect
import RecollectTestSupport
import RecollectTesting
import Testing

/// The session storages of Recollect and their wrappers, with their declared capabilities.
@Suite("Conformance of Recollect's session storages", .needs(.time))
struct OurSessionStoragesTests {
    @Test("InMemorySessionStorage conforms", arguments: SessionStorageConformance.checks)
    func memory(_ check: SessionStorageCheck) async throws {
        try await check.run { InMemorySessionStorage() }
    }

    @Test("CachedSessionStorage over another storage conforms", arguments: SessionStorageConformance.checks)
    func cached(_ check: SessionStorageCheck) async throws {
        // A cache does not read the saves of another instance.
        try await check.run(
            on: .inFolders(capabilities: .all.subtracting(.sharesLocation)) { folder in
                CachedSessionStorage(
                    wrapping: try SQLiteSessionStorage(
                        databasePath: folder.appendingPathComponent("sessions.sqlite").path))
            })
    }

    @Test("CachedSessionStorage with a small capacity conforms", arguments: SessionStorageConformance.checks)
    func littleCached(_ check: SessionStorageCheck) async throws {
        try await check.run { CachedSessionStorage(wrapping: InMemorySessionStorage(), capacity: 5) }
    }

    @Test("LoggingSessionStorage conforms", arguments: SessionStorageConformance.checks)
    func logging(_ check: SessionStorageCheck) async throws {
        try await check.run {
            LoggingSessionStorage(
                wrapping: InMemorySessionStorage(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
    }

    @Test("UserDefaultsSessionStorage conforms", arguments: SessionStorageConformance.checks)
    func userDefaults(_ check: SessionStorageCheck) async throws {
        try await check.run(on: Self.userDefaults)
    }

    @Test("SQLiteSessionStorage on disk conforms", arguments: SessionStorageConformance.checks)
    func sqlite(_ check: SessionStorageCheck) async throws {
        try await check.run(
            on: .inFolders { folder in
                try SQLiteSessionStorage(databasePath: folder.appendingPathComponent("sessions.sqlite").path)
            })
    }

    @Test("SQLiteSessionStorage over a shared history conforms", arguments: SessionStorageConformance.checks)
    func shared(_ check: SessionStorageCheck) async throws {
        try await check.run {
            SQLiteSessionStorage(
                history: SQLiteHistoryStore.inMemory(), userId: "e\u{301}", agentId: "writer")
        }
    }

    /// The system writes user defaults at any time, so they are not durable.
    private static let userDefaults = StoreFixture<any SessionStorageProtocol & Sendable>(
        capabilities: .all.subtracting(.durable), location: { "recollect-\(UUID().uuidString)" },
        open: { UserDefaultsSessionStorage(suiteName: $0) },
        remove: { UserDefaults.standard.removePersistentDomain(forName: $0) })
}
