import Foundation
import RecollectCore

/// Keeps sessions in memory, as plainly as the promises allow.
actor NotebookSessionStorage: SessionStorageProtocol {
    // The bytes of an id: as `String`s, `é` in one code point and `é` in two would be one session.
    private var sessions: [[UInt8]: StoredSession] = [:]

    func saveSession(id: String, firstMessage: String) async throws {
        open(id, firstMessage)
    }

    func getAllSessions() async throws -> [StoredSession] {
        sessions.values.sorted { $0.lastAccessedAt > $1.lastAccessedAt }
    }

    func getSession(id: String) async throws -> StoredSession? {
        sessions[Array(id.utf8)]
    }

    func updateLastAccessed(id: String) async throws {
        sessions[Array(id.utf8)]?.lastAccessedAt = Date()
    }

    func deleteSession(id: String) async throws {
        sessions[Array(id.utf8)] = nil
    }

    func deleteAllSessions() async throws {
        sessions = [:]
    }

    func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
        // From here to the end there is no `await`: nobody comes between, and a cancelled task has saved nothing.
        try Task.checkCancellation()
        open(id, messages.first { $0.role == .user }?.content ?? "")
        sessions[Array(id.utf8)]?.messages = messages
    }

    func updateSessionId(oldId: String, newId: String) async throws {
        guard let old = sessions.removeValue(forKey: Array(oldId.utf8)) else { return }
        let new = sessions[Array(newId.utf8)]
        sessions[Array(newId.utf8)] = StoredSession(
            id: newId, createdAt: old.createdAt, firstUserMessage: old.firstUserMessage, lastAccessedAt: Date(),
            messages: new.map { united(old.messages, $0.messages) } ?? old.messages)
    }

    /// Notes that a session was opened; makes it if it is new.
    private func open(_ id: String, _ firstMessage: String) {
        var session =
            sessions[Array(id.utf8)]
            ?? StoredSession(
                id: id, createdAt: Date(), firstUserMessage: firstMessage, lastAccessedAt: Date(), messages: [])
        session.lastAccessedAt = Date()
        sessions[Array(id.utf8)] = session
    }

    /// The old session's messages first, each id once; where both know an id with other words, both words stay.
    private func united(_ old: [ChatMessage], _ new: [ChatMessage]) -> [ChatMessage] {
        let known = Dictionary(new.map { ($0.id, $0) }) { first, _ in first }
        let beginning = old.flatMap { message -> [ChatMessage] in
            guard let there = known[message.id] else { return [message] }
            if there == message { return [there] }
            var copy = message
            copy.id = UUID()
            return [there, copy]
        }
        let ids = Set(beginning.map(\.id))
        return beginning + new.filter { !ids.contains($0.id) }
    }
}
