import Foundation
import RecollectCore

/// A session storage's memory of a session's entries.
enum KnownChatMessages: Sendable {
    /// The transcript as it was shown or saved.
    case whole([ChatMessage])
    /// The hashes of its entries. `inOrder` is false if the order in the history is unknown.
    case hashes([ChatMessageHash], inOrder: Bool)

    /// The same entries without their texts.
    var compact: KnownChatMessages {
        guard case .whole(let entries) = self else { return self }
        return .hashes(entries.map(ChatMessageHash.init), inOrder: true)
    }

    var hashes: [ChatMessageHash] {
        switch self {
        case .whole(let entries): entries.map(ChatMessageHash.init)
        case .hashes(let hashes, _): hashes
        }
    }

    var ids: [UUID] {
        switch self {
        case .whole(let entries): entries.map(\.id)
        case .hashes(let hashes, _): hashes.map(\.id)
        }
    }

    /// Returns the entry with an ID.
    subscript(_ id: UUID) -> KnownChatMessage? {
        // Most changed entries are among the last ones.
        switch self {
        case .whole(let entries):
            entries.last { $0.id == id }.map { KnownChatMessage(hash: ChatMessageHash($0), entry: $0) }
        case .hashes(let hashes, _):
            hashes.last { $0.id == id }.map { KnownChatMessage(hash: $0, entry: nil) }
        }
    }

    /// Returns these entries and those of another session merged with this one. An entry of both has the hashes of both,
    /// its own last: a window may have either content.
    func merged(with other: KnownChatMessages) -> KnownChatMessages {
        let own = hashes
        let known = Set(own)
        return .hashes(other.hashes.filter { !known.contains($0) } + own, inOrder: false)
    }
}
