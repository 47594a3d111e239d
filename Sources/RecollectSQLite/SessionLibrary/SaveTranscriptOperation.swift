import Foundation
import GRDB
import RecollectCore

/// Saves a transcript into a session, inside a write transaction, so that the session shows it. Edits known entries
/// with changes, adds new entries at their positions, and deletes removed ones.
///
/// Messages of the session neither in the transcript nor among the removed entries stay: an agent saved them
/// meanwhile.
struct SaveTranscriptOperation {
    let session: SessionKey
    /// The agent of new messages.
    let agentId: String
    let difference: TranscriptDifference
    /// The changed entries, with attachments stored by hash.
    let changed: [ChatMessage]
    /// The entries as last shown or saved.
    let known: KnownTranscripts.KnownSession
    let now: Int64

    /// The result of a save for the storage's memory.
    struct Outcome: Sendable {
        /// The owners of entries not named by their IDs, or `nil` if they are unknown.
        var owners: [UUID: Transcript.Owner]?
        /// The changed messages of entries.
        var messages: [UUID: EntryMessages.Message?] = [:]
        /// The entries that are not saved in full, as they are saved: entries of streaming replies, whose writers save the
        /// rest, and late increments.
        var partlySaved: [UUID: ChatMessage] = [:]
        /// The entries saved as new messages.
        var inserted: Set<UUID> = []
        /// The entries removed from their messages. A streaming reply has no message yet.
        var removed: Set<UUID> = []
        /// The entries moved into a branch by the storage, and now in the session again.
        var noLongerBranched: Set<UUID> = []
        var orphans: [String] = []
    }

    func run(_ db: Database, _ pending: PendingMessageIDs) throws -> Outcome {
        var outcome = Outcome()
        let before = try db.lastSequence()
        let number = try openSession(db)
        var locations = try ChatMessageLocations(session: number, known: known, pending: pending, db)
        let found = try edit(&locations, number, &outcome, db)
        let replies = try StreamingEntries(
            of: number, for: zip(changed, found).lazy.filter { $1 == nil }.map(\.0), db)
        outcome.partlySaved.merge(try extendReplies(replies, found, db)) { _, new in new }
        if try isOrdered(found, &locations, db) {
            try insert(around: found, replies, &locations, number, pending, db)
        } else {
            let new = try found.indices.compactMap { offset in
                found[offset] == nil ? try message(at: offset, replies, locations, db) : nil
            }
            _ = try insert(new, behind: nil, &locations, number, pending, db)
            try locations.readScopes(db)
            try reorder(&locations, number, db)
        }
        let hasNewFirst = try keepFirstUserMessage(&locations, number, db)
        try touch(number, hasChanges: db.lastSequence() > before, hasNewFirst: hasNewFirst, db)
        if try FeedState(last: db.lastSequence(), derivedThrough: locations.derivedThrough).pending > DerivedData.limit
        {
            try DerivedData.update(db)
        }
        if !known.branched.isEmpty {
            let branched = difference.transcript.map(\.id).filter(known.branched.contains)
            outcome.noLongerBranched = Set(
                try branched.filter { id in
                    // A reply that was streaming did not move.
                    guard (locations.messages[id] ?? known.messages[id]) != nil else { return false }
                    return try locations.find(id, db) != nil
                })
        }
        outcome.owners = locations.owners
        outcome.messages = locations.messages
        outcome.inserted = locations.inserted
        return outcome
    }

    // MARK: The session

    private func openSession(_ db: Database) throws -> SessionRowID {
        guard let number = try MessageQueries.number(of: session, db) else {
            let number = try ScopeRow.makeSession(session, createdAt: now, db)
            try db.recordChange(.sessionUpdated, session)
            return number
        }
        if try db.integer("SELECT discarded_at FROM session WHERE id = ?", number) != nil {
            try SessionRow.restore(number, db)
        }
        return number
    }

    /// Updates the access date and the read mark: a program saving a transcript has it open and has read it.
    private func touch(_ number: SessionRowID, hasChanges: Bool, hasNewFirst: Bool, _ db: Database) throws {
        if try !hasChanges && (hasNewFirst || SessionRow.isUnread(number, db)) {
            try db.recordChange(.sessionUpdated, session)
        }
        try db.run("UPDATE session SET read_through = ? WHERE id = ?", db.lastSequence(), number)
        try SessionEdits.access(session, now: now, db)
    }

