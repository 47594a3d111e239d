import RecollectCore

/// Keeps chats in memory, as plainly as the rules allow.
actor NotebookChatStorage: ChatStorage {
    // A `Scope` is compared as bytes; joined strings, or tuples of strings, would let users meet.
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
        // From here to the end there is no `await`: nobody comes between, and a cancelled task has saved nothing.
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
