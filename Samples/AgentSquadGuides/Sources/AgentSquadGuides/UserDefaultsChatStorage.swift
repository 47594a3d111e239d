// The whole sample of the guide "Custom storage", unchanged: imports and layout are its own.
// swift-format-ignore-file

import Foundation
import AgentSquad

/// A UserDefaults-backed ChatStorage. Each (userId, sessionId, agentId) scope is
/// stored as a JSON-encoded array under a compound key.
/// Not recommended for large histories — swap the read/write body for your real backend.
public actor UserDefaultsChatStorage: ChatStorage {

    private let defaults: UserDefaults
    private let encoder: JSONEncoder
    private let decoder: JSONDecoder

    public init(suiteName: String? = nil) {
        self.defaults = UserDefaults(suiteName: suiteName) ?? .standard
        self.encoder = JSONEncoder()
        // Pin the date strategy — required for stable round-trips across versions.
        self.encoder.dateEncodingStrategy = .millisecondsSince1970
        self.decoder = JSONDecoder()
        self.decoder.dateDecodingStrategy = .millisecondsSince1970
    }

    // MARK: - ChatStorage

    public func fetch(
        userId: String,
        sessionId: String,
        agentId: String,
        maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        let all = try load(userId: userId, sessionId: sessionId, agentId: agentId)
        return trimToEvenPairs(all, maxMessages: maxMessages)
    }

    public func save(
        _ message: ConversationMessage,
        userId: String,
        sessionId: String,
        agentId: String,
        maxMessages: Int?
    ) async throws {
        try await saveMessages(
            [message],
            userId: userId,
            sessionId: sessionId,
            agentId: agentId,
            maxMessages: maxMessages
        )
    }

    public func saveMessages(
        _ messages: [ConversationMessage],
        userId: String,
        sessionId: String,
        agentId: String,
        maxMessages: Int?
    ) async throws {
        var stored = try load(userId: userId, sessionId: sessionId, agentId: agentId)
        for message in messages where !isConsecutiveSameRole(stored, message) {
            stored.append(message)
        }
        // Trim before persisting so the store never grows unbounded.
        stored = trimToEvenPairs(stored, maxMessages: maxMessages)
        try persist(stored, userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// Returns a merged, timestamp-ordered view across all scopes for the session,
    /// with assistant messages prefixed `[agentId]` for Classifier attribution.
    public func fetchAllChats(
        userId: String,
        sessionId: String
    ) async throws -> [ConversationMessage] {
        // Enumerate every stored key that belongs to this (userId, sessionId).
        let prefix = scopeKey(userId: userId, sessionId: sessionId, agentId: "")
        let agentIds: [String] = defaults.dictionaryRepresentation().keys
            .filter { $0.hasPrefix(prefix) }
            .map { String($0.dropFirst(prefix.count)) }

        var all: [ConversationMessage] = []
        for agentId in agentIds {
            let messages = try load(userId: userId, sessionId: sessionId, agentId: agentId)
            all += messages.map { $0.attributed(agentId: agentId) }
        }
        return all.sorted { $0.timestamp < $1.timestamp }
    }

    // MARK: - Private helpers

    private func scopeKey(userId: String, sessionId: String, agentId: String) -> String {
        "AgentSquad.\(userId).\(sessionId).\(agentId)"
    }

    private func load(userId: String, sessionId: String, agentId: String) throws -> [ConversationMessage] {
        let key = scopeKey(userId: userId, sessionId: sessionId, agentId: agentId)
        guard let data = defaults.data(forKey: key) else { return [] }
        return try decoder.decode([ConversationMessage].self, from: data)
    }

    private func persist(_ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String) throws {
        let key = scopeKey(userId: userId, sessionId: sessionId, agentId: agentId)
        let data = try encoder.encode(messages)
        defaults.set(data, forKey: key)
    }
}