    /// Saves the first user message with a message in the session, if none is saved. Others were deleted meanwhile.
    /// Returns whether it was saved.
    private func keepFirstUserMessage(
        _ locations: inout ChatMessageLocations, _ number: SessionRowID, _ db: Database
    ) throws -> Bool {
        guard try !FirstUserMessage.isKept(of: number, db) else { return false }
        try locations.readScopes(db)
        for entry in difference.transcript where entry.role == .user && !entry.content.isEmpty {
            guard try locations.find(entry.id, db) != nil else { continue }
            try FirstUserMessage.save(entry.content, of: number, db)
            return true
        }
        return false
    }

    // MARK: Editing and removing

    /// Edits and removes messages, for every agent with a copy. Returns the messages of the changed entries, with
    /// `nil` for new ones.
    private func edit(
        _ locations: inout ChatMessageLocations, _ number: SessionRowID, _ outcome: inout Outcome, _ db: Database
    ) throws -> [ChatMessageLocations.Location?] {
        var found = try changed.map { try locations.find($0.id, db) }
        var edits: [SequenceNumber: ChatMessageEdits] = [:]
        /// The messages shown as one entry by the transcript. Their other entries were not removed.
        var shownAsOne: Set<SequenceNumber> = []
        func edit(_ sequence: SequenceNumber, _ change: (inout ChatMessageEdits) -> Void) throws {
            guard var edit = try edits[sequence] ?? ChatMessageEdits(sequence, db) else { return }
            change(&edit)
            edits[sequence] = edit
        }
        for (index, entry) in changed.enumerated() {
            // An entry unchanged by this storage may have been edited by another since.
            guard let location = found[index], !difference.unchanged.contains(entry.id) else { continue }
            let change = ChatMessageChange(
                transcriptEntry(at: index), keptAs: entry, from: known.entries[entry.id],
                isEnd: known.isEnd(transcriptEntry(at: index)), isOfEnded: known.ended[entry.id] != nil)
            let others = change.known == nil ? knownEntries(beside: entry.id, of: location.message) : []
            var isMissing = false
            for sequence in location.all {
                try edit(sequence) { edit in
                    let result = edit.apply(
                        change, to: location.entryId, isAlone: location.isAlone,
                        isRemoved: known.removed.contains(entry.id), beside: others
                    ) {
                        known.parts(ofMessageWith: entry.id)
                    }
                    if result.isUnsaved { outcome.partlySaved[entry.id] = change.withoutContent }
                    if result.outcome == .editedAsOne { shownAsOne.insert(sequence) }
                    if sequence == location.message { isMissing = result.outcome == .missing }
                }
            }
            if !isMissing {
                let isAlone =
                    location.isAlone || shownAsOne.contains(location.message)
                    || edits[location.message]?.hasOneEntry == true
                locations.note(entry.id, location.message, isAlone: isAlone)
                if !isAlone, known.messages[entry.id] == nil, location.entryId == entry.id,
                    let message = edits[location.message]?.message
                {
                    locations.note(location.message, shownAs: message.chatMessages())
                }
            } else {
                // Another writer removed this part from its message: the edited entry becomes a message of its own.
                locations.forgetOwner(of: entry.id)
                found[index] = nil
            }
        }
        for id in known.removals(difference.removed, from: difference.transcript) {
            guard let location = try locations.find(id, db) else { continue }
            outcome.removed.insert(id)
            for sequence in location.all where !shownAsOne.contains(sequence) {
                try edit(sequence) { edit in
                    edit.remove(
                        known.entries[id], location.entryId, isAlone: location.isAlone, from: difference.transcript
                    ) {
                        known.parts(ofMessageWith: id)
                    }
                }
            }
        }
        var deleted: [SequenceNumber] = []
        for (sequence, edit) in edits.sorted(by: { $0.key < $1.key }) {
            if let edited = edit.edited {
                try edited.checkSavable()
                outcome.orphans += try MessageEdits.replace(
                    edit.message, at: sequence, with: edited, of: number, session, db)
            } else {
                deleted.append(sequence)
            }
        }
        if !deleted.isEmpty {
            outcome.orphans += try MessageDeletion.delete(deleted, of: number, session, db).orphans
        }
        return found
    }

    /// Returns the other entries of a message in the transcript that the storage has shown or saved.
    private func knownEntries(beside id: UUID, of message: SequenceNumber) -> [ChatMessage] {
        let ids = Set(known.messages.ids(of: message).filter { $0 != id && known.entries[$0] != nil })
        return ids.isEmpty ? [] : difference.transcript.filter { ids.contains($0.id) }
    }

