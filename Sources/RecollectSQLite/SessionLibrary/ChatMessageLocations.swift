import Foundation
import GRDB
import RecollectCore

/// Finds the messages of a transcript's entries.
///
/// An entry shown or saved by the storage belongs to the message with a known sequence number. Another message with its
/// ID is the same for the storage only with the content it has shown or saved. The ID of a part is derived from its
/// message: a message with this ID is the part itself, made a message of its own by another writer.
///
/// Most other entry IDs are message IDs: an entry created by a UI is a message with the same ID, perhaps in lower case.
/// Name-based IDs are derived from messages, so the first unknown one causes one read of the whole session.
struct ChatMessageLocations {
    /// The messages shown as one entry, or as several entries of one message.
    struct Location {
        /// The sequence number of the first message.
        let message: SequenceNumber
        /// The ID of the entry within the message.
        var entryId: UUID
        /// Whether the storage has shown or saved the message as this entry alone.
        var isAlone = false
        /// The sequence numbers of other agents' messages with the same ID and content, in order.
        var copies: [SequenceNumber] = []

        var all: [SequenceNumber] { [message] + copies }
    }

    private(set) var owners: [UUID: Transcript.Owner]?
    /// The changed messages of entries.
    private(set) var messages: [UUID: EntryMessages.Message?] = [:]
    /// The entries saved as new messages.
    private(set) var inserted: Set<UUID> = []
    private var hasRead = false
    let derivedThrough: SequenceNumber
    private let session: SessionRowID
    private var scopes: [ScopeRowID] = []
    private let pending: PendingMessageIDs
    /// The entries as last shown or saved.
    private let known: KnownTranscripts.KnownSession

    init(session: SessionRowID, known: KnownTranscripts.KnownSession, pending: PendingMessageIDs, _ db: Database) throws
    {
        self.session = session
        owners = known.owners
        self.known = known
        self.pending = pending
        let feed = try FeedState(db)
        derivedThrough = feed.derivedThrough
        try pending.follow(feed, db)
        try readScopes(db)
    }

    /// Adds scopes created in the meantime.
    mutating func readScopes(_ db: Database) throws {
        scopes = try SessionRow.scopes(of: session, db).map(\.id)
    }

    /// Returns the messages of an entry, or `nil` for a new entry.
    mutating func find(_ id: UUID, _ db: Database) throws -> Location? {
        let message = messages[id] ?? known.messages[id]
        if let message, var location = try location(of: message, shownAs: id, db) {
            location.isAlone = message.isAlone
            return location
        }
        guard let location = try findByID(id, db) else { return nil }
        let isKnown = message?.isAlone == true || known.renamed.contains(id)
        if !isKnown || location.message == message?.sequence { return location }
        if let entry = try entries(of: location.message, db)?.first(where: { $0.id == location.entryId }),
            known.entries[id]?.hasSameContent(as: entry) == true
        {
            return location
        }
        return nil
    }

    private mutating func findByID(_ id: UUID, _ db: Database) throws -> Location? {
        let owner = owners?[id]
        if let owner, UUID(uuidString: owner.messageId) == id, let location = try location(of: owner, db) {
            return location
        }
        for name in Self.names(of: id) {
            if let location = try location(of: name, entry: id, shownAs: id, db, where: { _ in true }) {
                return location
            }
        }
        if let owner {
            if let location = try location(of: owner, db) { return location }
            owners?[id] = nil
        }
        // The known owners may be older than saves by others.
        guard id.isNameBased, !hasRead else { return nil }
        let owners = try Transcript(MessageQueries.all(of: session, db).map(\.message)).owners
        self.owners = owners
        hasRead = true
        return try owners[id].flatMap { try location(of: $0, db) }
    }

    /// Returns the IDs of a message shown as an entry with an ID.
    private static func names(of id: UUID) -> [String] { [id.uuidString, id.uuidString.lowercased()] }

    /// Returns the messages of an entry with a known message; `nil` if the message was deleted or is in another session,
    /// or if no entry of the message is this one.
    private func location(
        of message: EntryMessages.Message, shownAs id: UUID, _ db: Database
    ) throws -> Location? {
        guard
            let name = try db.optionalText(
                """
                SELECT message_id FROM message WHERE sequence = ?
                AND scope_row_id IN (SELECT id FROM scope WHERE session_row_id = ?)
                """, message.sequence, session)
        else { return nil }
        let own = owners?[id]?.entryId ?? id
        // The entry of most messages has the ID of the message: nothing is read then.
        let known = try UUID(uuidString: name) == own ? own : entry(own, shownAs: id, of: message, db)
        guard let entry = known else { return nil }
        return try location(of: name, entry: entry, db, where: { $0.sequence == message.sequence })
    }

