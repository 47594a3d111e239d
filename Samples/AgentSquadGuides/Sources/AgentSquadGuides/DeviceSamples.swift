// The samples of the guide "DeviceChatStorage", unchanged.

import AgentSquad

/// Whoever is signed in.
public struct CurrentUser: Sendable {
    /// Names them.
    public let id: String

    /// Somebody of that id.
    public init(id: String) {
        self.id = id
    }
}

/// Production.
public func productionDeviceStore(
    currentUser: CurrentUser, agent: any AgentProtocol
) throws -> (DeviceChatStorage, Orchestrator) {
    let store = try DeviceChatStorage(userId: currentUser.id)
    let orchestrator = Orchestrator(agents: [agent], store: store)
    return (store, orchestrator)
}

/// Tests — ephemeral, no disk I/O.
public func ephemeralDeviceStore() throws -> DeviceChatStorage {
    let store = try DeviceChatStorage(userId: "test-user", inMemory: true)
    return store
}

/// Clearing history on logout.
public func logOut(_ store: DeviceChatStorage) async throws {
    try await store.clear()
}
