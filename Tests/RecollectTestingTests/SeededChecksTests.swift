import Recollect
import RecollectTestSupport
import RecollectTesting
import Testing

/// The conformance checks with random input, with more seeds than the default one.
@Suite("Conformance checks with random input")
struct SeededChecksTests {
    @Test(
        "FileChatStorage returns the results of random saves",
        arguments: ChatStorageConformance.checks.filter { $0.name == "model.randomSaves" })
    func chats(_ check: ChatStorageCheck) async {
        await Seeds.run(3) { seed in
            var fixture = StoreFixture<any ChatStorage>.inFolders { FileChatStorage(baseURL: $0, durability: .relaxed) }
            fixture.seed = seed
            try await check.run(on: fixture)
        }
    }

    @Test(
        "DeviceChatStorage returns the results of random saves",
        arguments: ChatStorageConformance.checks.filter { $0.name == "model.randomSaves" })
    func device(_ check: ChatStorageCheck) async {
        await Seeds.run(3) { seed in
            var fixture = StoreFixture<any ChatStorage>.inFolders { folder in
                PerUserChatStorage { try DeviceChatStorage(userId: $0, baseURL: folder) }
            }
            fixture.seed = seed
            try await check.run(on: fixture)
        }
    }

    @Test(
        "SQLiteHistoryStore conforms for random exchanges and queries",
        arguments: HistoryStoreConformance.checks.filter {
            ["search.acceptsAnyText", "exchanges.wholeWindowOmitsIncompleteExchanges"].contains($0.name)
        })
    func history(_ check: HistoryStoreCheck) async {
        await Seeds.run(3) { seed in
            var fixture = StoreFixture<any HistoryStore> { SQLiteHistoryStore.inMemory() }
            fixture.seed = seed
            try await check.run(on: fixture)
        }
    }

    @Test(
        "SQLiteSessionStorage returns the results of random saves",
        arguments: SessionStorageConformance.checks.filter { $0.name == "transcript.randomSaves" })
    func sessions(_ check: SessionStorageCheck) async {
        await Seeds.run(3) { seed in
            var fixture = StoreFixture<any SessionStorageProtocol & Sendable> {
                SQLiteSessionStorage(
                    history: SQLiteHistoryStore.inMemory(), userId: "u", agentId: "a")
            }
            fixture.seed = seed
            try await check.run(on: fixture)
        }
    }
}
