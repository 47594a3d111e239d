import RecollectCore
import RecollectFileSystem

/// The files of an open database: their lock between processes, and their identity.
///
/// Replaced files retire the database. Its next use opens the new files.
final class LockedFiles: Sendable {
    let files: HistoryFiles
    private let replacementWatch: ReplacementWatch
    private let lock: ProcessLock
    /// The lock on the mark of `durability: .relaxed`, held while the database is open.
    private let mark: LockFile?
    private let timeout: Int
    private let retirement: Retirement

    /// Creates the record of the open files.
    /// - Parameters:
    ///   - identity: The identity of the open files: see `HistoryFiles.identityForOpening`.
    ///   - mark: The mark of a database with `durability: .relaxed`.
    ///   - timeout: The longest wait for the lock, in milliseconds.
    ///   - retirement: The retirement of the database.
    init(
        _ files: HistoryFiles, identity: HistoryFiles.Identity, lock: ProcessLock, mark: LockFile?, timeout: Int,
        retirement: Retirement
    ) {
        self.files = files
        replacementWatch = ReplacementWatch(files: files, identity: identity)
        self.lock = lock
        self.mark = mark
        self.timeout = timeout
        self.retirement = retirement
    }

    /// The identity of the database's file.
    var id: FileID? { replacementWatch.databaseID }

    // MARK: Identity

    /// Compares the paths with the open files. For replaced files, retires the database and returns false.
    func areUnchanged() -> Bool {
        if replacementWatch.filesAreUnchanged() { return true }
        retirement.add(.replaced)
        return false
    }

    /// Checks that the paths still refer to the open files.
    /// - Throws: `DatabaseRetired` for replaced files.
    func refuseReplaced() throws {
        guard areUnchanged() else { throw DatabaseRetired() }
    }

    /// Checks the files after a commit. A write to an unlinked file succeeds and is lost.
    /// - Throws: `storeReplaced` for replaced files.
    func confirmCommit() throws {
        guard !areUnchanged() else { return }
        throw RecollectError(
            .storeReplaced,
            "the history's files in \(files.directory.path) were replaced or removed while they were open; "
                + "this save may be lost; the next access opens the new files")
    }

    // MARK: The lock

    /// Runs work under the process lock. No other process writes meanwhile.
    /// - Parameter maxWait: The longest wait for the lock, in milliseconds; `nil` for the wait of any write.
    func withLock<Result>(maxWait: Int? = nil, _ body: () throws -> Result) throws -> Result {
        try take { try lock.acquire(timeout: maxWait ?? timeout) }
        defer { lock.release() }
        return try body()
    }

    /// Takes the lock if it is free. Returns true on success.
    func tryLock() throws -> Bool {
        try take { try lock.tryAcquire() }
    }

    func unlock() {
        lock.release()
    }

    /// Retires the database if the lock fails for any reason but `busy`: the folder may be gone.
    private func take<Value>(_ taking: () throws -> Value) throws -> Value {
        do {
            return try taking()
        } catch {
            if (error as? RecollectError)?.code != .busy { retirement.add(.replaced) }
            throw error
        }
    }

    // MARK: Closing

    /// Releases the mark, after the connections were closed. Call it under the lock.
    /// - Parameter isLogEmpty: True after the log was emptied.
    func release(isLogEmpty: Bool) throws {
        guard let mark else { return }
        mark.unlock()
        // Another process may continue, perhaps with `.full`. After the last one, the next opening needs the mark
        // or removes it.
        if isLogEmpty, FileID(at: files.sharedMemory) != nil { try files.removeRelaxedMark() }
    }
}
