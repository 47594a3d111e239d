import Dispatch
import Foundation
import GRDB
import GRDBSQLite
import RecollectCore
import RecollectFileSystem

/// An open database: the writing connection, the reading connections, and the lock against writers of other
/// processes.
///
/// No method blocks the cooperative pool for long: work runs on queues, and on the calling thread only within the
/// limits of `InlineWork`. `HistoryRegistry` closes the database; it never closes itself.
final class HistoryDatabase: Sendable {
    let configuration: HistoryConfiguration
    /// The number of this opening in the process. The same path may have led to another database at another
    /// opening.
    let number: Int
    /// The writer's cache, used only by writes.
    let cache = WriterCache()

    /// The state at the opening; `nil` in memory and for a database opened read-only.
    let state: OpeningState?

    /// The reason for a read-only database; `nil` for a writable one.
    let cannotWrite: RecollectError?

    private let writer: DatabaseQueue
    /// The reading connections; `nil` in memory, where the writer's connection reads.
    private let readers: ReadConnections?
    /// The open files; `nil` in memory, and for a database opened read-only.
    private let held: LockedFiles?
    private let group = GroupCommit()
    private let writerQueue = DispatchQueue(label: "recollect.history.write", qos: .userInitiated)
    private let inlineWrites = InlineWork()
    private let inlineReads = InlineWork()
    private let format: FormatWatch
    /// The writer's connection, for reads.
    private let inlineReader: ReadConnection
    private let log: WriteAheadLog
    private let retirement: Retirement

    private static let openings = Locked(0)

    /// Creates an open database.
    /// - Parameters:
    ///   - held: The open files.
    ///   - retirement: The retirement of this database, shared with `held`.
    ///   - state: The state at the opening.
    ///   - cannotWrite: The reason for a read-only database.
    ///   - unlocked: The files, if the connections take no locks.
    ///   - openReader: Opens another connection for reading; `nil` in memory.
    init(
        configuration: HistoryConfiguration, writer: DatabaseQueue, held: LockedFiles? = nil,
        retirement: Retirement = Retirement(), state: OpeningState? = nil, cannotWrite: RecollectError? = nil,
        unlocked: UnlockedFiles? = nil, openReader: (@Sendable () throws -> DatabaseQueue)?
    ) {
        self.state = state
        self.cannotWrite = cannotWrite
        self.configuration = configuration
        self.writer = writer
        self.held = held
        self.retirement = retirement
        let known = KnownFormat(schemaVersion: state?.schemaVersion)
        format = FormatWatch(known)
        inlineReader = ReadConnection(writer, known, unlocked: unlocked)
        readers = openReader.map { open in
            ReadConnections { ReadConnection(try open(), known, unlocked: unlocked) }
        }
        log = WriteAheadLog(configuration: configuration, files: held?.files)
        number = Self.openings.withLock { openings in
            openings += 1
            return openings
        }
        writer.inDatabase(log.watch)
    }

    /// The files of a writable database; otherwise `nil`.
    var files: HistoryFiles? { held?.files }

    /// The identity of the database's file; `nil` in memory, and for a database opened read-only.
    var id: FileID? { held?.id }

    /// Whether this database must not be used any more.
    var isRetired: Bool { retirement.reason != nil }

    /// The reason for retiring this database; `nil` while it may be used.
    var whyRetired: Retirement.Reason? { retirement.reason }

    func retire(_ reason: Retirement.Reason = .closed) {
        retirement.add(reason)
    }

    // MARK: Reading

    /// Reads from one snapshot.
    /// - Parameter inPlace: Whether the read is short, some hundred rows at most, and may run on the calling
    ///   thread.
    func read<Value: Sendable>(
        inPlace: Bool = false, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await readStatement(inPlace: inPlace) { try $0.snapshot(body) }
    }

    /// Reads with a single statement. One statement is a snapshot by itself.
    func readStatement<Value: Sendable>(
        inPlace: Bool = false, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try checkBeforeReading()
        if inPlace, let value = try readInPlace(body) { return value }
        return try await withCheckedThrowingContinuation { continuation in
            guard let readers else {
                return writerQueue.async {
                    continuation.resume(with: Result { try self.timed(self.inlineReader, body) })
                }
            }
            readers.withConnection { connection in
                let result = Result { try self.timed(connection.get(), body) }
                return { continuation.resume(with: result) }
            }
        }
    }

