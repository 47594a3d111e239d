import Foundation

/// A cache of the list of sessions and the last opened sessions in front of a slow store.
///
/// Reads return cached content, or are forwarded. Writes are forwarded; the affected sessions and the list are
/// removed from the cache before and after, even if the write fails, so all cached content was read from the store.
/// At most `capacity` messages are cached; the least recently opened session is evicted first.
///
/// The wrapped store must have no other writer, or the app must call `invalidate()` after other writes, for example on
/// `changes()` of a history that agents also write to. Any task can use the cache. The wrapped store limits how
/// many calls run at the same time.
public final class CachedSessionStorage: SessionStorageProtocol, Sendable {
    private let storage: any SessionStorageProtocol & Sendable
    private let capacity: Int
    private let memory = Locked(Memory())

    /// Creates a cache in front of a store.
    /// - Parameters:
    ///   - storage: The store of the sessions.
    ///   - capacity: The maximum number of cached messages.
    public init(wrapping storage: any SessionStorageProtocol & Sendable, capacity: Int = 10_000) {
        self.storage = storage
        self.capacity = capacity
    }

    /// Empties the cache, so that the writes of others are read.
    public func invalidate() {
        memory.withLock { $0.forgetAll() }
    }

    /// Saves a new session, or records the opening of an existing one.
    nonisolated(nonsending) public func saveSession(id: String, firstMessage: String) async throws {
        try await write(to: [id]) { try await $0.saveSession(id: id, firstMessage: firstMessage) }
    }

    /// Returns all sessions, the last accessed first.
    nonisolated(nonsending) public func getAllSessions() async throws -> [StoredSession] {
        let (list, reading) = memory.withLock { ($0.list, $0.changes) }
        // Each caller gets a separate list. Messages read through it are not cached.
        if let list { return list.map(\.unread) }
        let sessions = try await storage.getAllSessions()
        memory.withLock { memory in
            let held = sessions.reduce(0) { $0 + $1.heldMessageCount }
            if memory.changes == reading, held <= capacity { memory.list = sessions.map(\.unread) }
        }
        return sessions
    }

    /// Returns a session with its messages in order; `nil` if there is none.
    nonisolated(nonsending) public func getSession(id: String) async throws -> StoredSession? {
        let (known, reading) = memory.withLock { ($0.open(id), $0.changes) }
        if let known { return known }
        guard let session = try await storage.getSession(id: id) else { return nil }
        let count = session.messages.count
        memory.withLock { memory in
            if memory.changes == reading { memory.remember(session, count: count, capacity: capacity) }
        }
        return session
    }

    /// Records the opening of a session.
    nonisolated(nonsending) public func updateLastAccessed(id: String) async throws {
        try await write(to: [id]) { try await $0.updateLastAccessed(id: id) }
    }

    /// Deletes a session.
    nonisolated(nonsending) public func deleteSession(id: String) async throws {
        try await write(to: [id]) { try await $0.deleteSession(id: id) }
    }

    /// Deletes all sessions.
    nonisolated(nonsending) public func deleteAllSessions() async throws {
        try await write(to: nil) { try await $0.deleteAllSessions() }
    }

    /// Replaces the session's transcript.
    nonisolated(nonsending) public func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
        try await write(to: [id]) { try await $0.updateSessionMessages(id: id, messages: messages) }
    }

    /// Changes a session's ID. If the new ID exists, the two sessions are merged.
    nonisolated(nonsending) public func updateSessionId(oldId: String, newId: String) async throws {
        try await write(to: [oldId, newId]) { try await $0.updateSessionId(oldId: oldId, newId: newId) }
    }

    /// Writes, and removes these sessions, or all, from the cache.
    ///
    /// A read during a write may return older content, so its result is not cached: every write counts as a change
    /// at its beginning and at its end.
    nonisolated(nonsending) private func write(
        to ids: [String]?, _ work: nonisolated(nonsending) (any SessionStorageProtocol & Sendable) async throws -> Void
    ) async throws {
        memory.withLock { $0.forget(ids) }
        defer { memory.withLock { $0.forget(ids) } }
        try await work(storage)
    }
}

/// The content of the cache.
private struct Memory {
    /// All sessions in order, without messages that were read.
    var list: [StoredSession]?
    /// The number of writes and cache removals.
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
        // An empty session also takes space.
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
