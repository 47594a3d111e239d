import RecollectCore

/// Compactions, with their faults.
extension FaultyChatStorage {
    func compact(
        _ messages: [ConversationMessage], into summary: String, by author: String, after previousId: String?,
        userId: String, sessionId: String, agentId: String
    ) async throws -> Compaction {
        let plain = PlainChatStorage(base: self)
        var previousId = previousId
        if fault == .compactsAfterAnything {
            previousId = try await plain.compactions(userId: userId, sessionId: sessionId, agentId: agentId).last?.id
        }
        let compaction = try await plain.compact(
            messages, into: summary, by: author, after: previousId, userId: userId, sessionId: sessionId,
            agentId: agentId)
        if fault == .dropsCompactedMessages {
            try await saveMessages([], userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: 2)
        }
        return compaction
    }

    func removeCompaction(_ id: String, userId: String, sessionId: String, agentId: String) async throws -> Bool {
        if fault == .keepsRemovedCompactions { return true }
        return try await PlainChatStorage(base: self).removeCompaction(
            id, userId: userId, sessionId: sessionId, agentId: agentId)
    }
}

/// A storage with the four required methods of another one, and the defaults of the others.
struct PlainChatStorage: ChatStorage {
    let base: FaultyChatStorage

    func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        try await base.fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await base.save(
            message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await base.saveMessages(
            messages, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await base.fetchAllChats(userId: userId, sessionId: sessionId)
    }
}
