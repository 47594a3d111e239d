extension ChatStorage {
    /// The merged view of a session's agents, for `fetchAllChats` of a store of your own: merged by timestamp without
    /// reordering any agent's messages, with what assistants said prefixed `[agentId]`.
    ///
    /// - Parameter scopes: every agent of the session with its messages in the order of saving; the agents in any order.
    public func mergedChats(_ scopes: [(agentId: String, messages: [ConversationMessage])]) -> [ConversationMessage] {
        MergedChats.merge(scopes)
    }
}

/// The merged view of a session's agents, as `fetchAllChats` gives it.
package enum MergedChats {
    /// Merges the scopes by timestamp without reordering any of them, and prefixes what assistants said with `[agentId]`.
    ///
    /// Of two heads with the same timestamp the agent whose id comes first in bytes goes first. A message never moves before
    /// one that its own scope holds earlier, even if its clock says so.
    package static func merge(_ scopes: [(agentId: String, messages: [ConversationMessage])]) -> [ConversationMessage] {
        interleave(scopes).map { $0.message.attributed(agentId: $0.agentId) }
    }

    /// The same order, each message as it is and with its agent.
    package static func interleave(
        _ scopes: [(agentId: String, messages: [ConversationMessage])]
    ) -> [(agentId: String, message: ConversationMessage)] {
        let ordered = scopes.sorted { ByteString($0.agentId) < ByteString($1.agentId) }
        var heads = [Int](repeating: 0, count: ordered.count)
        var merged: [(agentId: String, message: ConversationMessage)] = []
        merged.reserveCapacity(ordered.reduce(0) { $0 + $1.messages.count })
        while true {
            var next: Int?
            for index in ordered.indices where heads[index] < ordered[index].messages.count {
                let candidate = ordered[index].messages[heads[index]].timestamp
                if let best = next, ordered[best].messages[heads[best]].timestamp <= candidate { continue }
                next = index
            }
            guard let next else { return merged }
            merged.append((ordered[next].agentId, ordered[next].messages[heads[next]]))
            heads[next] += 1
        }
    }
}
