import GRDB
import RecollectCore

/// Where a message lies that was looked for by its id.
struct HeldMessage {
    let sequence: Int64
    let scope: Int64
}

/// The positions of the change feed and of the tables derived from it.
struct FeedState {
    /// The number of the last change.
    var last: Int64
    /// The number of the last message that is settled.
    var settledThrough: Int64
}

extension FeedState {
    init(_ db: Database) throws {
        last = try db.lastSequence()
        settledThrough = try db.integer("SELECT \(Settling.through)") ?? 0
    }
}

/// The ids of the messages that are not settled, in memory.
///
/// `@unchecked Sendable`: used inside write transactions alone, which run one after the other on the writer's queue.
final class UnsettledIDs: @unchecked Sendable {
    private struct Key: Hashable {
        /// The scope that the message was saved in; where it lies now its row tells.
        let scope: Int64
        let id: ByteString
    }

    /// More than one number only where an agent took a message over and its id was then saved without an agent again.
    private var sequences: [Key: [Int64]] = [:]
    private var settledThrough: Int64 = 0
    private var knownThrough: Int64 = 0

    /// Takes in what other writes and other processes have saved and settled since the last time.
    func follow(_ feed: FeedState, _ db: Database) throws {
        let settled = feed.settledThrough
        if settled != settledThrough {
            sequences = sequences.compactMapValues { numbers in
                let left = numbers.filter { $0 > settled }
                return left.isEmpty ? nil : left
            }
            settledThrough = settled
        }
        knownThrough = max(knownThrough, settled)
        guard feed.last > knownThrough else { return }
        try db.sql("SELECT scope_id, message_id, sequence FROM message WHERE sequence > ?").bind(knownThrough)
            .forEachRow { add($0.text(1), scope: $0.integer(0), sequence: $0.integer(2)) }
        knownThrough = feed.last
    }

    func add(_ id: String, scope: Int64, sequence: Int64) {
        sequences[Key(scope: scope, id: ByteString(id)), default: []].append(sequence)
        knownThrough = max(knownThrough, sequence)
    }

    /// A scope's message of that id, settled or not, or else the one of no agent; `nil` if there is neither.
    /// - Parameter settledID: Finds the number of a settled message by its scope and id.
    func find(_ id: String, in row: ScopeRow, _ db: Database, settledID: HeldStatement) throws -> HeldMessage? {
        func settled(in scope: Int64) throws -> HeldMessage? {
            try MessageQueries.sequence(of: id, inScope: scope, with: settledID.ready(db))
                .map { HeldMessage(sequence: $0, scope: scope) }
        }
        var scopes = [row.scope]
        if let unassigned = row.unassigned, unassigned != row.scope { scopes.append(unassigned) }
        let recent = try recent(id, in: scopes, db)
        if let own = recent.first(where: { $0.scope == row.scope }) { return own }
        if let own = try settled(in: row.scope) { return own }
        return try recent.first ?? scopes.dropFirst().first.flatMap(settled)
    }

    /// The messages of that id of all agents of a conversation, whose scopes are these, settled or not, in their order.
    func sequences(of id: String, in conversation: Int64, scopes: [Int64], _ db: Database) throws -> [Int64] {
        let settled = try MessageQueries.sequences(of: id, in: conversation, db)
        let recent = try recent(id, in: scopes, db).map(\.sequence)
        guard settled.count + recent.count > 1 else { return settled + recent }
        return try db.integers(
            "SELECT sequence FROM message WHERE sequence IN (SELECT value FROM json_each(?)) ORDER BY position",
            (settled + recent).jsonArray)
    }

    /// Those that are not settled and lie in one of the scopes. They may have been deleted or taken over since, by another process
    /// too; their numbers are never given again.
    private func recent(_ id: String, in scopes: [Int64], _ db: Database) throws -> [HeldMessage] {
        guard !sequences.isEmpty else { return [] }
        let id = ByteString(id)
        var held: [HeldMessage] = []
        for scope in scopes {
            for sequence in sequences[Key(scope: scope, id: id)] ?? [] {
                let now = try db.integer("SELECT scope_id FROM message WHERE sequence = ?", sequence)
                if let now, scopes.contains(now) { held.append(HeldMessage(sequence: sequence, scope: now)) }
            }
        }
        return held
    }

    /// Forgets everything: a transaction was undone, and with it numbers that will be given again.
    func forget() {
        sequences = [:]
        settledThrough = 0
        knownThrough = 0
    }
}
