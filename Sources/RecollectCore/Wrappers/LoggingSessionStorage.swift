import Foundation
import Logging

/// A wrapper that logs every call of a session store with its counts, duration and result.
///
/// Message bodies are never logged. Session IDs are logged only as the first 12 digits of their SHA-256 hash, and
/// errors other than Recollect's only by type, because they may quote content. Successful calls are logged at the
/// debug level, failed ones at the error level. Any task can use the wrapper.
public final class LoggingSessionStorage: SessionStorageProtocol, Sendable {
    private let storage: any SessionStorageProtocol & Sendable
    private let logger: Logger

    /// Creates a wrapper around a store.
    /// - Parameters:
    ///   - storage: The store of the sessions.
    ///   - logger: The logger for the calls.
    public init(
        wrapping storage: any SessionStorageProtocol & Sendable, logger: Logger = Logger(label: "recollect.sessions")
    ) {
        self.storage = storage
        self.logger = logger
    }

    /// Saves a new session, or records the opening of an existing one.
    nonisolated(nonsending) public func saveSession(id: String, firstMessage: String) async throws {
        try await logging("saveSession", session: id) { try await $0.saveSession(id: id, firstMessage: firstMessage) }
    }

    /// Returns all sessions, the last accessed first; logs their number.
    nonisolated(nonsending) public func getAllSessions() async throws -> [StoredSession] {
        try await logging("getAllSessions", counting: { ["sessions": "\($0.count)"] }) {
            try await $0.getAllSessions()
        }
    }

    /// Returns a session with its messages in order, `nil` if there is none; logs the number of messages.
    nonisolated(nonsending) public func getSession(id: String) async throws -> StoredSession? {
        try await logging(
            "getSession", session: id, counting: { ["messages": $0.map { "\($0.messages.count)" } ?? "none"] }
        ) { try await $0.getSession(id: id) }
    }

    /// Records the opening of a session.
    nonisolated(nonsending) public func updateLastAccessed(id: String) async throws {
        try await logging("updateLastAccessed", session: id) { try await $0.updateLastAccessed(id: id) }
    }

    /// Deletes a session.
    nonisolated(nonsending) public func deleteSession(id: String) async throws {
        try await logging("deleteSession", session: id) { try await $0.deleteSession(id: id) }
    }

    /// Deletes all sessions.
    nonisolated(nonsending) public func deleteAllSessions() async throws {
        try await logging("deleteAllSessions") { try await $0.deleteAllSessions() }
    }

    /// Replaces the session's transcript; logs the number of messages.
    nonisolated(nonsending) public func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
        try await logging(
            "updateSessionMessages", session: id, counting: { ["messages": "\(messages.count)"] }
        ) { try await $0.updateSessionMessages(id: id, messages: messages) }
    }

    /// Changes a session's ID; logs both IDs.
    nonisolated(nonsending) public func updateSessionId(oldId: String, newId: String) async throws {
        try await logging(
            "updateSessionId", session: oldId, counting: { ["newSession": "\(StoreEvents.hashed(newId))"] }
        ) { try await $0.updateSessionId(oldId: oldId, newId: newId) }
    }

    nonisolated(nonsending) private func logging<Result>(
        _ call: String, session id: String? = nil, counting counts: (Result) -> Logger.Metadata = { _ in [:] },
        _ work: nonisolated(nonsending) (any SessionStorageProtocol & Sendable) async throws -> Result
    ) async throws -> Result {
        let metadata: Logger.Metadata = id.map { ["session": "\(StoreEvents.hashed($0))"] } ?? [:]
        return try await logger.logging(call, metadata, counting: counts) { try await work(storage) }
    }
}
