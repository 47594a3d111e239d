import Foundation
import GRDB
import RecollectCore

/// Finds the messages of a transcript's entries.
///
/// Most entry IDs are message IDs: an entry created by a UI is a message with the same ID, perhaps in lower case.
/// Name-based IDs are derived from messages, so the first unknown one causes one read of the whole session.
struct ChatMessageLocations {
    /// The messages shown as one entry, or as several entries of one message.
    struct Location {
        /// The sequence number of the first message.
        let message: Int64
        /// The sequence numbers of other agents' messages with the same ID and content, in order.
        var copies: [Int64] = []

        var all: [Int64] { [message] + copies }
    }

    private(set) var owners: [UUID: Transcript.Owner]?
    private var hasRead = false
    let derivedThrough: Int64
    private let session: Int64
    private var scopes: [Int64] = []
    private let pending: PendingMessageIDs
    /// The entries as last shown or saved.
    private let known: KnownChatMessages

    init(
        session: Int64, owners: [UUID: Transcript.Owner]?, known: KnownChatMessages, pending: PendingMessageIDs,
        _ db: Database
    ) throws {
        self.session = session
        self.owners = owners
        self.known = known
        self.pending = pending
        derivedThrough = try db.integer("SELECT \(DerivedData.through)") ?? 0
        try pending.follow(FeedState(db), db)
        try readScopes(db)
    }

    /// Adds scopes created in the meantime.
    mutating func readScopes(_ db: Database) throws {
        scopes = try SessionRow.scopes(of: session, db).map(\.number)
    }

    /// Returns the messages of an entry, or `nil` for a new entry.
    mutating func find(_ id: UUID, _ db: Database) throws -> Location? {
        if let owner = owners?[id] {
            if let location = try location(of: owner, db) { return location }
            owners?[id] = nil
        }
        for name in [id.uuidString, id.uuidString.lowercased()] {
            if let location = try location(of: name, shownAs: id, db, where: { _ in true }) { return location }
        }
        // The known owners may be older than saves by others.
        guard id.isNameBased, !hasRead else { return nil }
        let owners = try Transcript(MessageQueries.all(of: session, db)).owners
        self.owners = owners
        hasRead = true
        return try owners[id].flatMap { try location(of: $0, db) }
    }

    /// Returns the ID of a found entry within its message.
    func ownID(of id: UUID) -> UUID {
        owners?[id]?.entryId ?? id
    }

    /// Marks an entry as belonging to no message.
    mutating func forgetOwner(of id: UUID) {
        owners?[id] = nil
    }

    private func location(of owner: Transcript.Owner, _ db: Database) throws -> Location? {
        let own = try location(of: owner.messageId, db) { $0.hasSameBytes(as: owner.agentId) }
        guard own == nil, owner.agentId.isEmpty else { return own }
        // An agent has adopted the message.
        return try location(of: owner.messageId, db) { !isKnown(owner.messageId, of: $0) }
    }

    /// Returns the first message with an ID and a matching agent, with its copies. Copies have the same content and
    /// are not known as entries of their own.
    /// - Parameter entryId: The message's entry as shown. Of several messages with the ID, the one with its content is
    ///   returned: another agent's may be the first after a merge of sessions.
    private func location(
        of id: String, shownAs entryId: UUID? = nil, _ db: Database, where isMeant: (_ agentId: String) -> Bool
    ) throws -> Location? {
        let sequences = try pending.sequences(of: id, in: session, scopes: scopes, db)
        let messages = try sequences.compactMap { sequence in
            try MessageQueries.agent(of: sequence, db).map { (sequence: sequence, agentId: $0) }
        }
        // Most IDs are one message's: nothing is read then.
        let all = messages.count > 1 ? try messages.map { try entries(of: $0.sequence, db) ?? [] } : []
        guard
            let own = entryId.flatMap({ index(of: $0, shownAmong: all) })
                ?? messages.firstIndex(where: { isMeant($0.agentId) })
        else { return nil }
        let copies = messages.indices.filter { index in
            index != own && all[index].show(theSameAs: all[own]) && !isKnown(id, of: messages[index].agentId)
        }
        return Location(message: messages[own].sequence, copies: copies.map { messages[$0].sequence })
    }

    /// Returns the index of the message with the content shown as an entry; `nil` if all messages have equal content,
    /// or the shown content is unknown.
    private func index(of entryId: UUID, shownAmong all: [[ChatMessage]]) -> Int? {
        guard let first = all.first, !all.allSatisfy({ $0.show(theSameAs: first) }),
            let hash = known.hash(of: entryId)
        else { return nil }
        return all.firstIndex { $0.contains { ChatMessageHash($0) == hash } }
    }

    private func entries(of sequence: Int64, _ db: Database) throws -> [ChatMessage]? {
        try MessageQueries.message(sequence, db)?.chatMessages()
    }

    /// Whether an agent's message with an ID is an entry of its own.
    private func isKnown(_ id: String, of agentId: String) -> Bool {
        owners?.values.contains { $0.messageId.hasSameBytes(as: id) && $0.agentId.hasSameBytes(as: agentId) } ?? false
    }
}