    // MARK: Adding

    /// Adds the new entries between existing ones in the transcript's order.
    private func insert(
        around found: [ChatMessageLocations.Location?], _ replies: StreamingEntries,
        _ locations: inout ChatMessageLocations, _ number: SessionRowID, _ pending: PendingMessageIDs, _ db: Database
    ) throws {
        var previous = try position(before: difference.changed.lowerBound, &locations, db)
        var waiting: [NewMessage] = []
        for (offset, location) in found.enumerated() {
            if let location {
                previous = try insert(waiting, behind: previous ?? .start, &locations, number, pending, db)
                waiting = []
                // Read here, not earlier: making room moves the following messages.
                previous = try max(previous ?? .start, MessageQueries.position(of: location.message, db) ?? .start)
            } else if let new = try message(at: offset, replies, locations, db) {
                waiting.append(new)
            }
        }
        _ = try insert(waiting, behind: difference.isAtEnd ? nil : previous ?? .start, &locations, number, pending, db)
    }

    /// Saves the texts of incomplete entries to their streaming replies, as far as they continue the saved increments.
    /// Returns the entries of the replies with their saved fields. Later saves write the others.
    private func extendReplies(
        _ replies: StreamingEntries, _ found: [ChatMessageLocations.Location?], _ db: Database
    ) throws -> [UUID: ChatMessage] {
        var saved: [UUID: ChatMessage] = [:]
        for (offset, location) in found.enumerated() where location == nil {
            let entry = changed[offset]
            if let part = replies.parts[entry.id] {
                saved[entry.id] = savedFields(of: offset, in: [part])
            } else if replies.laterParts.contains(entry.id) {
                saved[entry.id] = savedFields(of: offset, in: [])
            } else if !entry.isComplete, let reply = replies.reply(entry.id) {
                let message = try StreamingReplies.extend(reply, to: entry.content, db)
                saved[entry.id] = savedFields(of: offset, in: message.chatMessages())
            }
        }
        return saved
    }

    /// Returns an entry with only the fields of its streaming reply.
    private func savedFields(of offset: Int, in reply: [ChatMessage]) -> ChatMessage {
        let (entry, kept) = (transcriptEntry(at: offset), changed[offset])
        let attachments = reply.flatMap(\.attachments)
        var saved = entry
        let parts = reply.filter { $0.isSameKind(as: entry) }
        let text = parts.map(\.content).joined()
        // The UI has not removed text never shown to it.
        if !text.continues(entry.content) { saved.content = text }
        saved.toolName = parts.first?.toolName
        saved.toolInputData = parts.first?.toolInputData
        saved.attachments = zip(entry.attachments, kept.attachments).filter { attachments.contains($0.1) }.map(\.0)
        saved.metadata = entry.metadata.filter { key, value in reply.contains { $0.metadata.hasMember(key, value) } }
        saved.isError = entry.isError && reply.contains(where: \.isError)
        saved.wasCancelled = entry.wasCancelled && reply.contains(where: \.wasCancelled)
        saved.isTaskContainer = entry.isTaskContainer && reply.contains(where: \.isTaskContainer)
        saved.taskGroupId = reply.contains { $0.taskGroupId == entry.taskGroupId } ? entry.taskGroupId : nil
        saved.isComplete = false
        return saved
    }

    /// Returns a changed entry as the transcript has it.
    private func transcriptEntry(at offset: Int) -> ChatMessage {
        difference.transcript[difference.changed.lowerBound + offset]
    }

    private func position(
        before index: Int, _ locations: inout ChatMessageLocations, _ db: Database
    ) throws -> Position? {
        // The nearest entry still present: another writer may have deleted the one before.
        for entry in difference.transcript[..<index].reversed() {
            if let location = try locations.find(entry.id, db) {
                return try MessageQueries.position(of: location.message, db)
            }
        }
        return nil
    }