    /// Reads from one snapshot, on the calling thread. Blocks.
    func readNow<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try checkBeforeReading()
        guard let readers else { return try inlineReader.read { try $0.snapshot(body) } }
        let (turn, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let taken = Locked<Result<ReadConnection, any Error>>(.failure(DatabaseRetired()))
        readers.withConnection { connection in
            taken.withLock { $0 = connection }
            turn.signal()
            done.wait()
            return {}
        }
        turn.wait()
        defer { done.signal() }
        return try timed(taken.withLock { $0 }.get()) { try $0.snapshot(body) }
    }

    private func timed<Value>(_ connection: ReadConnection, _ body: (Database) throws -> Value) throws -> Value {
        do {
            return try inlineReads.timing { try connection.read(body) }
        } catch let error as DatabaseRetired {
            retire()
            throw error
        }
    }

    /// Reads on the calling thread; returns `nil` if the read belongs on a queue.
    ///
    /// Without overlapping reads, the writer's connection serves them too: a process doing one thing at a time
    /// opens one connection.
    private func readInPlace<Value>(_ body: (Database) throws -> Value) throws -> Value? {
        guard let readers, inlineReads.begin() else { return nil }
        defer { inlineReads.end() }
        if let connection = readers.takeIdle() {
            defer { readers.release(connection) }
            return try timed(connection, body)
        }
        guard readers.isEmpty, group.claim() else { return nil }
        defer { if group.release() { startWriter() } }
        return try timed(inlineReader, body)
    }

    /// Refuses to read from a retired database or from replaced files: readers would show an old history forever.
    private func checkBeforeReading() throws {
        guard !isRetired else { throw DatabaseRetired() }
        try held?.refuseReplaced()
    }

    // MARK: Writing

