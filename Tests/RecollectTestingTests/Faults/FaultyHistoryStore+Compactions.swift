import Recollect

/// Compactions, with their faults.
extension FaultyHistoryStore {
    func compact(
        _ messages: [ConversationMessage], of scope: Scope, into summary: String, by author: String,
        after previousId: String?
    ) async throws -> Compaction {
        let scope = saved(scope)
        do {
            let compaction = try await base.compact(
                messages, of: scope, into: summary, by: author, after: previousId)
            memory.withLock { $0.compactions.append((scope, compaction)) }
            return compaction
        } catch {
            let last = memory.withLock { $0.compactions.last?.compaction }
            guard fault == .hidesConflicts, let last else { throw error }
            return last
        }
    }

    func compactedMessages(of scope: Scope) async throws -> CompactedMessages {
        try await base.compactedMessages(of: saved(scope))
    }

    func compactions(of scope: Scope) async throws -> [Compaction] {
        guard fault == .keepsSummariesOfDeleted else { return try await base.compactions(of: saved(scope)) }
        return memory.withLock { $0.compactions.map(\.compaction) }
    }

    func removeCompaction(_ id: String, of scope: Scope) async throws -> Bool {
        try await base.removeCompaction(id, of: saved(scope))
    }

    /// Removes the compactions of all agents of a session.
    func removeCompactions(in session: SessionKey) async throws {
        for agent in try await base.session(session)?.agentIds ?? [] {
            let scope = session.scope(agentId: agent)
            for compaction in try await base.compactions(of: scope) {
                try await base.removeCompaction(compaction.id, of: scope)
            }
        }
    }

    private func saved(_ scope: Scope) -> Scope { saved(scope.session).scope(agentId: scope.agentId) }
}