    /// Returns a new entry as a message of this storage's agent, or `nil` for an incomplete streaming reply: its
    /// writer saves it. A streaming reply saved as complete by a UI gets the agent of its writer, as the writer
    /// looks for it there at its end.
    private func message(
        at offset: Int, _ replies: StreamingEntries, _ locations: ChatMessageLocations, _ db: Database
    ) throws -> NewMessage? {
        let entry = changed[offset]
        // A known entry without a message was deleted by another writer.
        if difference.unchanged.contains(entry.id) || known.isEnd(transcriptEntry(at: offset)) { return nil }
        let writer = replies.reply(entry.id)?.scope.agentId
        if replies.parts[entry.id] != nil || replies.laterParts.contains(entry.id) { return nil }
        if !entry.isComplete && writer != nil { return nil }
        var message = ConversationMessage(entry, answering: callId(answeredBy: offset))
        try message.checkSavable()
        // The rest of its message may have the ID, or a message never shown or saved as this entry.
        while let id = UUID(uuidString: message.id), try locations.isUsed(id, db) {
            message = message.with(id: message.copyId(from: session.sessionId))
        }
        return NewMessage(entryId: entry.id, agentId: writer ?? agentId, message: message)
    }

    /// A message for a new entry.
    private struct NewMessage {
        let entryId: UUID
        let agentId: String
        let message: ConversationMessage
    }

    private func callId(answeredBy offset: Int) -> String? {
        difference.callId(answeredBy: difference.changed.lowerBound + offset)
    }

    /// Adds messages right after a position, or at the end without one. Returns the position of the last one, or
    /// `previous` without messages.
    private func insert(
        _ messages: [NewMessage], behind previous: Position?, _ locations: inout ChatMessageLocations,
        _ number: SessionRowID,
        _ pending: PendingMessageIDs, _ db: Database
    ) throws -> Position? {
        guard !messages.isEmpty else { return previous }
        let first = previous ?? .start
        // Of all agents: between two entries there may be messages unknown to this storage.
        let next = try previous.flatMap { try MessageMoves.position(after: $0, in: number, db) }
        let room = next.map { $0 - first } ?? .max
        var sequence = try db.lastSequence()
        var inserted: [SequenceNumber] = []
        for (offset, item) in messages.enumerated() {
            let message = item.message
            let scope = try ScopeRow.findOrMakeScope(of: number, agentId: item.agentId, db)
            sequence = sequence.next
            // Without room they are appended first, and the messages after their position follow.
            let isBetween = next != nil && room > Int64(messages.count)
            let position = isBetween ? first + room / Int64(messages.count + 1) * Int64(offset + 1) : nil
            try MessageRow.insert(
                message, sequence: sequence, session: number, scope: scope, position: position,
                with: db.sql(MessageRow.insertion))
            try AttachmentUse.insert(message, sequence: sequence, db)
            pending.add(message.id, scope: scope, sequence: sequence)
            locations.note(item.entryId, message, of: item.agentId, at: sequence)
            inserted.append(sequence)
        }
        if let next, room <= Int64(messages.count) {
            try MessageMoves.keepingWindows(of: number, db) {
                let behind = try MessageMoves.sequences(of: number, from: next, db).filter { !inserted.contains($0) }
                try MessageMoves.putLast(inserted + behind, db)
            }
            // Cursors returned earlier are now at other messages, and later moves to the end must not reuse them.
            try db.recordChange(.sessionRearranged, session)
        }
        if next != nil, messages.contains(where: { $0.message.role == .user }) { try Preview.set(number, db) }
        return try MessageQueries.position(of: sequence, db)
    }

    // MARK: Ordering

    /// Whether the existing messages of the changed entries are in the transcript's order. Entries of one message
    /// share its position.
    private func isOrdered(
        _ found: [ChatMessageLocations.Location?], _ locations: inout ChatMessageLocations, _ db: Database
    ) throws -> Bool {
        guard found.contains(where: { $0 != nil }) else { return true }
        var last = try position(before: difference.changed.lowerBound, &locations, db) ?? .min
        for location in found {
            guard let location, let position = try MessageQueries.position(of: location.message, db) else { continue }
            if position < last { return false }
            last = position
        }
        return true
    }

    /// Distributes the positions of the transcript's messages among them in the transcript's order.
    private func reorder(_ locations: inout ChatMessageLocations, _ number: SessionRowID, _ db: Database) throws {
        var order: [SequenceNumber] = []
        var seen: Set<SequenceNumber> = []
        for entry in difference.transcript.eachIdOnce() {
            // Copies move along: a copy left at the first position would be shown there.
            let location = try locations.find(entry.id, db)
            order += (location?.all ?? []).filter { seen.insert($0).inserted }
        }
        let positions = try order.compactMap { try MessageQueries.position(of: $0, db) }
        try MessageMoves.keepingWindows(of: number, db) {
            try MessageMoves.setPositions(zip(order, positions.sorted()), db)
        }
        try Preview.set(number, db)
        try db.recordChange(.sessionRearranged, session)
    }
}
