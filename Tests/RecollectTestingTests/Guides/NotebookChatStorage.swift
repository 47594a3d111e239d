import RecollectCore

/// Saves chats in memory, with the simplest code for the rules.
actor NotebookChatStorage: ChatStorage {
    // A `Scope` compares bytes. Joined strings or tuples of strings could mix up two users.
    private var pages: [Scope: [ConversationMessage]] = [:]

    func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        let scope = Scope(userId: userId, sessionId: sessionId, agentId: agentId)
        return trimToEvenPairs(pages[scope] ?? [], maxMessages: maxMessages)
    }

    func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await saveMessages(
            [message], userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        // No `await` from here on: no other call runs in between, and a canceled task has saved nothing.
        try Task.checkCancellation()
        let scope = Scope(userId: userId, sessionId: sessionId, agentId: agentId)
        var page = pages[scope] ?? []
        var known = Set(page.map { Array($0.id.utf8) })
        for message in messages where !known.contains(Array(message.id.utf8)) {
            if isConsecutiveSameRole(page, message) { continue }
            page.append(message)
            known.insert(Array(message.id.utf8))
        }
        pages[scope] = trimToEvenPairs(page, maxMessages: maxMessages)
    }

    func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        mergedChats(agents(of: SessionKey(userId: userId, sessionId: sessionId)))
    }

    private func agents(of session: SessionKey) -> [AgentMessages] {
        pages.filter { $0.key.session == session }.map {
            AgentMessages(agentId: $0.key.agentId, messages: $0.value)
        }
    }
}
