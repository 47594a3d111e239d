import Foundation
import RecollectCore

/// A session's messages as entries with unique IDs, with the owners of entries not named by their IDs.
///
/// Messages of several agents with one ID and the same role and content are shown once, at the first one's
/// position. With different content, each one is shown: the first under the entry IDs of its message, the others
/// under IDs derived from those and from the agent.
///
/// Entries of two messages can have one ID: an entry is edited while its message is in a branch, and so becomes a
/// message of its own. Then the branch is restored. The entry with its message's ID keeps it. The other one gets a
/// derived ID.
struct Transcript: Sendable {
    /// The message of an entry, and the entry's ID in it.
    struct Owner: Hashable, Sendable {
        let messageId: String
        /// The agent of the message. For messages shown as one, the agent of the first.
        let agentId: String
        /// The ID of the entry within the message.
        let entryId: UUID
    }

    private(set) var entries: [ChatMessage] = []
    private(set) var owners: [UUID: Owner] = [:]
    /// The messages of the entries, without those of streaming replies.
    private(set) var messages: [UUID: EntryMessages.Message] = [:]

    /// Creates the transcript of messages in order.
    /// - Parameter sequences: The sequence numbers of the first messages.
    init(_ messages: [AgentMessage], sequences: [SequenceNumber] = []) {
        var shown = ShownMessages()
        for (index, message) in messages.enumerated() {
            shown.add(message, sequence: index < sequences.count ? sequences[index] : nil)
        }
        var taken: Set<UUID> = []
        for message in shown.all where message.isFirst {
            taken.formUnion(message.entries.lazy.map(\.id).filter { $0.uuidString == message.id })
        }
        entries.reserveCapacity(shown.all.count)
        for message in shown.all {
            for (index, var entry) in message.entries.enumerated() {
                let owner = Owner(messageId: message.id, agentId: message.agentId, entryId: entry.id)
                let hasItsMessagesID = message.isFirst && entry.id.uuidString == message.id
                if !hasItsMessagesID {
                    if !message.isFirst { entry.id = entry.id.derived(for: message.agentId) }
                    while !taken.insert(entry.id).inserted { entry.id = entry.id.derived(for: "") }
                }
                if !hasItsMessagesID || shown.isAmbiguous(message.id) { owners[entry.id] = owner }
                if let sequence = message.sequence {
                    self.messages[entry.id] = EntryMessages.Message(
                        sequence, isAlone: message.entries.count == 1, index: index)
                }
                entries.append(entry)
            }
        }
    }
}

/// The shown messages, in order.
private struct ShownMessages {
    struct Message {
        let id: String
        let agentId: String
        let sequence: SequenceNumber?
        let entries: [ChatMessage]
        /// Whether no earlier message has its ID.
        let isFirst: Bool
    }

    private(set) var all: [Message] = []
    /// The indices in `all` of the messages with an ID.
    private var positions: [ByteString: [Int]] = [:]

    /// Adds the next message unless an equal one is already shown.
    mutating func add(_ message: AgentMessage, sequence: SequenceNumber?) {
        let entries = message.message.chatMessages()
        let id = ByteString(message.message.id)
        let others = positions[id, default: []]
        if others.contains(where: { all[$0].entries.show(theSameAs: entries) }) { return }
        positions[id, default: []].append(all.count)
        all.append(
            Message(
                id: message.message.id, agentId: message.agentId, sequence: sequence, entries: entries,
                isFirst: others.isEmpty))
    }

    /// Whether messages with this ID and different content are shown.
    func isAmbiguous(_ id: String) -> Bool {
        positions[ByteString(id), default: []].count > 1
    }
}

extension [ChatMessage] {
    /// Whether IDs, roles and content are the same, entry by entry.
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
    /// Returns a derived ID for an entry of another message with this ID.
    fileprivate func derived(for agentId: String) -> UUID {
        UUID(name: Array("\(uuidString)\(agentId)".utf8), in: Self.others)
    }

    private static let others = UUID(
        uuid: (0x8E, 0x53, 0x1A, 0xC4, 0x0B, 0x92, 0x4D, 0x6F, 0xA7, 0x35, 0xE8, 0x19, 0x64, 0xBD, 0x20, 0x7C))
}
