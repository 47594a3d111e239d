import Foundation
import RecollectCore

/// A session's messages as entries, each id once, with the messages that entries belong to whose ids do not tell.
///
/// What several agents hold as one message, under one id with the same role and content, is shown once, where it first stands.
/// Where they hold other content under that id, each is shown: the first under the ids that the message gives its entries, the
/// others under ids derived from those and from the agent.
///
/// Two messages may also come to show one id: an entry is edited while its message is in a branch, and so becomes a message of its
/// own; then the branch is brought back. The entry that has its message's id keeps it, the other is shown under one made of it.
struct Transcript: Sendable {
    /// Which entry of which message an entry is.
    struct Owner: Hashable, Sendable {
        let messageId: String
        /// The agent of the message; of those that are shown as one, the first one's.
        let agentId: String
        /// The id that the message itself gives the entry.
        let entryId: UUID
    }

    private(set) var entries: [ChatMessage] = []
    private(set) var owners: [UUID: Owner] = [:]

    /// Makes the transcript of messages in their order.
    init(_ messages: [AgentMessage]) {
        var shown = ShownMessages()
        for message in messages { shown.add(message) }
        var taken: Set<UUID> = []
        for message in shown.all where message.isFirst {
            taken.formUnion(message.entries.lazy.map(\.id).filter { $0.uuidString == message.id })
        }
        entries.reserveCapacity(shown.all.count)
        for message in shown.all {
            for var entry in message.entries {
                let owner = Owner(messageId: message.id, agentId: message.agentId, entryId: entry.id)
                let hasItsMessagesID = message.isFirst && entry.id.uuidString == message.id
                if !hasItsMessagesID {
                    if !message.isFirst { entry.id = entry.id.derived(for: message.agentId) }
                    while !taken.insert(entry.id).inserted { entry.id = entry.id.derived(for: "") }
                }
                if !hasItsMessagesID || shown.isAmbiguous(message.id) { owners[entry.id] = owner }
                entries.append(entry)
            }
        }
    }
}

/// Messages that are shown, in order.
private struct ShownMessages {
    struct Message {
        let id: String
        let agentId: String
        let entries: [ChatMessage]
        /// Whether no message before it has its id.
        let isFirst: Bool
    }

    private(set) var all: [Message] = []
    /// The places in `all` of the messages of an id.
    private var places: [ByteString: [Int]] = [:]

    /// Takes the next message; one that is shown already is passed over.
    mutating func add(_ message: AgentMessage) {
        let entries = message.message.chatMessages()
        let id = ByteString(message.message.id)
        let others = places[id, default: []]
        if others.contains(where: { all[$0].entries.show(theSameAs: entries) }) { return }
        places[id, default: []].append(all.count)
        all.append(
            Message(
                id: message.message.id, agentId: message.agentId, entries: entries, isFirst: others.isEmpty))
    }

    /// Whether messages of that id are shown that differ.
    func isAmbiguous(_ id: String) -> Bool {
        places[ByteString(id), default: []].count > 1
    }
}

extension [ChatMessage] {
    /// Whether role and content are the same, entry by entry, and so are their ids.
    func show(theSameAs others: [ChatMessage]) -> Bool {
        count == others.count && zip(self, others).allSatisfy { $0.shows(theSameAs: $1) }
    }
}

extension ChatMessage {
    fileprivate func shows(theSameAs other: ChatMessage) -> Bool {
        id == other.id && role == other.role && messageType == other.messageType && toolName == other.toolName
            && content.hasSameBytes(as: other.content) && toolInputData == other.toolInputData
            && attachments.hasSameBytes(as: other.attachments)
    }
}

extension UUID {
    /// The id of another message's entry of this id.
    fileprivate func derived(for agentId: String) -> UUID {
        UUID(name: Array("\(uuidString)\(agentId)".utf8), in: Self.others)
    }

    private static let others = UUID(
        uuid: (0x8E, 0x53, 0x1A, 0xC4, 0x0B, 0x92, 0x4D, 0x6F, 0xA7, 0x35, 0xE8, 0x19, 0x64, 0xBD, 0x20, 0x7C))
}
