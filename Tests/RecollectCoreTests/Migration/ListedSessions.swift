import Foundation

@testable import RecollectCore

/// A session storage as an app may write one; it counts its writes and can fail.
final class ListedSessions: SessionStorageProtocol, Sendable {
    private struct State {
        var sessions: [StoredSession] = []
        var writes = 0
        var now = Date(millisecondsSince1970: 1_800_000_000_000)
    }

    private let state = Locked(State())
    /// Changes a message when it is saved.
    private let keeping: @Sendable (ChatMessage) -> ChatMessage
    /// Runs before each write, and fails the write by throwing.
    private let beforeWrite: @Sendable () throws -> Void

    init(
        keeping: @escaping @Sendable (ChatMessage) -> ChatMessage = { $0 },
        beforeWrite: @escaping @Sendable () throws -> Void = {}
    ) {
        self.keeping = keeping
        self.beforeWrite = beforeWrite
    }

    var writes: Int { state.withLock { $0.writes } }

    func saveSession(id: String, firstMessage: String) async throws {
        try write { state in
            guard !state.sessions.contains(where: { $0.id == id }) else { return }
            state.sessions.append(
                StoredSession(
                    id: id, createdAt: state.now, firstUserMessage: firstMessage, lastAccessedAt: state.now,
                    messages: []))
        }
    }

    func getAllSessions() async throws -> [StoredSession] {
        state.withLock { $0.sessions.sorted { $0.lastAccessedAt > $1.lastAccessedAt } }
    }

    func getSession(id: String) async throws -> StoredSession? {
        state.withLock { $0.sessions.first { $0.id == id } }
    }

    func updateLastAccessed(id: String) async throws {
        try update(id) { _ in }
    }

    func deleteSession(id: String) async throws {
        try write { $0.sessions.removeAll { $0.id == id } }
    }

    func deleteAllSessions() async throws {
        try write { $0.sessions = [] }
    }

    func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
        try update(id) { $0.messages = messages.map(keeping) }
    }

    func updateSessionId(oldId: String, newId: String) async throws {
        throw StorageError.sessionNotFound(oldId)
    }

    private func update(_ id: String, _ body: (inout StoredSession) -> Void) throws {
        try write { state in
            guard let index = state.sessions.firstIndex(where: { $0.id == id }) else { return }
            state.sessions[index].lastAccessedAt = state.now
            body(&state.sessions[index])
        }
    }

    private func write(_ body: (inout State) -> Void) throws {
        try beforeWrite()
        state.withLock { state in
            state.writes += 1
            state.now += 0.001
            body(&state)
        }
    }
}

extension SessionStorageProtocol {
    /// Saves a session with its messages.
    nonisolated(nonsending) func add(_ id: String, _ messages: [ChatMessage], first: String = "hello") async throws {
        try await saveSession(id: id, firstMessage: first)
        try await updateSessionMessages(id: id, messages: messages)
    }

    /// The ids of all sessions with their messages, in the list's order.
    nonisolated(nonsending) func contents() async throws -> [(id: String, messages: [ChatMessage])] {
        try await getAllSessions().map { ($0.id, $0.messages) }
    }
}

/// Chat messages, a second apart.
func chats(_ range: Range<Int>) -> [ChatMessage] {
    range.map {
        ChatMessage(
            role: $0.isMultiple(of: 2) ? .user : .assistant, content: "text \($0)",
            timestamp: Date(millisecondsSince1970: 1_700_000_000_000 + Int64($0) * 1000))
    }
}
