import RecollectCore

/// The changes of a session in a history's change feed since its last synchronization.
struct SessionChanges: Sendable {
    private struct Deletion {
        let agent: ByteString
        /// The position of the message; `nil` if unknown.
        let additionCursor: ChangeCursor?
    }

    /// The positions of the messages at the last synchronization.
    private let known: MessagePositions
    /// Whether the history ends before the last synchronization: it was restored from a backup, and its changes since then
    /// are unknown.
    let isBehind: Bool
    /// The deletions of messages by ID.
    private var deletions: [ByteString: [Deletion]] = [:]
    /// The positions of added messages by ID and agent.
    private(set) var additionCursors: MessagePositions = [:]
    /// The IDs of edited and added messages.
    private(set) var edited: Set<ByteString> = []
    /// The IDs of edited messages.
    private(set) var rewritten: Set<ByteString> = []
    /// Whether the session was deleted, and starts over.
    private var isSessionDeleted = false
    /// Whether messages were moved into a branch, or expired, or the session was moved, or it or its user was deleted.
    private(set) var isRearranged = false
    /// Whether all of these changes are deletions of the session by a user.
    private var areDeletions = true
    /// Whether the details may have changed.
    private(set) var isUpdated = false
    /// Whether there are no changes.
    private(set) var isEmpty = true

    /// Creates the changes, to be added in order.
    /// - Parameters:
    ///   - last: The last synchronization; `nil` if there was none.
    ///   - end: The end of the feed.
    init(after last: SynchronizedChat?, to end: ChangeCursor) {
        known = last?.additionCursors ?? [:]
        isBehind = last.map { end < $0.change } ?? false
    }

    /// Adds a change.
    mutating func add(_ change: HistoryChange) {
        isEmpty = false
        let (id, agent) = (ByteString(change.messageId ?? ""), ByteString(change.agentId ?? ""))
        switch change.kind {
        case .messageDeleted:
            deletions[id, default: []].append(Deletion(agent: agent, additionCursor: change.additionCursor))
        case .messageAdded:
            edited.insert(id)
            additionCursors[id, default: [:]][agent] = change.additionCursor
        case .messageEdited:
            edited.insert(id)
            rewritten.insert(id)
        case .sessionUpdated: isUpdated = true
        case .sessionDeleted, .userDeleted:
            isRearranged = true
            isSessionDeleted = true
        case .sessionRearranged:
            isRearranged = true
            areDeletions = false
        default: break
        }
    }

    /// Whether a missing message was deleted for one of its agents.
    /// - Parameter isPending: Whether it may never have been appended.
    func deletes(_ message: ChatProjection.Entry, isPending: Bool) -> Bool {
        message.agents.contains { isDeleted(message, of: $0) } || isRearranged && !isPending
    }

    /// Whether a user deleted a deleted message. Otherwise it may be in a branch or in another session.
    func isByUser(deletionOf message: ChatProjection.Entry) -> Bool {
        message.agents.allSatisfy { isDeleted(message, of: $0) } || isRearranged && areDeletions
    }

    /// Whether a user deleted a message with the ID of a present one before: it was added again.
    func hasBroughtBack(_ message: MessageCopies) -> Bool {
        let known = positions(of: message.id)
        let isNew = message.published.contains { copy in copy.additionCursor.map { !known.contains($0) } ?? false }
        guard isNew, !isSessionDeleted else { return isNew }
        return deletions[message.id, default: []].contains { deletion in
            deletion.additionCursor.map(known.contains) ?? false
        }
    }

    /// Whether a message is no edit of the one at the last synchronization, but another one with its ID: this one expired, for
    /// example, or is in a branch.
    func isNew(_ message: MessageCopies, after old: ChatProjection.Entry) -> Bool {
        let known = positions(of: message.id)
        let isOther = message.published.allSatisfy { copy in copy.additionCursor.map { !known.contains($0) } ?? false }
        return isOther && !known.isEmpty && !isByUser(deletionOf: old)
    }

    private func positions(of id: ByteString) -> Set<ChangeCursor> { Set(known[id, default: [:]].values) }

    /// Whether a user deleted an agent's message. Without its position, any deletion of its ID and agent counts. A message
    /// without an agent may have been assigned to one before.
    private func isDeleted(_ message: ChatProjection.Entry, of agent: String) -> Bool {
        let (id, agent) = (ByteString(message.message.id), ByteString(agent))
        return deletions[id, default: []].contains { deletion in
            guard let additionCursor = deletion.additionCursor, let position = known[id]?[agent] else {
                return deletion.agent == agent || agent == ByteString("")
            }
            return additionCursor == position
        }
    }
}
