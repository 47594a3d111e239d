extension ChatStorage {
    /// Returns the merged view of a session's agents, for `fetchAllChats` in a custom store.
    ///
    /// Messages are merged by timestamp. Those of each agent keep their order, and those of assistants get the
    /// prefix `[agentId]`.
    /// - Parameter scopes: All agents of the session, in any order, with their messages in the order of saving.
    public func mergedChats(_ scopes: [AgentMessages]) -> [ConversationMessage] {
        MergedChats.merge(scopes)
    }
}

/// The merged view of a session's agents, as returned by `fetchAllChats`.
package enum MergedChats {
    /// Merges scopes by timestamp, keeping the order of each, with the prefix `[agentId]` for assistants.
    ///
    /// Of two next messages with the same timestamp, the agent with the smaller ID in byte order goes first. A
    /// message never moves before an earlier one of its scope, even with an earlier timestamp.
    package static func merge(_ scopes: [AgentMessages]) -> [ConversationMessage] {
        interleave(scopes).map { $0.message.attributed(agentId: $0.agentId) }
    }

    /// Returns the messages in the same order, unchanged and with their agents.
    package static func interleave(
        _ scopes: [AgentMessages]
    ) -> [AgentMessage] {
        let ordered = scopes.sorted { ByteString($0.agentId) < ByteString($1.agentId) }
        var heads = [Int](repeating: 0, count: ordered.count)
        var merged: [AgentMessage] = []
        merged.reserveCapacity(ordered.reduce(0) { $0 + $1.messages.count })
        while true {
            var next: Int?
            for index in ordered.indices where heads[index] < ordered[index].messages.count {
                let candidate = ordered[index].messages[heads[index]].timestamp
                if let best = next, ordered[best].messages[heads[best]].timestamp <= candidate { continue }
                next = index
            }
            guard let next else { return merged }
            merged.append(
                AgentMessage(agentId: ordered[next].agentId, message: ordered[next].messages[heads[next]]))
            heads[next] += 1
        }
    }
}