    /// Returns the ID of an entry within its message. Since it was shown, a merge of sessions may have given the message
    /// and its entries new IDs.
    private func entry(
        _ own: UUID, shownAs id: UUID, of message: EntryMessages.Message, _ db: Database
    ) throws -> UUID? {
        let entries = try entries(of: message.sequence, db) ?? []
        // Removed by this window, and saved again by another one.
        if try known.entries[id] == nil && isUsed(id, db) { return nil }
        if entries.contains(where: { $0.id == own }) { return own }
        if known.isMerged, message.isAlone, entries.count == 1 { return entries[0].id }
        if let shown = known.entries[id] {
            let same = entries.filter(shown.hasSameContent)
            // The one left may be another one, shown with the same content.
            if same.count == 1, known.parts(ofMessageWith: id)?.show(same[0]) != true { return same[0].id }
        }
        // Another writer may have edited it, too.
        let hasSameCount =
            entries.count > message.index && message.index < 127
            && entries.count == known.messages.ids(of: message.sequence).count
        return known.isMerged && hasSameCount ? entries[message.index].id : nil
    }

    /// Notes the message of an entry.
    mutating func note(_ id: UUID, _ sequence: SequenceNumber, isAlone: Bool) {
        let index = known.messages[id]?.index ?? 0
        messages[id] = EntryMessages.Message(sequence, isAlone: isAlone, index: index)
    }

    /// Notes the message of its other entries, shown while it was streaming.
    mutating func note(_ sequence: SequenceNumber, shownAs entries: [ChatMessage]) {
        for (index, entry) in entries.enumerated()
        where known.entries[entry.id] != nil && known.messages[entry.id] == nil && messages[entry.id] == nil {
            messages[entry.id] = EntryMessages.Message(sequence, isAlone: false, index: index)
        }
    }

    /// Notes the new message of an entry.
    mutating func note(_ id: UUID, _ message: ConversationMessage, of agentId: String, at sequence: SequenceNumber) {
        note(id, sequence, isAlone: true)
        inserted.insert(id)
        guard let entryId = UUID(uuidString: message.id), entryId != id else { return }
        owners = owners ?? [:]
        owners?[id] = Transcript.Owner(messageId: message.id, agentId: agentId, entryId: entryId)
    }

    /// Whether the session has a message with the ID of an entry, of any agent.
    func isUsed(_ id: UUID, _ db: Database) throws -> Bool {
        try Self.names(of: id).contains { try !pending.sequences(of: $0, in: session, scopes: scopes, db).isEmpty }
    }

    /// Marks an entry as belonging to no message.
    mutating func forgetOwner(of id: UUID) {
        owners?[id] = nil
        messages[id] = .some(nil)
    }

    private func location(of owner: Transcript.Owner, _ db: Database) throws -> Location? {
        let own = try location(of: owner.messageId, entry: owner.entryId, db) {
            $0.agentId.hasSameBytes(as: owner.agentId)
        }
        guard own == nil, owner.agentId.isEmpty else { return own }
        // An agent has adopted the message.
        return try location(of: owner.messageId, entry: owner.entryId, db) { !isKnown(owner.messageId, of: $0.agentId) }
    }

    /// Returns the first meant message with an ID, with its copies. Copies have the same content and are not known as
    /// entries of their own.
    /// - Parameter entryId: The message's entry as shown. Of several messages with the ID, the one with its content is
    ///   returned: another agent's may be the first after a merge of sessions.
    private func location(
        of id: String, entry: UUID, shownAs entryId: UUID? = nil, _ db: Database,
        where isMeant: ((sequence: SequenceNumber, agentId: String)) -> Bool
    ) throws -> Location? {
        let sequences = try pending.sequences(of: id, in: session, scopes: scopes, db)
        let messages = try sequences.compactMap { sequence in
            try MessageQueries.agent(of: sequence, db).map { (sequence: sequence, agentId: $0) }
        }
        // Most IDs are one message's: nothing is read then.
        let all = messages.count > 1 ? try messages.map { try entries(of: $0.sequence, db) ?? [] } : []
        guard let own = entryId.flatMap({ index(of: $0, shownAmong: all) }) ?? messages.firstIndex(where: isMeant)
        else {
            return nil
        }
        let copies = messages.indices.filter { index in
            index != own && all[index].show(theSameAs: all[own]) && !isKnown(id, of: messages[index].agentId)
        }
        return Location(
            message: messages[own].sequence, entryId: entry, copies: copies.map { messages[$0].sequence })
    }

    /// Returns the index of the message with the content shown as an entry; `nil` if all messages have equal content,
    /// or the shown content is unknown.
    private func index(of entryId: UUID, shownAmong all: [[ChatMessage]]) -> Int? {
        guard let first = all.first, !all.allSatisfy({ $0.show(theSameAs: first) }),
            let shown = known.entries[entryId]
        else { return nil }
        return all.firstIndex { $0.contains { $0.id == entryId && shown.hasSameContent(as: $0) } }
    }

    private func entries(of sequence: SequenceNumber, _ db: Database) throws -> [ChatMessage]? {
        try MessageQueries.message(sequence, db)?.chatMessages()
    }

    /// Whether an agent's message with an ID is an entry of its own.
    private func isKnown(_ id: String, of agentId: String) -> Bool {
        owners?.values.contains { $0.messageId.hasSameBytes(as: id) && $0.agentId.hasSameBytes(as: agentId) } ?? false
    }
}

extension ChatMessageEdits {
    /// Creates the edits of a message with a sequence number, and reads the message. Returns `nil` if there is
    /// none.
    init?(_ sequence: SequenceNumber, _ db: Database) throws {
        guard let message = try MessageQueries.message(sequence, db) else { return nil }
        self.init(message)
    }
}
