import Foundation
import RecollectCore

/// Saves sessions in memory, with the simplest code for the promises.
actor NotebookSessionStorage: SessionStorageProtocol {
    // The keys are bytes: for `String`, `é` in one code point and `é` in two are the same key.
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
        // No `await` from here on: no other call runs in between, and a canceled task has saved nothing.
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

    /// Updates the date of last access; creates a new session.
    private func open(_ id: String, _ firstMessage: String) {
        var session =
            sessions[Array(id.utf8)]
            ?? StoredSession(
                id: id, createdAt: Date(), firstUserMessage: firstMessage, lastAccessedAt: Date(), messages: [])
        session.lastAccessedAt = Date()
        sessions[Array(id.utf8)] = session
    }

    /// Merges two transcripts: the old messages first, each ID once, different contents under separate IDs.
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
