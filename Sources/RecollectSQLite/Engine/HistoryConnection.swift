import Dispatch
import Foundation
import RecollectCore

/// Gives the open database of a history: opens it at first use, and anew when it must not be used any more.
///
/// In one process every store of the same folder shares one database: two pools on one file would each believe that they are
/// alone with its locks.
final class HistoryConnection: Sendable {
    private enum Place {
        case files(HistoryFiles)
        case memory
    }

    /// Who writes replies here; `nil` in memory. It outlives the open database: a reply goes on when that is opened anew.
    let replyWriters: ReplyWriters?

    private let place: Place
    private let configuration: HistoryConfiguration
    private let events: StoreEvents
    private let current = Locked<HistoryDatabase?>(nil)

    /// The databases that are open in this process, by the path of their file.
    private static let open = Locked<[String: WeakDatabase]>([:])
    /// Opening blocks, so it runs here, one after the other.
    private static let queue = DispatchQueue(label: "recollect.history.open", qos: .userInitiated)

    private struct WeakDatabase {
        weak var database: HistoryDatabase?
    }

    /// - Parameter files: where the history lies; `nil` for a history in memory.
    init(files: HistoryFiles?, configuration: HistoryConfiguration, events: StoreEvents) {
        place = files.map(Place.files) ?? .memory
        replyWriters = files.map { ReplyWriters(folder: $0.writers) }
        self.configuration = configuration
        self.events = events
    }

    var files: HistoryFiles? {
        if case .files(let files) = place { return files }
        return nil
    }

    /// The open database.
    func database() async throws -> HistoryDatabase {
        if let database = usable { return database }
        return try await withCheckedThrowingContinuation { continuation in
            Self.queue.async {
                continuation.resume(with: Result { try self.usable ?? self.openNow(isDamaged: false) })
            }
        }
    }

    /// Runs an operation. If it finds the database damaged, what can be read is salvaged and the operation runs again, once.
    func perform<Value: Sendable>(_ operation: (HistoryDatabase) async throws -> Value) async throws -> Value {
        let database = try await database()
        do {
            return try await operation(database)
        } catch  where error.isIndexDamage {
            // The operation needs the messages in it that it had; bites let saves in between.
            try await database.write { try SearchIndex.rebuild($0) }
            while try await database.write({ try SearchIndex.advance($0, limit: 2000) }) {}
            events.post(StoreEvent(kind: .rebuiltIndex))
            return try await operation(database)
        } catch  where error.isCorruption && files != nil {
            let salvaged = try await salvage(database)
            return try await operation(salvaged)
        } catch {
            if error.spoilsConnection { database.retire() }
            throw error
        }
    }

    /// Sets the damaged files aside and opens what could be read of them, unless someone else has done so already.
    func salvage(_ damaged: HistoryDatabase) async throws -> HistoryDatabase {
        try await withCheckedThrowingContinuation { continuation in
            Self.queue.async {
                let result = Result {
                    if let database = self.usable, database !== damaged { return database }
                    damaged.close(movesLog: false)
                    return try self.openNow(isDamaged: true)
                }
                continuation.resume(with: result)
            }
        }
    }

    /// Closes the database if it is open.
    func close() async {
        guard let database = usable else { return }
        await withCheckedContinuation { continuation in
            Self.queue.async {
                database.close()
                continuation.resume()
            }
        }
    }

    /// The open database, for those who may block.
    func databaseNow() throws -> HistoryDatabase {
        if let database = usable { return database }
        return try Self.queue.sync { try usable ?? openNow(isDamaged: false) }
    }

    private var usable: HistoryDatabase? {
        current.withLock { $0.flatMap { $0.isRetired ? nil : $0 } }
    }

    private func openNow(isDamaged: Bool) throws -> HistoryDatabase {
        guard let files else {
            let database = try HistoryOpening.openInMemory(configuration)
            current.withLock { $0 = database }
            return database
        }
        let key = files.database
        let open = Self.open.withLock { $0[key]?.database }
        // As long as a retired database is open, its shared memory speaks for a log that may be gone.
        if let open, open.isRetired { open.close() }
        if let shared = open, !shared.isRetired {
            guard shared.configuration.durability == configuration.durability else {
                throw RecollectError(
                    .invalidArgument,
                    "the history in \(key) is open in this process with durability "
                        + "\(shared.configuration.durability.rawValue); open it with the same, or share one store")
            }
            current.withLock { $0 = shared }
            return shared
        }
        let opening = HistoryOpening(files: files, configuration: configuration, events: events)
        let database = try opening.open(isDamaged: isDamaged)
        Self.open.withLock { open in
            open = open.filter { $0.value.database != nil }
            open[key] = WeakDatabase(database: database)
        }
        current.withLock { $0 = database }
        return database
    }
}
