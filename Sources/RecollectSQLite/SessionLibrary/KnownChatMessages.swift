import Foundation
import RecollectCore

/// An entry as last shown or saved by a session storage.
struct KnownChatMessage: Sendable {
    let hash: ChatMessageHash
    /// The entry in full, or `nil` if only its hashes are known.
    let entry: ChatMessage?

    /// Whether the text, the role, the type and the tool of an entry are the same.
    func hasSameContent(as other: ChatMessage) -> Bool { hash.hasSameContent(as: ChatMessageHash(other)) }
}

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

    /// Returns the entry with an ID, or `nil` if its fields are unknown.
    subscript(_ id: UUID) -> KnownChatMessage? {
        // Most changed entries are among the last ones.
        switch self {
        case .whole(let entries):
            entries.last { $0.id == id }.map { KnownChatMessage(hash: ChatMessageHash($0), entry: $0) }
        case .hashes(let hashes, _):
            hashes.last { $0.id == id && $0.hasFields }.map { KnownChatMessage(hash: $0, entry: nil) }
        }
    }

    /// Returns these entries and those of another session merged with this one.
    func merged(with other: KnownChatMessages) -> KnownChatMessages {
        let own = hashes
        let ids = Set(own.map(\.id))
        return .hashes(own + other.hashes.filter { !ids.contains($0.id) }, inOrder: false)
    }

    /// Returns the entries known after a save that overlapped with others.
    ///
    /// A save writes only its own changes. So an entry is known as one of the saves left it, if the others did not change
    /// it. Of an entry changed by several saves, only the ID is known, as the content depends on the order of the commits.
    /// - Parameters:
    ///   - transcript: The transcript of the save.
    ///   - base: The entries known at its beginning; `nil` if the session was deleted meanwhile.
    func overlapped(by transcript: [ChatMessage], since base: KnownChatMessages?) -> KnownChatMessages {
        func byID(_ hashes: [ChatMessageHash]) -> [UUID: ChatMessageHash] {
            Dictionary(hashes.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        }
        let (own, saved, before) = (hashes, transcript.map(ChatMessageHash.init), base.map { byID($0.hashes) })
        let (ownByID, savedByID) = (byID(own), byID(saved))
        let all = own + saved.filter { ownByID[$0.id] == nil }
        return .hashes(
            all.compactMap { hash in
                let (one, other) = (ownByID[hash.id], savedByID[hash.id])
                if one == other { return one }
                guard let before else { return hash.withoutFields }
                if other == before[hash.id] { return one }
                return one == before[hash.id] ? other : hash.withoutFields
            }, inOrder: false)
    }
}
