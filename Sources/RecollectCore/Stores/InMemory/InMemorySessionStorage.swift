import Foundation

/// A store of sessions in memory, for tests and previews.
///
/// All rules of `SessionStorageProtocol` apply, and the content is lost with the process. Every call runs to its
/// end under one short lock, without waiting for a disk and unaffected by cancellation. Concurrent calls lose no
/// data. Any task can use the store.
public final class InMemorySessionStorage: SessionStorageProtocol, Sendable {
    private struct State {
        var sessions: [ByteString: StoredSession] = [:]
        var clock = SessionClock()
    }

    private let state: Locked<State>
    private let now: @Sendable () -> Date

    /// Creates a store with these sessions.
    public convenience init(_ sessions: [StoredSession] = []) {
        self.init(sessions, now: { Date() })
    }

    init(_ sessions: [StoredSession] = [], now: @escaping @Sendable () -> Date) {
        self.now = now
        var state = State()
        for session in sessions {
            state.sessions[ByteString(session.id)] = session
            state.clock.advance(past: session.lastAccessedAt)
        }
        self.state = Locked(state)
    }

    /// Saves a new session, or records the opening of an existing one.
    nonisolated(nonsending) public func saveSession(id: String, firstMessage: String) async throws {
        state.withLock { state in
            let date = state.clock.next(now: now())
            var session =
                state.sessions[ByteString(id)]
                ?? StoredSession(
                    id: id, createdAt: date, firstUserMessage: firstMessage, lastAccessedAt: date, messages: [])
            if session.firstUserMessage.isEmpty { session = session.with(firstUserMessage: firstMessage) }
            session.lastAccessedAt = date
            state.sessions[ByteString(id)] = session
        }
    }

    /// Returns all sessions, the last accessed first.
    nonisolated(nonsending) public func getAllSessions() async throws -> [StoredSession] {
        var sessions = state.withLock { Array($0.sessions.values) }
        sessions.sortByLastAccess()
        return sessions
    }

    /// Returns a session with its messages in order; `nil` if there is none.
    nonisolated(nonsending) public func getSession(id: String) async throws -> StoredSession? {
        state.withLock { $0.sessions[ByteString(id)] }
    }

    /// Records the opening of a session.
    nonisolated(nonsending) public func updateLastAccessed(id: String) async throws {
        state.withLock { state in
            guard state.sessions[ByteString(id)] != nil else { return }
            state.sessions[ByteString(id)]?.lastAccessedAt = state.clock.next(now: now())
        }
    }

    /// Deletes a session with its messages.
    nonisolated(nonsending) public func deleteSession(id: String) async throws {
        state.withLock { $0.sessions[ByteString(id)] = nil }
    }

    /// Deletes all sessions.
    nonisolated(nonsending) public func deleteAllSessions() async throws {
        state.withLock { $0.sessions = [:] }
    }

    /// Replaces the session's transcript. If an ID occurs more than once, its last content is saved.
    /// - Throws: `tooLarge` for metadata nested deeper than `JSONValue.depthLimit`; then nothing is saved.
    nonisolated(nonsending) public func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
        let messages = messages.eachIdOnce()
        try messages.checkSavable()
        state.withLock { state in
            let date = state.clock.next(now: now())
            var session =
                state.sessions[ByteString(id)]
                ?? StoredSession(
                    id: id, createdAt: date, firstUserMessage: messages.firstUserMessage, lastAccessedAt: date,
                    messages: [])
            if session.firstUserMessage.isEmpty {
                session = session.with(firstUserMessage: messages.firstUserMessage)
            }
            session.lastAccessedAt = date
            session.messages = messages
            state.sessions[ByteString(id)] = session
        }
    }

    /// Changes a session's ID. If the new ID exists, the two sessions are merged.
    nonisolated(nonsending) public func updateSessionId(oldId: String, newId: String) async throws {
        guard !oldId.hasSameBytes(as: newId) else { return }
        state.withLock { state in
            guard let old = state.sessions.removeValue(forKey: ByteString(oldId)) else { return }
            let newer = state.sessions[ByteString(newId)]
            state.sessions[ByteString(newId)] = newer.map(old.joined(to:)) ?? old.with(id: newId)
        }
    }
}