    /// Writes in a transaction shared with all other waiting writes.
    ///
    /// Returns after the commit. Canceling the task before the write is taken prevents the write; after that, the
    /// call returns the true result. Throws `DatabaseRetired` if nothing was written because the database was
    /// closed.
    /// - Parameters:
    ///   - inPlace: Whether the work is short, a few rows and no files, and may run on the calling thread.
    ///   - alone: Whether the write has a transaction of its own. All rows it reads are then committed, and with
    ///     `.full` durable.
    func write<Value: Sendable>(
        inPlace: Bool = false, alone: Bool = false, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        if let cannotWrite { throw NotWritable(cause: cannotWrite) }
        let write = AwaitedWrite(isAlone: alone, body)
        try Task.checkCancellation()
        if inPlace, try runInPlace(write) { return try write.result() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                write.await(by: continuation)
                do {
                    if try group.add(write) { startWriter() }
                } catch {
                    write.finish(error)
                }
            }
        } onCancel: {
            group.cancel(write)
        }
    }

    /// Runs a write on the calling thread. Returns false, without doing anything, if the write belongs on the
    /// queue: another write runs or waits, another process has the lock, or writes have been slow.
    private func runInPlace(_ write: QueuedWrite) throws -> Bool {
        guard !isRetired, !log.isDue, inlineWrites.begin() else { return false }
        defer { inlineWrites.end() }
        guard try group.claim(write) else { return false }
        do {
            guard try held?.tryLock() ?? true else {
                group.unclaim(write)
                if group.release() { startWriter() }
                return false
            }
        } catch {
            write.finish(error)
            if group.release() { startWriter() }
            return true
        }
        commitUnderLock([write])
        held?.unlock()
        if group.release() { startWriter() }
        if log.isDue { maintainLog() }
        return true
    }

    /// Runs work on the writer's connection outside of any transaction, under the process lock.
    func withWriterConnection<Value: Sendable>(
        maxWait: Int? = nil, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        if let cannotWrite { throw NotWritable(cause: cannotWrite) }
        return try await withCheckedThrowingContinuation { continuation in
            let job = WriterJob { [self] in
                continuation.resume(
                    with: Result {
                        try withProcessLock(maxWait: maxWait) {
                            try writer.inDatabase { db in
                                try prepareToWrite(db)
                                return try body(db)
                            }
                        }
                    })
            }
            do {
                if try group.add(job) { startWriter() }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// Moves the log into the database and empties it, unless pending erasures will write to it again. Returns
    /// false if a reader uses an older state. Waits for the process lock for 20 ms at most.
    func truncateLog() async throws -> Bool {
        try await withWriterConnection(maxWait: 20) { [self] db in
            guard try !Eraser.isPending(.session, db), try !Eraser.isPending(.index, db) else { return true }
            guard try log.truncate(db) else { return false }
            try db.inTransaction(.immediate) {
                try Eraser.done(.log, db)
                return .commit
            }
            return true
        }
    }

    private func startWriter() {
        writerQueue.async {
            while true {
                // A limit on the group: in a large crowd, the first writes do not wait for the last.
                let writes = self.group.take(limit: 512)
                guard let first = writes.first else { return }
                if let job = first as? WriterJob {
                    job.run()
                    if self.log.isDue { self.moveLog() }
                } else {
                    self.commit(writes)
                    // Runs after the writes added meanwhile: none of them waits for both a commit and the log.
                    if self.log.isDue { self.maintainLog() }
                }
                guard self.group.linger() else { return }
            }
        }
    }

    private func commit(_ writes: [QueuedWrite]) {
        do {
            guard !isRetired else { throw DatabaseRetired() }
            try withProcessLock { commitUnderLock(writes) }
        } catch {
            for write in writes { write.finish(error) }
        }
    }

    private func commitUnderLock(_ writes: [QueuedWrite]) {
        do {
            try inlineWrites.timing {
                try writer.inDatabase { db in
                    try db.commitTogether(writes, cache) {
                        try prepareToWrite($0)
                        if try !format.check($0) { cache.dropRows() }
                    }
                    format.end(db)
                }
            }
            try held?.confirmCommit()
            for write in writes { write.finish(nil) }
        } catch {
            if error.spoilsConnection { retire(error.isCorruption ? .suspect : .closed) }
            if error is DatabaseRetired { retire() }
            cache.forget()
            for write in writes { write.finish(error) }
        }
    }

    /// Checks the files and removes dead frames from the log, under the process lock and before the first write.
    /// With the log index of a removed file, a commit would overwrite commits of other processes.
    private func prepareToWrite(_ db: Database) throws {
        try held?.refuseReplaced()
        try WriteAheadLog.removeDeadFrames(db)
    }

    /// Runs work under the process lock. No other process writes meanwhile.
    /// - Parameter maxWait: The longest wait for the lock, in milliseconds; `nil` for the wait of any write.
    private func withProcessLock<Result>(maxWait: Int? = nil, _ body: () throws -> Result) throws -> Result {
        guard let held else { return try body() }
        return try held.withLock(maxWait: maxWait, body)
    }

    // MARK: The log

    /// Schedules moving the log into the database after the waiting writes, so that no caller waits for it.
    private func maintainLog() {
        let job = WriterJob {}
        // A sealed group is closing. Closing moves the log too.
        if (try? group.add(job)) == true { startWriter() }
    }

    /// Moves the log into the database. A failure loses nothing: the log stays complete, and a later commit tries
    /// again.
    private func moveLog() {
        do {
            guard !isRetired else { return }
            try withProcessLock {
                guard held?.areUnchanged() ?? true else { return }
                try writer.inDatabase { try log.move($0, holdingBack: readers) }
            }
        } catch {
            log.postpone()
            configuration.logger.warning(
                "checkpoint failed; nothing is lost, all commits are still in the log: \(error)")
        }
    }

    // MARK: Closing

    /// Ends the writes already taken, moves the log into the database if the files are unchanged, and closes the
    /// connections. Blocks. Only `HistoryRegistry` calls it, once.
    func close() {
        retire()
        let isClosed = DispatchSemaphore(value: 0)
        let job = WriterJob { [self] in
            closeConnections()
            isClosed.signal()
        }
        guard let mustStart = group.seal(with: job) else { return }
        if mustStart { startWriter() }
        isClosed.wait()
    }

    /// Closes the connections. A connection does not checkpoint or unlink files when it is closed: it would use
    /// their names, now possibly another database's. The last connection is set to do so only under the lock,
    /// after comparing all identities.
    private func closeConnections() {
        readers?.close()
        do {
            try withProcessLock {
                var isLogEmpty = false
                if case .closed = whyRetired, held?.areUnchanged() ?? false {
                    isLogEmpty = try writer.inDatabase { db in
                        let isEmpty = try log.truncate(db)
                        try db.setCheckpointsOnClose(true)
                        return isEmpty
                    }
                }
                try closeWriter()
                try held?.release(isLogEmpty: isLogEmpty)
            }
        } catch {
            // Nothing is lost: all commits are in the log, and the next opening reads them.
            configuration.logger.debug("closing the history failed: \(error)")
            try? closeWriter()
            try? held?.release(isLogEmpty: false)
        }
    }

    private func closeWriter() throws {
        writer.inDatabase { _ in cache.releaseStatements() }
        try writer.close()
    }
}
