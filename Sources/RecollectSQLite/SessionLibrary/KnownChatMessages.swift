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

    /// Returns the hash of the entry with an ID.
    func hash(of id: UUID) -> ChatMessageHash? {
        switch self {
        case .whole(let entries): entries.last { $0.id == id }.map(ChatMessageHash.init)
        case .hashes(let hashes, _): hashes.last { $0.id == id }
        }
    }

    /// Returns the entry with an ID; `nil` if it is unknown, or only its hash is known.
    func entry(_ id: UUID) -> ChatMessage? {
        // Most changed entries are among the last ones.
        if case .whole(let entries) = self { entries.last { $0.id == id } } else { nil }
    }

    /// Returns the entries known after an overlapping save: the content of entries equal in both. The content of
    /// the others depends on the order of the commits, so only their IDs stay known.
    func overlapped(by transcript: [ChatMessage]) -> KnownChatMessages {
        var others = Dictionary(transcript.map { ($0.id, ChatMessageHash($0)) }, uniquingKeysWith: { $1 })
        let own = hashes.map { hash in
            others.removeValue(forKey: hash.id) == hash ? hash : hash.withoutContent
        }
        return .hashes(own + others.values.map(\.withoutContent), inOrder: false)
    }
}
