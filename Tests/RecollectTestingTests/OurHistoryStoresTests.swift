import Recollect
import RecollectTesting
import RecollectTestSupport
import Testing

@Suite("Conformance of Recollect's histories", .needs(.time))
struct OurHistoryStoresTests {
    @Test("SQLiteHistoryStore in memory conforms", arguments: HistoryStoreConformance.checks)
    func inMemory(_ check: HistoryStoreCheck) async throws {
        try await check.run { SQLiteHistoryStore.inMemory() }
    }

    @Test("SQLiteHistoryStore on disk conforms", arguments: HistoryStoreConformance.checks)
    func onTheDisk(_ check: HistoryStoreCheck) async throws {
        try await check.run(on: .inFolders { SQLiteHistoryStore(directory: $0) })
    }

    @Test("SQLiteHistoryStore with window retention conforms", arguments: HistoryStoreConformance.checks)
    func windowsAlone(_ check: HistoryStoreCheck) async throws {
        let capabilities = StoreCapabilities.all.subtracting(.retainsTrimmedMessages)
        let fixture = StoreFixture<any HistoryStore>.inFolders(capabilities: capabilities) { folder in
            SQLiteHistoryStore(directory: folder, configuration: HistoryConfiguration(retention: .window))
        }
        try await check.run(on: fixture)
    }
}
