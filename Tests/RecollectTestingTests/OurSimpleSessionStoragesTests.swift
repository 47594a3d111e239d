import Foundation
import Logging
import Recollect
import RecollectTesting
import Testing

/// The session storages of Core, each with what it declares. All of them keep every rule that they declare.
@Suite("Recollect's own session storages without a database")
struct OurSimpleSessionStoragesTests {
    @Test("InMemorySessionStorage conforms", arguments: SessionStorageConformance.checks)
    func memory(_ check: SessionStorageCheck) async throws {
        try await check.run { InMemorySessionStorage() }
    }

    @Test("UserDefaultsSessionStorage conforms", arguments: SessionStorageConformance.checks)
    func userDefaults(_ check: SessionStorageCheck) async throws {
        try await check.run(on: Self.userDefaults { $0 })
    }

    @Test("CachedSessionStorage conforms over another storage", arguments: SessionStorageConformance.checks)
    func cached(_ check: SessionStorageCheck) async throws {
        try await check.run(on: Self.userDefaults { CachedSessionStorage(wrapping: $0) })
    }

    @Test("LoggingSessionStorage conforms over another storage", arguments: SessionStorageConformance.checks)
    func logging(_ check: SessionStorageCheck) async throws {
        try await check.run {
            LoggingSessionStorage(
                wrapping: InMemorySessionStorage(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
    }

    /// The system writes user defaults when it sees fit: no durability past a crash.
    private static func userDefaults(
        wrap: @escaping @Sendable (any SessionStorageProtocol & Sendable) -> any SessionStorageProtocol & Sendable
    ) -> StoreFixture<any SessionStorageProtocol & Sendable> {
        StoreFixture(
            capabilities: .all.subtracting(.durable), place: { "recollect-\(UUID().uuidString)" },
            open: { wrap(UserDefaultsSessionStorage(suiteName: $0)) },
            remove: { UserDefaults.standard.removePersistentDomain(forName: $0) })
    }
}
