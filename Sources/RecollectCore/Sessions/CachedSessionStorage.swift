import Foundation

/// Remembers what was read from a slow storage: the list of sessions, and the sessions that were opened last.
///
/// Reads are answered from memory where they can be, and are otherwise passed on. Writes are passed on, and what they touch is
/// forgotten, before and after, whether they succeed or fail: what is remembered has always been read. At most `capacity` messages
/// are remembered; the session that was not opened for longest goes first.
///
/// The storage below must have no other writer, or whoever knows of one calls `forget()`: a history that agents write to tells
/// of it in `changes()`. May be used from any task; calls run at the same time as far as the storage below lets them.
public final class CachedSessionStorage: SessionStorageProtocol, Sendable {
    private let storage: any SessionStorageProtocol & Sendable
    private let capacity: Int
    private let memory = Locked(Memory())

    /// Wraps a storage.
    /// - Parameters:
    ///   - storage: the storage that keeps the sessions.
    ///   - capacity: how many messages are remembered at most.
    public init(wrapping storage: any SessionStorageProtocol & Sendable, capacity: Int = 10_000) {
        self.storage = storage
        self.capacity = capacity
    }

    /// Forgets everything, so that what others wrote is read.
    public func forget() {
        memory.withLock { $0.forgetAll() }
    }

    /// Saves a new session, or notes that a known one was opened.
    public func saveSession(id: String, firstMessage: String) async throws {
        try await write(to: [id]) { try await $0.saveSession(id: id, firstMessage: firstMessage) }
    }

    /// All sessions, the last accessed first.
    public func getAllSessions() async throws -> [StoredSession] {
        let (list, reading) = memory.withLock { ($0.list, $0.changes) }
        // Each caller has a list of its own to read messages from: those are not remembered with the list.
        if let list { return list.map(\.unread) }
        let sessions = try await storage.getAllSessions()
        memory.withLock { memory in
            let held = sessions.reduce(0) { $0 + $1.heldMessageCount }
            if memory.changes == reading, held <= capacity { memory.list = sessions.map(\.unread) }
        }
        return sessions
    }

    /// One session with its messages in order; `nil` if there is none.
    public func getSession(id: String) async throws -> StoredSession? {
        let (known, reading) = memory.withLock { ($0.open(id), $0.changes) }
        if let known { return known }
        guard let session = try await storage.getSession(id: id) else { return nil }
        let count = session.messages.count
        memory.withLock { memory in
            if memory.changes == reading { memory.remember(session, count: count, capacity: capacity) }
        }
        return session
    }

    /// Notes that a session was opened.
    public func updateLastAccessed(id: String) async throws {
        try await write(to: [id]) { try await $0.updateLastAccessed(id: id) }
    }

    /// Deletes a session.
    public func deleteSession(id: String) async throws {
        try await write(to: [id]) { try await $0.deleteSession(id: id) }
    }

    /// Deletes all sessions.
    public func deleteAllSessions() async throws {
        try await write(to: nil) { try await $0.deleteAllSessions() }
    }

    /// Makes the session's transcript these messages.
    public func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
        try await write(to: [id]) { try await $0.updateSessionMessages(id: id, messages: messages) }
    }

    /// Gives a session another id; where there is a session of that id, the two become one.
    public func updateSessionId(oldId: String, newId: String) async throws {
        try await write(to: [oldId, newId]) { try await $0.updateSessionId(oldId: oldId, newId: newId) }
    }

    /// Writes, and forgets these sessions, or all.
    ///
    /// What was read while a write ran may be older than the write, so it is not remembered: every write is a change at its
    /// beginning and at its end.
    private func write(
        to ids: [String]?, _ work: (any SessionStorageProtocol & Sendable) async throws -> Void
    ) async throws {
        memory.withLock { $0.forget(ids) }
        defer { memory.withLock { $0.forget(ids) } }
        try await work(storage)
    }
}

/// What is remembered.
private struct Memory {
    /// All sessions in order, without messages that were read.
    var list: [StoredSession]?
    /// Counts what was written and forgotten.
    private(set) var changes = 0

    private var sessions: [ByteString: (session: StoredSession, count: Int, opened: Int)] = [:]
    private var held = 0
    private var openings = 0

    mutating func open(_ id: String) -> StoredSession? {
        openings += 1
        sessions[ByteString(id)]?.opened = openings
        return sessions[ByteString(id)]?.session
    }

    mutating func remember(_ session: StoredSession, count: Int, capacity: Int) {
        remove(ByteString(session.id))
        // An empty session takes room too.
        let size = max(1, count)
        guard size <= capacity else { return }
        while held + size > capacity, let oldest = sessions.min(by: { $0.value.opened < $1.value.opened }) {
            remove(oldest.key)
        }
        openings += 1
        sessions[ByteString(session.id)] = (session, size, openings)
        held += size
    }

    mutating func forget(_ ids: [String]?) {
        guard let ids else { return forgetAll() }
        changes += 1
        list = nil
        ids.forEach { remove(ByteString($0)) }
    }

    mutating func forgetAll() {
        changes += 1
        list = nil
        sessions = [:]
        held = 0
    }

    private mutating func remove(_ id: ByteString) {
        held -= sessions.removeValue(forKey: id)?.count ?? 0
    }
}
