import Foundation
import GRDB
import RecollectCore

/// Finds the messages that entries of a transcript belong to.
///
/// Most ids tell themselves: an entry that a UI made is a message of the same id, perhaps in small letters. Those that are made
/// of names are derived from messages, so the conversation is read once when one is met that is not known.
struct EntryPlaces {
    /// The messages that are shown as one entry, or as several that belong together.
    struct Place {
        /// The number of the first.
        let message: Int64
        /// The numbers of those that other agents hold and that show the same, in order.
        var copies: [Int64] = []

        var all: [Int64] { [message] + copies }
    }

    private(set) var owners: [UUID: Transcript.Owner]?
    private var hasRead = false
    let settledThrough: Int64
    private let conversation: Int64
    private var scopes: [Int64] = []
    private let unsettled: UnsettledIDs

    init(conversation: Int64, owners: [UUID: Transcript.Owner]?, unsettled: UnsettledIDs, _ db: Database) throws {
        self.conversation = conversation
        self.owners = owners
        self.unsettled = unsettled
        settledThrough = try db.integer("SELECT \(Settling.through)") ?? 0
        try unsettled.follow(FeedState(db), db)
        try readScopes(db)
    }

    /// Takes in scopes that were made since.
    mutating func readScopes(_ db: Database) throws {
        scopes = try ConversationQueries.scopes(of: conversation, db).map(\.number)
    }

    /// Where the message lies that an entry belongs to; `nil` for an entry that is new.
    mutating func find(_ id: UUID, _ db: Database) throws -> Place? {
        if let owner = owners?[id] {
            if let place = try place(of: owner, db) { return place }
            owners?[id] = nil
        }
        for name in [id.uuidString, id.uuidString.lowercased()] {
            if let place = try place(of: name, db, where: { _ in true }) { return place }
        }
        // What is known may be older than what others have saved since.
        guard id.isNameBased, !hasRead else { return nil }
        let owners = try Transcript(MessageQueries.all(of: conversation, db)).owners
        self.owners = owners
        hasRead = true
        return try owners[id].flatMap { try place(of: $0, db) }
    }

    /// The id that its message gives an entry which was found.
    func ownID(of id: UUID) -> UUID {
        owners?[id]?.entryId ?? id
    }

    /// Makes an entry one that no message has.
    mutating func forgetOwner(of id: UUID) {
        owners?[id] = nil
    }

    private func place(of owner: Transcript.Owner, _ db: Database) throws -> Place? {
        let own = try place(of: owner.messageId, db) { $0.hasSameBytes(as: owner.agentId) }
        guard own == nil, owner.agentId.isEmpty else { return own }
        // An agent has taken it over.
        return try place(of: owner.messageId, db) { !isKnown(owner.messageId, of: $0) }
    }

    /// The first message of that id whose agent is meant, with those that show the same and are no known entry of their own.
    private func place(
        of id: String, _ db: Database, where isMeant: (_ agentId: String) -> Bool
    ) throws -> Place? {
        let sequences = try unsettled.sequences(of: id, in: conversation, scopes: scopes, db)
        let messages = try sequences.compactMap { sequence in
            try MessageQueries.agent(of: sequence, db).map { (sequence: sequence, agentId: $0) }
        }
        guard let own = messages.first(where: { isMeant($0.agentId) }) else { return nil }
        let others = messages.filter { $0.sequence != own.sequence && !isKnown(id, of: $0.agentId) }
        guard !others.isEmpty, let shown = try entries(of: own.sequence, db) else {
            return Place(message: own.sequence)
        }
        let copies = try others.filter { try entries(of: $0.sequence, db)?.show(theSameAs: shown) == true }
        return Place(message: own.sequence, copies: copies.map(\.sequence))
    }

    private func entries(of sequence: Int64, _ db: Database) throws -> [ChatMessage]? {
        try MessageQueries.message(sequence, db)?.chatMessages()
    }

    /// Whether an agent's message of that id is an entry of its own.
    private func isKnown(_ id: String, of agentId: String) -> Bool {
        owners?.values.contains { $0.messageId.hasSameBytes(as: id) && $0.agentId.hasSameBytes(as: agentId) } ?? false
    }
}
