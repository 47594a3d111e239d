/// The sort key of a message among those of all agents of its session.
///
/// The order of a session is that of `fetchAllChats`: its agents' messages are merged by timestamp, without reordering those
/// of any agent. So the time of a message is the latest timestamp of its agent up to it. Equal times are ordered by the
/// bytes of the agent IDs.
package struct MessageSortKey: Comparable, Sendable {
    /// In milliseconds since 1970.
    package let time: Int64
    package let agentId: ByteString

    package init(time: Int64, agentId: ByteString) {
        self.time = time
        self.agentId = agentId
    }

    package static func < (left: MessageSortKey, right: MessageSortKey) -> Bool {
        left.time == right.time ? left.agentId < right.agentId : left.time < right.time
    }
}
