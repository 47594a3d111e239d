import Foundation
import RecollectFileSystem

/// Compactions in a store without any of its own, as messages of a reserved agent: see `StoredCompaction`.
extension ChatStorage {
    /// Returns the messages of a scope with its compaction, from all messages of the scope.
    public func compactedMessages(userId: String, sessionId: String, agentId: String) async throws -> CompactedMessages
    {
        try await storedMessages(of: Scope(userId: userId, sessionId: sessionId, agentId: agentId)).messages
    }

    /// Saves a compaction as messages of a reserved agent. Compactions saved at the same time are not detected.
    public func compact(
        _ messages: [ConversationMessage], into summary: String, by author: String, after previousId: String?,
        userId: String, sessionId: String, agentId: String
    ) async throws -> Compaction {
        let scope = Scope(userId: userId, sessionId: sessionId, agentId: agentId)
        let (current, previous) = try await storedMessages(of: scope)
        let count = try current.checkCompaction(of: messages, into: summary, after: previousId)
        let (covered, rest) = (current.messages.prefix(count), current.messages.dropFirst(count))
        let compaction = Compaction(
            id: UUID.random().uuidString, summary: summary, author: author, createdAt: Date(),
            lastMessageId: covered.last?.id ?? "", messageCount: (previous?.compaction.messageCount ?? 0) + count,
            previousId: previousId)
        let stored = StoredCompaction(compaction, after: previous, covering: covered, leaving: rest)
        try await saveStored(stored.batch, of: scope, maxMessages: nil)
        // A store that changes messages would pay for every summary and use none.
        guard try await storedCompactions(of: scope, last: 2).last?.compaction.id == compaction.id else {
            throw RecollectError(
                .verificationFailed,
                "the store returned a different summary than was saved; it must store system messages unchanged")
        }
        return compaction
    }

    /// Returns the compactions of a scope from the messages of the reserved agent.
    public func compactions(userId: String, sessionId: String, agentId: String) async throws -> [Compaction] {
        try await storedCompactions(of: Scope(userId: userId, sessionId: sessionId, agentId: agentId), last: nil)
            .map(\.compaction)
    }

    /// Removes a compaction: saves the others again, and trims the reserved agent's messages to them.
    public func removeCompaction(_ id: String, userId: String, sessionId: String, agentId: String) async throws -> Bool
    {
        let scope = Scope(userId: userId, sessionId: sessionId, agentId: agentId)
        let all = try await storedCompactions(of: scope, last: nil)
        let others = all.filter { !$0.compaction.id.hasSameBytes(as: id) }
        guard others.count < all.count else { return false }
        // A batch that is trimmed with all others, for a store that ignores an empty one.
        let batch = others.isEmpty ? Array(all[0].batch.prefix(1)) : others.flatMap(\.batch)
        try await saveStored(batch, of: scope, maxMessages: 2 * others.count)
        return true
    }

    private func storedMessages(of scope: Scope) async throws -> (messages: CompactedMessages, StoredCompaction?) {
        // Read first: the messages read after it include all it covers.
        let stored = try await storedCompactions(of: scope, last: 2).last
        let all = try await fetch(
            userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: nil)
        guard let stored, let isCovered = stored.coverage(of: all) else { return (CompactedMessages(all), nil) }
        return (CompactedMessages(all, compaction: stored.compaction) { isCovered[$0] }, stored)
    }

    private func storedCompactions(of scope: Scope, last count: Int?) async throws -> [StoredCompaction] {
        let scope = StoredCompaction.scope(of: scope)
        return try await fetch(
            userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: count
        ).compactMap(StoredCompaction.init)
    }

    private func saveStored(_ batch: [ConversationMessage], of scope: Scope, maxMessages: Int?) async throws {
        let scope = StoredCompaction.scope(of: scope)
        try await saveMessages(
            batch, userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: maxMessages)
    }
}
