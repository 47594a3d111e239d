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
        merged(with: transcript.map(EntryHash.init)) { $0.withoutContent }
    }

    /// The knowledge of a session after a merge of two sessions.
    func united(with other: KnownEntries) -> KnownEntries {
        merged(with: other.hashes) { $0 }
    }

    /// Keeps equal entries, and the ids alone of differing ones.
    private func merged(with others: [EntryHash], ofOne: (EntryHash) -> EntryHash) -> KnownEntries {
        var others = Dictionary(others.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        var merged = hashes.map { hash in
            guard let other = others.removeValue(forKey: hash.id) else { return ofOne(hash) }
            return other == hash ? hash : hash.withoutContent
        }
        merged += others.values.map(ofOne)
        return .hashes(merged, inOrder: false)
    }
}
