import Foundation
import RecollectCore

/// A session's messages as entries, each id once, with the messages that entries belong to whose ids do not tell.
///
/// Two messages may come to show one id: an entry is edited while its message is in a branch, and so becomes a message of its own;
/// then the branch is brought back. The entry that has its message's id keeps it, the other is shown under one made of it.
struct Transcript: Sendable {
    /// Which entry of which message an entry is.
    struct Owner: Hashable, Sendable {
        let messageId: String
        /// The id that the message itself gives the entry.
        let entryId: UUID
    }

    private(set) var entries: [ChatMessage] = []
    private(set) var owners: [UUID: Owner] = [:]

    init(_ messages: [ConversationMessage]) {
        let shown = messages.map { (id: $0.id, entries: $0.chatMessages()) }
        var taken = Set(shown.flatMap { message in message.entries.map(\.id).filter { $0.uuidString == message.id } })
        entries.reserveCapacity(shown.count)
        for message in shown {
            for var entry in message.entries {
                if entry.id.uuidString != message.id {
                    let owner = Owner(messageId: message.id, entryId: entry.id)
                    while !taken.insert(entry.id).inserted {
                        entry.id = UUID(name: entry.id.uuidString.utf8, in: Self.others)
                    }
                    owners[entry.id] = owner
                }
                entries.append(entry)
            }
        }
    }

    private static let others = UUID(
        uuid: (0x8E, 0x53, 0x1A, 0xC4, 0x0B, 0x92, 0x4D, 0x6F, 0xA7, 0x35, 0xE8, 0x19, 0x64, 0xBD, 0x20, 0x7C))
}
