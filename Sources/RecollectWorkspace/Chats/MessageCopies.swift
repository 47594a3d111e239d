import RecollectCore

/// The messages of one ID in a history. Agents may have different ones; one of them is in the session's file.
struct MessageCopies: Sendable {
    let id: ByteString
    /// The messages of all agents, in order; at least one.
    let all: [StoredMessage]
    /// The message in the file. The others stay in the history alone.
    let message: ConversationMessage
    /// The canonical JSON text of the message.
    let content: ByteString
    /// The message of each agent having it.
    let published: [StoredMessage]
    /// The agents with the message.
    var agents: [String] { published.map(\.agentId) }
    /// Whether the file has the message of another agent, missing in the history. None of these is an edit of it.
    let areOthers: Bool

    /// Creates the messages of one ID.
    /// - Parameters:
    ///   - old: The message in the file at the last synchronization.
    ///   - replaced: The states of the deleted message, which may come back.
    fileprivate init(_ all: [StoredMessage], after old: ChatProjection.Entry?, replaced: Set<String>) {
        let contents = all.map(\.message.json)
        var index = contents.firstIndex { ChatRevision.hasState(of: $0, in: replaced) }
        if let old {
            // An earlier state may be another agent's, as in a restored branch. It is no edit.
            index =
                contents.firstIndex(of: old.content)
                ?? all.indices.first { old.concerns([all[$0].agentId]) && !old.revision.has(contents[$0]) }
                ?? contents.firstIndex(where: old.revision.has)
        }
        areOthers = old != nil && index == nil
        id = ByteString(all[0].message.id)
        self.all = all
        message = all[index ?? 0].message
        let content = contents[index ?? 0]
        self.content = content
        published = zip(all, contents).filter { $0.1 == content }.map(\.0)
    }
}

extension [StoredMessage] {
    /// Returns the messages of a history by ID, in the order of their first ones.
    /// - Parameter last: The state at the last synchronization; `nil` if there was none.
    func copies(after last: SynchronizedChat?) -> [MessageCopies] {
        let (known, replaced) = (last?.known ?? [:], last?.replaced ?? [:])
        return grouped { ByteString($0.message.id) }.map { all in
            let id = ByteString(all[0].message.id)
            return MessageCopies(all, after: known[id], replaced: replaced[id] ?? [])
        }
    }
}

extension Array {
    /// Returns the elements of the same key together, in the order of their first ones.
    func grouped(by key: (Element) -> ByteString) -> [[Element]] {
        var groups: [[Element]] = []
        var positions: [ByteString: Int] = [:]
        for element in self {
            let key = key(element)
            if let position = positions[key] {
                groups[position].append(element)
            } else {
                positions[key] = groups.count
                groups.append([element])
            }
        }
        return groups
    }
}

extension [MessageCopies] {
    /// The positions of all messages.
    var positions: MessagePositions {
        var positions: MessagePositions = [:]
        for copies in self {
            for copy in copies.all {
                positions[copies.id, default: [:]][ByteString(copy.agentId)] = copy.additionCursor
            }
        }
        return positions
    }
}

/// The positions of messages in a history's change feed, by ID and agent (`StoredMessage.additionCursor`).
typealias MessagePositions = [ByteString: [ByteString: ChangeCursor]]
