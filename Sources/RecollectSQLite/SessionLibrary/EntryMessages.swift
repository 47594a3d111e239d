import Foundation
import RecollectCore

/// The messages of the entries shown or saved by a session storage, by the IDs of the entries.
///
/// An ID alone does not identify a message: after a merge of sessions, a restored branch, or a deletion, another message
/// can have it. Sequence numbers are never reused, and a message keeps its own through edits and moves.
final class EntryMessages: Sendable {
    /// The message of an entry.
    struct Message: Hashable, Sendable {
        private let number: Int64

        /// Creates an entry of a message.
        /// - Parameters:
        ///   - isAlone: Whether the message has no other entry.
        ///   - index: The index of the entry in the message.
        init(_ sequence: SequenceNumber, isAlone: Bool, index: Int = 0) {
            number = sequence.rawValue << 8 | Int64(min(index, 127)) << 1 | (isAlone ? 1 : 0)
        }

        var sequence: SequenceNumber { SequenceNumber(rawValue: number >> 8) }
        var isAlone: Bool { number & 1 == 1 }
        /// The index of the entry in the message, at most 127.
        var index: Int { Int(number >> 1 & 127) }
    }

    private enum Storage {
        case table([UUID: Message])
        /// Sorted by ID. It takes 24 bytes for each entry.
        case list([(id: UUID, message: Message)])

        var table: [UUID: Message] {
            switch self {
            case .table(let table): table
            case .list(let list): Dictionary(uniqueKeysWithValues: list.map { ($0.id, $0.message) })
            }
        }
    }

    private let storage: Locked<Storage>

    init(_ messages: [UUID: Message] = [:]) {
        storage = Locked(.table(messages))
    }

    subscript(_ id: UUID) -> Message? {
        storage.withLock { storage in
            switch storage {
            case .table(let table): return table[id]
            case .list(let list):
                var (low, high) = (0, list.count)
                while low < high {
                    let middle = (low + high) / 2
                    if list[middle].id < id { low = middle + 1 } else { high = middle }
                }
                return low < list.count && list[low].id == id ? list[low].message : nil
            }
        }
    }

    /// Returns the IDs of a message's entries. Examines all entries.
    func ids(of sequence: SequenceNumber) -> [UUID] {
        storage.withLock { storage in
            switch storage {
            case .table(let table): table.filter { $0.value.sequence == sequence }.map(\.key)
            case .list(let list): list.filter { $0.message.sequence == sequence }.map(\.id)
            }
        }
    }

    /// Sets the messages of entries, or removes them.
    func update(with changes: [UUID: Message?]) {
        guard !changes.isEmpty else { return }
        storage.withLock { storage in
            var table = storage.table
            storage = .list([])
            for (id, message) in changes { table[id] = message }
            storage = .table(table)
        }
    }

    /// Returns these messages and those of other entries.
    func merged(with other: EntryMessages) -> EntryMessages {
        let others = other.storage.withLock { $0.table }
        return EntryMessages(storage.withLock { $0.table }.merging(others) { own, _ in own })
    }

    /// Changes to the representation with the least memory.
    func compact() {
        storage.withLock { storage in
            storage = .list(storage.table.map { (id: $0.key, message: $0.value) }.sorted { $0.id < $1.id })
        }
    }
}
