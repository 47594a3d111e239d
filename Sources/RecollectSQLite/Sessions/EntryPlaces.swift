import Foundation
import GRDB
import RecollectCore

/// Finds the messages that entries of a transcript belong to.
///
/// Most ids tell themselves: an entry that a UI made is a message of the same id, perhaps in small letters. Those that are made
/// of names are derived from messages, so the conversation is read once when one is met that is not known.
struct EntryPlaces {
    private(set) var owners: [UUID: Transcript.Owner]?
    private var hasRead = false
    let settledThrough: Int64
    private let conversation: Int64
    private let unsettled: UnsettledIDs

    init(conversation: Int64, owners: [UUID: Transcript.Owner]?, unsettled: UnsettledIDs, _ db: Database) throws {
        self.conversation = conversation
        self.owners = owners
        self.unsettled = unsettled
        settledThrough = try db.integer("SELECT \(Settling.through)") ?? 0
        try unsettled.follow(settledThrough: settledThrough, last: db.lastSequence(), db)
    }

    /// The number of the message that an entry belongs to; `nil` for an entry that is new.
    mutating func find(_ id: UUID, _ db: Database) throws -> Int64? {
        if let owner = owners?[id] {
            if let sequence = try sequence(of: owner.messageId, db) { return sequence }
            owners?[id] = nil
        }
        for name in [id.uuidString, id.uuidString.lowercased()] {
            if let sequence = try sequence(of: name, db) { return sequence }
        }
        // What is known may be older than what others have saved since.
        guard id.isNameBased, !hasRead else { return nil }
        let owners = try Transcript(MessageQueries.all(of: conversation, db)).owners
        self.owners = owners
        hasRead = true
        return try owners[id].flatMap { try sequence(of: $0.messageId, db) }
    }

    /// The id that its message gives an entry which was found.
    func ownID(of id: UUID) -> UUID {
        owners?[id]?.entryId ?? id
    }

    /// Makes an entry one that no message has.
    mutating func forgetOwner(of id: UUID) {
        owners?[id] = nil
    }

    private func sequence(of id: String, _ db: Database) throws -> Int64? {
        try unsettled.sequence(of: id, in: conversation, db)
    }
}
