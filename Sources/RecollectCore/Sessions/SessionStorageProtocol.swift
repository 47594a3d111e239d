/// Keeps the sessions of a chat UI: what its sidebar lists and what it shows when one is opened.
///
/// The protocol is that of the custom session storage guide. A storage may be a class, an actor or a struct; it need not be
/// `Sendable`, and its methods run where they are called. Recollect's own storages are `Sendable` and may be called from any
/// task. `SessionStorageConformance` of RecollectTesting proves what is promised here.
public protocol SessionStorageProtocol {
    /// Saves a new session, or notes that a known one was opened: its first message stays, its `lastAccessedAt` moves.
    nonisolated(nonsending) func saveSession(id: String, firstMessage: String) async throws

    /// All sessions, the last accessed first. Reading them need not read their messages: see `StoredSession`.
    nonisolated(nonsending) func getAllSessions() async throws -> [StoredSession]

    /// One session with its messages in order; `nil` if there is none.
    nonisolated(nonsending) func getSession(id: String) async throws -> StoredSession?

    /// Notes that a session was opened. Nothing happens to one that is not there.
    nonisolated(nonsending) func updateLastAccessed(id: String) async throws

    /// Deletes a session with its messages for good. Nothing happens to one that is not there.
    nonisolated(nonsending) func deleteSession(id: String) async throws

    /// Deletes all sessions for good.
    nonisolated(nonsending) func deleteAllSessions() async throws

    /// Makes the session's transcript these messages, whole or not at all, and moves its `lastAccessedAt`.
    ///
    /// A message whose id is known is edited, others are added where they stand, and those that are missing are removed.
    /// Saving the same messages again changes nothing. A session that is not there is made, so that nothing is lost.
    nonisolated(nonsending) func updateSessionMessages(id: String, messages: [ChatMessage]) async throws

    /// Gives a session another id; its messages move along.
    ///
    /// If there is a session of the new id, the two become one: each message id once, nothing lost, the old session's
    /// messages first. Nothing happens if there is no session of the old id, so trying again is harmless.
    nonisolated(nonsending) func updateSessionId(oldId: String, newId: String) async throws
}
