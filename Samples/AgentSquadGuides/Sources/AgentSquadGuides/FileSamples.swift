// The samples of the guide "FileChatStorage", unchanged.

import AgentSquad
import Foundation

/// Default path.
public func defaultFileStore(agent: any AgentProtocol) -> (FileChatStorage, Orchestrator) {
    let store = FileChatStorage()
    let orchestrator = Orchestrator(agents: [agent], store: store)
    return (store, orchestrator)
}

#if canImport(Darwin)
    /// Custom directory (e.g. a shared app-group container). App groups are Apple's alone.
    public func appGroupFileStore() -> FileChatStorage {
        // swift-format-ignore: NeverForceUnwrap
        let store = FileChatStorage(
            baseURL: FileManager.default
                .containerURL(forSecurityApplicationGroupIdentifier: "group.com.example.app")!
                .appendingPathComponent("Chats"))
        return store
    }
#endif

/// Test isolation (deterministic directory, no cross-test pollution).
public func isolatedFileStore() -> FileChatStorage {
    let store = FileChatStorage(
        baseURL: URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(UUID().uuidString),
        fileManager: .default)
    return store
}
