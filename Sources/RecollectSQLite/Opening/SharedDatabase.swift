import Dispatch
import Foundation
import RecollectCore
import RecollectFileSystem

/// Shares the open database of a history: opens it at first use, and again after it was retired.
///
/// In one process, all stores of the same folder share one database, independently of the paths used: see
/// `HistoryRegistry`.
final class SharedDatabase: Sendable {
    /// The writers of streaming replies in this process; `nil` in memory. They outlive the open database: a reply
    /// continues after the database was opened again.
    let replyWriters: ReplyWriterLocks?
    /// The files of the history; `nil` in memory.
    let files: HistoryFiles?

    let configuration: HistoryConfiguration
    private let events: StoreEvents
    private let onOpening: @Sendable (HistoryDatabase) -> Void
    private let current = Locked<HistoryDatabase?>(nil)
    /// The queue of openings, because opening blocks. Each history has its own: waiting for a lock delays no other
    /// history.
    private let queue = DispatchQueue(label: "recollect.history.open", qos: .userInitiated)

    /// Creates the shared database of a history, without opening it.
    /// - Parameters:
    ///   - files: The files of the history; `nil` for a history in memory.
    ///   - onOpening: Called with each opened database.
    init(
        files: HistoryFiles?, configuration: HistoryConfiguration, events: StoreEvents,
        onOpening: @escaping @Sendable (HistoryDatabase) -> Void
    ) {
        self.onOpening = onOpening
        self.files = files
        replyWriters = files.map { ReplyWriterLocks(folder: $0.writers) }
        self.configuration = configuration
        self.events = events
    }

    deinit {
        if let database = current.withLock({ $0 }) {
            HistoryRegistry.shared.leave(database, user: ObjectIdentifier(self))
        }
    }

    /// Returns the open database. Opens it if necessary.
    func database() async throws -> HistoryDatabase {
        if let database = usable { return database }
        return try await onQueue { try self.databaseOnQueue() }
    }

    /// Runs an operation, again if necessary: on a new opening if the database was closed before the operation
    /// began or was opened read-only, or if another process left its log index half-written; after rebuilding a
    /// damaged search index or index of IDs; and after salvaging a database with a damaged schema. If SQLite reports
    /// corruption, opens the database again, and salvages it if SQLite reports corruption again. Does each of these
    /// repairs at most once.
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
            } catch  where error.isContendedIndex && database.cannotWrite != nil && !hasReopened {
                // A reader without write access can read the log without its index.
                hasReopened = true
                database.retire()
            } catch is DamagedIDs {
                guard !hasRebuiltIDs, database.cannotWrite == nil else { throw damagedIDs }
                mustRebuildIDs = true
            } catch  where error.isIndexDamage && !hasRebuiltIndex {
                hasRebuiltIndex = true
                try await rebuildIndex(of: database)
            } catch  where error.isCorruption && database.files != nil && !hasDoubted {
                // SQLite reports some failed reads as corruption. Those are temporary; damage is permanent.
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

    /// Rebuilds an inconsistent search index, until it contains all messages needed by the operation. Other saves
    /// run in between.
    private func rebuildIndex(of database: HistoryDatabase) async throws {
        try await database.write { try SearchIndex.rebuild($0) }
        while try await database.write({ try SearchIndex.advance($0, limit: 2000) }) {}
        events.post(StoreEvent(kind: .rebuiltIndex))
    }

    /// Rebuilds the index of IDs. If rows may be damaged, throws the error for a damaged index, so that a salvage
    /// follows.
    private func rebuildIDs(of database: HistoryDatabase) async throws {
        try await database.write(DerivedData.rebuildIDs)
        events.post(StoreEvent(kind: .rebuiltIndex))
    }

    private var damagedIDs: RecollectError {
        RecollectError(
            .damaged,
            "the index of message IDs in \(files?.directory.path ?? "memory") is damaged; nothing was changed; repair the history"
        )
    }

    /// Sets the damaged files aside and opens the salvaged database, unless that was already done.
    private func salvage(_ damaged: HistoryDatabase) async throws {
        try await onQueue {
            damaged.retire(.damaged)
            _ = try self.databaseOnQueue()
        }
    }

    /// Closes the database if it is open.
    func close() async {
        guard let database = usable else { return }
        await queue.run {
            HistoryRegistry.shared.close(database)
            self.current.withLock { if $0 === database { $0 = nil } }
        }
    }

    /// Returns the open database. Blocks.
    func databaseNow() throws -> HistoryDatabase {
        if let database = usable { return database }
        return try queue.sync { try databaseOnQueue() }
    }

    private var usable: HistoryDatabase? {
        current.withLock { $0.flatMap { $0.isRetired ? nil : $0 } }
    }

    private func onQueue<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await queue.run(work)
    }

    private func databaseOnQueue() throws -> HistoryDatabase {
        if let database = usable { return database }
        let old = current.withLock { $0 }
        if let old {
            HistoryRegistry.shared.close(old)
            // A failed opening starts over: any damage is found again.
            current.withLock { $0 = nil }
            if old.whyRetired == .replaced { events.post(StoreEvent(kind: .storeReplaced)) }
        }
        let database = try open(damaged: old?.whyRetired == .damaged ? old?.id : nil)
        current.withLock { $0 = database }
        onOpening(database)
        return database
    }

    /// Opens the database, or returns the one already open in this process.
    /// - Parameter damaged: The identity of a database found damaged while in use.
    /// - Throws: `invalidArgument` if it is open in this process with another durability.
    private func open(damaged: FileID?) throws -> HistoryDatabase {
        guard let files = files?.resolved else { return try HistoryOpener.openInMemory(configuration) }
        while true {
            if !files.leadToAnotherHistory, let id = FileID(at: files.database),
                let shared = HistoryRegistry.shared.database(of: id, for: self)
            {
                guard shared.configuration.durability == configuration.durability else {
                    HistoryRegistry.shared.leave(shared, user: ObjectIdentifier(self))
                    throw RecollectError(
                        .invalidArgument,
                        "the history in \(files.database) is open in this process with durability "
                            + "\(shared.configuration.durability.rawValue); open it with the same durability, or share one store"
                    )
                }
                return shared
            }
            let opening = HistoryOpener(files: files, configuration: configuration, events: events)
            if let database = try opening.open(damaged: damaged, for: self) { return database }
        }
    }
}
