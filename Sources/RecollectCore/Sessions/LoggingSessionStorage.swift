import Foundation
import Logging

/// Logs what is asked of a storage: what, how long it took, how much it was, and how it ended.
///
/// Never bodies; session ids only as the first 12 digits of their SHA-256, and of errors that are not Recollect's only the type,
/// because nobody knows what they quote. What succeeds is logged as debug, what fails as error. May be used from any task.
public final class LoggingSessionStorage: SessionStorageProtocol, Sendable {
    private let storage: any SessionStorageProtocol & Sendable
    private let logger: Logger

    /// Wraps a storage.
    /// - Parameters:
    ///   - storage: the storage that keeps the sessions.
    ///   - logger: where calls are logged.
    public init(
        wrapping storage: any SessionStorageProtocol & Sendable, logger: Logger = Logger(label: "recollect.sessions")
    ) {
        self.storage = storage
        self.logger = logger
    }

    /// Saves a new session, or notes that a known one was opened.
    public func saveSession(id: String, firstMessage: String) async throws {
        try await logging("saveSession", session: id) { try await $0.saveSession(id: id, firstMessage: firstMessage) }
    }

    /// All sessions, the last accessed first; logs how many.
    public func getAllSessions() async throws -> [StoredSession] {
        try await logging("getAllSessions", counting: { ["sessions": "\($0.count)"] }) {
            try await $0.getAllSessions()
        }
    }

    /// One session with its messages in order, `nil` if there is none; logs how many messages.
    public func getSession(id: String) async throws -> StoredSession? {
        try await logging(
            "getSession", session: id, counting: { ["messages": $0.map { "\($0.messages.count)" } ?? "none"] }
        ) { try await $0.getSession(id: id) }
    }

    /// Notes that a session was opened.
    public func updateLastAccessed(id: String) async throws {
        try await logging("updateLastAccessed", session: id) { try await $0.updateLastAccessed(id: id) }
    }

    /// Deletes a session.
    public func deleteSession(id: String) async throws {
        try await logging("deleteSession", session: id) { try await $0.deleteSession(id: id) }
    }

    /// Deletes all sessions.
    public func deleteAllSessions() async throws {
        try await logging("deleteAllSessions") { try await $0.deleteAllSessions() }
    }

    /// Makes the session's transcript these messages; logs how many.
    public func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
        try await logging(
            "updateSessionMessages", session: id, counting: { ["messages": "\(messages.count)"] }
        ) { try await $0.updateSessionMessages(id: id, messages: messages) }
    }

    /// Gives a session another id; logs both.
    public func updateSessionId(oldId: String, newId: String) async throws {
        try await logging(
            "updateSessionId", session: oldId, counting: { ["newSession": "\(StoreEvents.hashed(newId))"] }
        ) { try await $0.updateSessionId(oldId: oldId, newId: newId) }
    }

    private func logging<Result>(
        _ call: String, session id: String? = nil, counting counts: (Result) -> Logger.Metadata = { _ in [:] },
        _ work: (any SessionStorageProtocol & Sendable) async throws -> Result
    ) async throws -> Result {
        let metadata: Logger.Metadata = id.map { ["session": "\(StoreEvents.hashed($0))"] } ?? [:]
        return try await logger.logging(call, metadata, counting: counts) { try await work(storage) }
    }
}
