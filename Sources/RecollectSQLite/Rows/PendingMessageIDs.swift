import GRDB
import RecollectCore

/// The sequence number and scope of a message found by its ID.
struct HeldMessage {
    let sequence: SequenceNumber
    let scope: ScopeRowID
}

/// The IDs of pending messages, in memory.
///
/// `@unchecked Sendable`: used only inside write transactions, which run serially on the writer's queue.
final class PendingMessageIDs: @unchecked Sendable {
    private struct Key: Hashable {
        /// The scope of the save. The row has the current scope.
        let scope: ScopeRowID
        let id: ByteString
    }

    /// More than one number only if an agent adopted the message and its ID was then saved without an agent again.
    private var sequences: [Key: [SequenceNumber]] = [:]
    private var derivedThrough = SequenceNumber.zero
    private var knownThrough = SequenceNumber.zero

    /// Adds messages saved, and removes messages processed, by other writes and processes since the last call.
    func follow(_ feed: FeedState, _ db: Database) throws {
        let derived = feed.derivedThrough
        if derived != derivedThrough {
            sequences = sequences.compactMapValues { numbers in
                let left = numbers.filter { $0 > derived }
                return left.isEmpty ? nil : left
            }
            derivedThrough = derived
        }
        knownThrough = max(knownThrough, derived)
        guard feed.last > knownThrough else { return }
        try db.sql("SELECT scope_row_id, message_id, sequence FROM message WHERE sequence > ?").bind(knownThrough)
            .forEachRow { add($0.text(1), scope: $0.value(0), sequence: $0.value(2)) }
        knownThrough = feed.last
    }

    func add(_ id: String, scope: ScopeRowID, sequence: SequenceNumber) {
        sequences[Key(scope: scope, id: ByteString(id)), default: []].append(sequence)
        knownThrough = max(knownThrough, sequence)
    }

    /// Returns a scope's message with an ID, pending or not, or else the one without an agent, or `nil` if there is
    /// neither.
    /// - Parameters:
    ///   - row: The scope's row as of now.
    ///   - derivedID: Finds the number of a message with derived data by its scope and ID.
    func find(_ id: String, in row: ScopeRow, _ db: Database, derivedID: HeldStatement) throws -> HeldMessage? {
        try follow(row.feed, db)
        func derived(in scope: ScopeRowID) throws -> HeldMessage? {
            try MessageQueries.sequence(of: id, inScope: scope, with: derivedID.ready(db))
                .map { HeldMessage(sequence: $0, scope: scope) }
        }
        var scopes = [row.scope]
        if let unassigned = row.unassigned, unassigned != row.scope { scopes.append(unassigned) }
        let recent = try recent(id, in: scopes, db)
        if let own = recent.first(where: { $0.scope == row.scope }) { return own }
        if let own = try derived(in: row.scope) { return own }
        return try recent.first ?? scopes.dropFirst().first.flatMap(derived)
    }

    /// Returns the sequence numbers of the messages with an ID, of all agents of a session with these scopes,
    /// pending or not, in order.
    func sequences(
        of id: String, in session: SessionRowID, scopes: [ScopeRowID], _ db: Database
    ) throws -> [SequenceNumber] {
        let derived = try MessageQueries.sequences(of: id, in: session, db)
        let recent = try recent(id, in: scopes, db).map(\.sequence)
        guard derived.count + recent.count > 1 else { return derived + recent }
        return try db.values(
            "SELECT sequence FROM message WHERE sequence IN (SELECT value FROM json_each(?)) ORDER BY position",
            (derived + recent).jsonArray)
    }

    /// Returns the pending messages in one of the scopes. They may have been deleted or adopted since, also by
    /// another process. Their numbers are never reused.
    private func recent(_ id: String, in scopes: [ScopeRowID], _ db: Database) throws -> [HeldMessage] {
        guard !sequences.isEmpty else { return [] }
        let id = ByteString(id)
        var held: [HeldMessage] = []
        for scope in scopes {
            for sequence in sequences[Key(scope: scope, id: id)] ?? [] {
                let now = try MessageQueries.scope(of: sequence, db)
                if let now, scopes.contains(now) { held.append(HeldMessage(sequence: sequence, scope: now)) }
            }
        }
        return held
    }

    /// Removes all IDs after a rollback: its sequence numbers will be used again.
    func forget() {
        sequences = [:]
        derivedThrough = .zero
        knownThrough = .zero
    }
}
