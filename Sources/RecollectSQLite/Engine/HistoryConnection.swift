import Dispatch
import Foundation
import RecollectCore

/// Gives the open database of a history: opens it at first use, and again when it must not be used any more.
///
/// In one process every store of the same folder shares one database, by whatever name it was opened: see `HistoryRegistry`.
final class HistoryConnection: Sendable {
    /// The writers of replies here; `nil` in memory. It outlives the open database: a reply goes on when that is opened again.
    let replyWriters: ReplyWriters?
    /// Where the history lies; `nil` in memory.
    let files: HistoryFiles?

    let configuration: HistoryConfiguration
    private let events: StoreEvents
    private let onOpening: @Sendable (HistoryDatabase) -> Void
    private let current = Locked<HistoryDatabase?>(nil)
    /// Opening blocks, so it runs here. Each history has a queue of its own: one that waits for a lock stops no other.
    private let queue = DispatchQueue(label: "recollect.history.open", qos: .userInitiated)

    /// - Parameters:
    ///   - files: Where the history lies; `nil` for a history in memory.
    ///   - onOpening: Called with each database that is opened.
    init(
        files: HistoryFiles?, configuration: HistoryConfiguration, events: StoreEvents,
        onOpening: @escaping @Sendable (HistoryDatabase) -> Void
    ) {
        self.onOpening = onOpening
        self.files = files
        replyWriters = files.map { ReplyWriters(folder: $0.writers) }
        self.configuration = configuration
        self.events = events
    }

    deinit {
        if let database = current.withLock({ $0 }) {
            HistoryRegistry.shared.leave(database, user: ObjectIdentifier(self))
        }
    }

    /// The open database.
    func database() async throws -> HistoryDatabase {
        if let database = usable { return database }
        return try await onQueue { try self.databaseOnQueue() }
    }

    /// Runs an operation, and runs it again on a new opening if the database was closed before the operation began, or could not be
    /// written at its opening. Corruption reported by SQLite leads to one new opening, and if it is reported again to a salvage.
    func perform<Value: Sendable>(_ operation: (HistoryDatabase) async throws -> Value) async throws -> Value {
        var hasDoubted = false
        var hasSalvaged = false
        var hasReopened = false
        var hasRebuiltIndex = false
        var (mustRebuildIDs, hasRebuiltIDs) = (false, false)
        while true {
            let database = try await database()
            do {
                if mustRebuildIDs {
                    try await rebuildIDs(of: database)
                    (mustRebuildIDs, hasRebuiltIDs) = (false, true)
                }
                return try await operation(database)
            } catch is DatabaseRetired {
                continue
            } catch let error as NotWritable {
                guard !hasReopened else { throw error.cause }
                hasReopened = true
                database.retire()
            } catch is DamagedIDs {
                guard !hasRebuiltIDs, database.cannotWrite == nil else { throw damagedIDs }
                mustRebuildIDs = true
            } catch  where error.isIndexDamage && !hasRebuiltIndex {
                hasRebuiltIndex = true
                try await rebuildIndex(of: database)
            } catch  where error.isCorruption && database.files != nil && !hasDoubted {
                // SQLite reports some failed reads as corruption. Those pass; damage stays.
                hasDoubted = true
                database.retire(.suspect)
            } catch  where error.isCorruption && database.files != nil && !hasSalvaged {
                hasSalvaged = true
                try await salvage(database)
            } catch  where error.isRefusal && database.files != nil && !hasSalvaged {
                guard try await database.read(Schema.isDamaged) else { throw error }
                hasSalvaged = true
                try await salvage(database)
            } catch {
                if error.spoilsConnection { database.retire() }
                throw error
            }
        }
    }

    /// Makes a search index that contradicts itself anew, with the messages that the operation needs in it. Saves go in between.
    private func rebuildIndex(of database: HistoryDatabase) async throws {
        try await database.write { try SearchIndex.rebuild($0) }
        while try await database.write({ try SearchIndex.advance($0, limit: 2000) }) {}
        events.post(StoreEvent(kind: .rebuiltIndex))
    }

    /// Makes the index of ids anew. Throws the error for a damaged index if rows may be damaged: a salvage follows.
    private func rebuildIDs(of database: HistoryDatabase) async throws {
        try await database.write(Settling.rebuildIDs)
        events.post(StoreEvent(kind: .rebuiltIndex))
    }

    private var damagedIDs: RecollectError {
        RecollectError(
            .damaged,
            "the index of message ids in \(files?.directory.path ?? "memory") is damaged; nothing was changed; repair the history"
        )
    }

    /// Sets the damaged files aside and opens what could be read of them, unless that has been done already.
    private func salvage(_ damaged: HistoryDatabase) async throws {
        try await onQueue {
            damaged.retire(.damaged)
            _ = try self.databaseOnQueue()
        }
    }

    /// Closes the database if it is open.
    func close() async {
        guard let database = usable else { return }
        await withCheckedContinuation { continuation in
            queue.async {
                HistoryRegistry.shared.close(database)
                self.current.withLock { if $0 === database { $0 = nil } }
                continuation.resume()
            }
        }
    }

    /// The open database, for callers that may block.
    func databaseNow() throws -> HistoryDatabase {
        if let database = usable { return database }
        return try queue.sync { try databaseOnQueue() }
    }

    private var usable: HistoryDatabase? {
        current.withLock { $0.flatMap { $0.isRetired ? nil : $0 } }
    }

    private func onQueue<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: work)) }
        }
    }

    private func databaseOnQueue() throws -> HistoryDatabase {
        if let database = usable { return database }
        let old = current.withLock { $0 }
        if let old {
            HistoryRegistry.shared.close(old)
            // An opening that fails starts over: damage, if it is damage, is found again.
            current.withLock { $0 = nil }
            if old.whyRetired == .replaced { events.post(StoreEvent(kind: .storeReplaced)) }
        }
        let database = try open(damaged: old?.whyRetired == .damaged ? old?.id : nil)
        current.withLock { $0 = database }
        onOpening(database)
        return database
    }

    /// - Parameter damaged: The identity of a database that was found damaged while it was in use.
    private func open(damaged: FileID?) throws -> HistoryDatabase {
        guard let files = files?.resolved else { return try HistoryOpening.openInMemory(configuration) }
        while true {
            if !files.leadToAnotherHistory, let id = FileID(at: files.database),
                let shared = HistoryRegistry.shared.database(of: id, for: self)
            {
                guard shared.configuration.durability == configuration.durability else {
                    HistoryRegistry.shared.leave(shared, user: ObjectIdentifier(self))
                    throw RecollectError(
                        .invalidArgument,
                        "the history in \(files.database) is open in this process with durability "
                            + "\(shared.configuration.durability.rawValue); open it with the same, or share one store")
                }
                return shared
            }
            let opening = HistoryOpening(files: files, configuration: configuration, events: events)
            if let database = try opening.open(damaged: damaged, for: self) { return database }
        }
    }
}
