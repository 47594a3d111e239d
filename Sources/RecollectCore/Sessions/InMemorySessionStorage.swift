import Foundation

/// Keeps sessions in memory, for tests and previews.
///
/// All that `SessionStorageProtocol` promises holds; what is here is gone with the process. Nothing waits for a disk, so every
/// call runs to its end under one short lock: concurrent calls lose nothing, and cancellation has nothing to interrupt. May be
/// used from any task.
public final class InMemorySessionStorage: SessionStorageProtocol, Sendable {
    private struct State {
        var sessions: [ByteString: StoredSession] = [:]
        var clock = SessionClock()
    }

    private let state: Locked<State>
    private let now: @Sendable () -> Date

    /// Makes a storage that holds these sessions.
    public convenience init(_ sessions: [StoredSession] = []) {
        self.init(sessions, now: { Date() })
    }

    init(_ sessions: [StoredSession] = [], now: @escaping @Sendable () -> Date) {
        self.now = now
        var state = State()
        for session in sessions {
            state.sessions[ByteString(session.id)] = session
            state.clock.see(session.lastAccessedAt)
        }
        self.state = Locked(state)
    }

    /// Saves a new session, or notes that a known one was opened.
    public func saveSession(id: String, firstMessage: String) async throws {
        state.withLock { state in
            let moment = state.clock.next(now: now())
            var session =
                state.sessions[ByteString(id)]
                ?? StoredSession(
                    id: id, createdAt: moment, firstUserMessage: firstMessage, lastAccessedAt: moment, messages: [])
            if session.firstUserMessage.isEmpty { session = session.with(firstUserMessage: firstMessage) }
            session.lastAccessedAt = moment
            state.sessions[ByteString(id)] = session
        }
    }

    /// All sessions, the last accessed first.
    public func getAllSessions() async throws -> [StoredSession] {
        var sessions = state.withLock { Array($0.sessions.values) }
        sessions.sortByLastAccess()
        return sessions
    }

    /// One session with its messages in order; `nil` if there is none.
    public func getSession(id: String) async throws -> StoredSession? {
        state.withLock { $0.sessions[ByteString(id)] }
    }

    /// Notes that a session was opened.
    public func updateLastAccessed(id: String) async throws {
        state.withLock { state in
            guard state.sessions[ByteString(id)] != nil else { return }
            state.sessions[ByteString(id)]?.lastAccessedAt = state.clock.next(now: now())
        }
    }

    /// Deletes a session with its messages.
    public func deleteSession(id: String) async throws {
        state.withLock { $0.sessions[ByteString(id)] = nil }
    }

    /// Deletes all sessions.
    public func deleteAllSessions() async throws {
        state.withLock { $0.sessions = [:] }
    }

    /// Makes the session's transcript these messages; of an id that is given twice, the last content counts.
    /// - Throws: `tooLarge` for metadata nested deeper than `JSONValue.depthLimit`; then nothing is saved.
    public func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
        let messages = messages.eachIdOnce()
        try messages.checkSavable()
        state.withLock { state in
            let moment = state.clock.next(now: now())
            var session =
                state.sessions[ByteString(id)]
                ?? StoredSession(
                    id: id, createdAt: moment, firstUserMessage: messages.firstUserMessage, lastAccessedAt: moment,
                    messages: [])
            if session.firstUserMessage.isEmpty {
                session = session.with(firstUserMessage: messages.firstUserMessage)
            }
            session.lastAccessedAt = moment
            session.messages = messages
            state.sessions[ByteString(id)] = session
        }
    }

    /// Gives a session another id; where there is a session of that id, the two become one.
    public func updateSessionId(oldId: String, newId: String) async throws {
        guard !oldId.hasSameBytes(as: newId) else { return }
        state.withLock { state in
            guard let old = state.sessions.removeValue(forKey: ByteString(oldId)) else { return }
            let newer = state.sessions[ByteString(newId)]
            state.sessions[ByteString(newId)] = newer.map(old.joined(to:)) ?? old.with(id: newId)
        }
    }
}
