/// A store of the sessions of a chat UI: the list in its sidebar and the content of each session.
///
/// ```swift
/// try await sessions.saveSession(id: "trip", firstMessage: "Plan a trip.")
/// try await sessions.updateSessionMessages(id: "trip", messages: [ChatMessage(role: .user, content: "Plan a trip.")])
/// for session in try await sessions.getAllSessions() { print(session.id, session.messages.count) }
/// ```
///
/// The protocol is the one of the custom session storage guide. A store may be a class, an actor or a struct. It
/// need not be `Sendable`, and its methods run in the caller's isolation. Recollect's own stores are `Sendable`,
/// and any task can call them. `SessionStorageConformance` of RecollectTesting checks the rules documented here.
public protocol SessionStorageProtocol {
    /// Saves a new session, or records the opening of an existing one: its first message stays, and
    /// `lastAccessedAt` is updated.
    nonisolated(nonsending) func saveSession(id: String, firstMessage: String) async throws

    /// Returns all sessions, the last accessed first. A store need not read their messages for it: see
    /// `StoredSession`.
    nonisolated(nonsending) func getAllSessions() async throws -> [StoredSession]

    /// Returns a session with its messages in order; `nil` if there is none.
    nonisolated(nonsending) func getSession(id: String) async throws -> StoredSession?

    /// Records the opening of a session. Does nothing if it does not exist.
    nonisolated(nonsending) func updateLastAccessed(id: String) async throws

    /// Deletes a session and its messages permanently. Does nothing if it does not exist.
    nonisolated(nonsending) func deleteSession(id: String) async throws

    /// Deletes all sessions permanently.
    nonisolated(nonsending) func deleteAllSessions() async throws

    /// Replaces the session's transcript, completely or not at all, and updates its `lastAccessedAt`.
    ///
    /// Messages with known IDs are edited, new ones are added at their positions, and missing ones are removed. In a history,
    /// the entries of one message of an agent stay together and in their order.
    /// Saving the same messages again does not change them. A missing session is created, and no message is lost.
    nonisolated(nonsending) func updateSessionMessages(id: String, messages: [ChatMessage]) async throws

    /// Changes a session's ID; its messages move along.
    ///
    /// If a session with the new ID exists, the two are merged without loss: each message ID once, the old
    /// session's messages first. If there is no session with the old ID, nothing happens, so a retry is harmless.
    nonisolated(nonsending) func updateSessionId(oldId: String, newId: String) async throws
}
