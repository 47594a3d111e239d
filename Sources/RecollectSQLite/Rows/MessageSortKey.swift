import RecollectCore

/// The sort key of a message among those of all agents of its session.
///
/// The order of a session is that of `fetchAllChats`: its agents' messages are merged by timestamp, without reordering those
/// of any agent. So the time of a message is the latest timestamp of its agent up to it. Equal times are ordered by the
/// bytes of the agent IDs.
struct MessageSortKey: Comparable {
    /// In milliseconds since 1970.
    let time: Int64
    let agentId: ByteString

    /// The time of a key, in SQL.
    static let time = "ifnull(message.placed_at, message.timestamp)"

    static func < (left: MessageSortKey, right: MessageSortKey) -> Bool {
        left.time == right.time ? left.agentId < right.agentId : left.time < right.time
    }
}
