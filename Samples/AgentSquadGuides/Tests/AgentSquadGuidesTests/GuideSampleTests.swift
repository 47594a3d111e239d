import AgentSquad
import AgentSquadGuides
import Foundation
import RecollectTesting
import Testing

// The guide's store, not Recollect's own of the same name.
typealias GuideStore = AgentSquadGuides.UserDefaultsChatStorage

@Suite("The guides' samples")
struct GuideSampleTests {
    @Test("UserDefaultsChatStorage, as the guide writes it, keeps a conversation")
    func userDefaults() async throws {
        let suite = "recollect-samples-\(UUID().uuidString)"
        defer { UserDefaults.standard.removePersistentDomain(forName: suite) }
        try await converse(in: GuideStore(suiteName: suite), userId: "user")
        #expect(try await GuideStore(suiteName: suite).fetchAllChats(userId: "user", sessionId: "trip").count == 4)
    }

    @Test(
        "and the suite names what the guide's own store gets wrong",
        arguments: [
            "scope.joinedIDsDoNotCollide", "scope.mergedViewExcludesOtherSessions", "identity.knownIDKeepsFirstContent",
            "order.mergeKeepsScopeOrder",
        ])
    func userDefaultsFaults(_ name: String) async throws {
        let check = try #require(ChatStorageConformance.checks.first { $0.name == name })
        let fixture = StoreFixture<any ChatStorage>(
            location: { "recollect-samples-\(UUID().uuidString)" }, open: { GuideStore(suiteName: $0) },
            remove: { UserDefaults.standard.removePersistentDomain(forName: $0) })
        await #expect(throws: ConformanceFailure.self) { try await check.run(on: fixture) }
    }

    @Test("FileChatStorage in a folder of the test's own keeps a conversation")
    func isolatedFiles() async throws {
        let store = isolatedFileStore()
        defer { try? FileManager.default.removeItem(at: store.baseURL) }
        try await converse(in: store, userId: "user")
        #expect(
            try await FileChatStorage(baseURL: store.baseURL).fetchAllChats(userId: "user", sessionId: "trip").count
                == 4)
    }

    @Test(
        "FileChatStorage lies in AgentSquadChats in the caches unless told otherwise, and is made without touching the disk"
    )
    func defaultFiles() {
        #expect(defaultFileStore(agent: Echo()).0.baseURL.lastPathComponent == "AgentSquadChats")
    }

    @Test("DeviceChatStorage for tests keeps a conversation, and clear() forgets it")
    func ephemeralDevice() async throws {
        let store = try ephemeralDeviceStore()
        try await converse(in: store, userId: "test-user")
        try await logOut(store)
        #expect(try await store.fetchAllChats(userId: "test-user", sessionId: "trip").isEmpty)
    }

    @Test("DeviceChatStorage for production is made without touching the disk")
    func productionDevice() throws {
        let (store, _) = try productionDeviceStore(currentUser: CurrentUser(id: "user"), agent: Echo())
        #expect(store.userId == "user")
    }

    /// Two agents of one session through the four methods of the protocol.
    private func converse(in store: some ChatStorage, userId: String) async throws {
        let now = Date()
        func message(_ role: Role, _ text: String, _ seconds: Double) -> ConversationMessage {
            ConversationMessage(role: role, text: text, timestamp: now.addingTimeInterval(seconds))
        }
        try await store.save(
            message(.user, "Where to?", 0), userId: userId, sessionId: "trip", agentId: "travel",
            maxMessages: ChatStorageDefaults.maxMessages)
        try await store.saveMessages(
            [message(.assistant, "To the sea.", 1), message(.assistant, "To the sea!", 2)], userId: userId,
            sessionId: "trip",
            agentId: "travel", maxMessages: nil)
        try await store.saveMessages(
            [message(.user, "What weather?", 3), message(.assistant, "Sun.", 4)], userId: userId, sessionId: "trip",
            agentId: "weather", maxMessages: 3)
        let travel = try await store.fetch(userId: userId, sessionId: "trip", agentId: "travel", maxMessages: nil)
        #expect(travel.map(\.text) == ["Where to?", "To the sea."])
        let all = try await store.fetchAllChats(userId: userId, sessionId: "trip")
        #expect(all.map(\.text) == ["Where to?", "[travel] To the sea.", "What weather?", "[weather] Sun."])
    }
}
