import Foundation
import RecollectCore

/// The chat history of one user on this device: the `ChatStorage` view of a SQLite history.
///
/// ```swift
/// let store = try DeviceChatStorage(userId: currentUser.id)
/// try await store.save(message, userId: currentUser.id, sessionId: "today", agentId: "helper", maxMessages: 100)
/// ```
///
/// Nothing is read or created before the first call. See `HistoryChatStorage` for the rules of its calls.
public typealias DeviceChatStorage = HistoryChatStorage

extension HistoryChatStorage {
    /// Creates a storage for a user, with a SQLite history in a folder of its own.
    ///
    /// - Parameters:
    ///   - userId: The user of every call.
    ///   - baseURL: The folder. The default is `AgentSquad` in Caches: it is not backed up, and the system may
    ///     purge it.
    ///   - inMemory: Whether the history is in memory only, for tests.
    ///   - durability: The durability of a save at its return.
    ///   - retention: The retention of messages outside the window.
    ///   - sameRole: The treatment of a message with the same role as the last one.
    public convenience init(
        userId: String, baseURL: URL? = nil, inMemory: Bool = false, durability: Durability = .full,
        retention: Retention = .window, sameRole: SameRolePolicy = .drop
    ) throws {
        let configuration = HistoryConfiguration(durability: durability, retention: retention)
        let history =
            inMemory
            ? SQLiteHistoryStore.inMemory(configuration)
            : SQLiteHistoryStore(
                directory: baseURL ?? DefaultDirectory.caches.appendingPathComponent("AgentSquad", isDirectory: true),
                configuration: configuration)
        self.init(history: history, userId: userId, sameRole: sameRole)
    }
}
