import Foundation
import RecollectCore

/// A session storage's memory of a session's entries.
enum KnownEntries: Sendable {
    /// The transcript as it was shown or saved.
    case whole([ChatMessage])
    /// The hashes of its entries. `inOrder` is false if the order in the history is not known.
    case hashes([EntryHash], inOrder: Bool)

    /// The same without the texts.
    var compact: KnownEntries {
        guard case .whole(let entries) = self else { return self }
        return .hashes(entries.map(EntryHash.init), inOrder: true)
    }

    var hashes: [EntryHash] {
        switch self {
        case .whole(let entries): entries.map(EntryHash.init)
        case .hashes(let hashes, _): hashes
        }
    }

    /// The knowledge after an overlapping save: the content of entries equal in both. Of the others the order
    /// of the commits decides, so only their ids stay known.
    func overlapped(by transcript: [ChatMessage]) -> KnownEntries {
        var others = Dictionary(transcript.map { ($0.id, EntryHash($0)) }, uniquingKeysWith: { $1 })
        let own = hashes.map { hash in
            others.removeValue(forKey: hash.id) == hash ? hash : hash.withoutContent
        }
        return .hashes(own + others.values.map(\.withoutContent), inOrder: false)
    }
}
