import RecollectCore

/// The files of an open database: their lock between processes, and their identity.
///
/// Replaced files retire the database. Its next use opens the new files.
final class HeldFiles: Sendable {
    let files: HistoryFiles
    private let guardian: FileGuard
    private let lock: ProcessLock
    /// Held while the database is open with `durability: .relaxed`.
    private let mark: LockFile?
    private let timeout: Int
    private let retirement: Retirement

    /// - Parameters:
    ///   - identity: The identity of the open files: see `HistoryFiles.identityForOpening`.
    ///   - mark: The mark of a database with `durability: .relaxed`.
    ///   - timeout: The longest wait for the lock, in milliseconds.
    ///   - retirement: The database's.
    init(
        _ files: HistoryFiles, identity: HistoryFiles.Identity, lock: ProcessLock, mark: LockFile?, timeout: Int,
        retirement: Retirement
    ) {
        self.files = files
        guardian = FileGuard(files: files, identity: identity)
        self.lock = lock
        self.mark = mark
        self.timeout = timeout
        self.retirement = retirement
    }

    /// The identity of the database's file.
    var id: FileID? { guardian.databaseID }

    // MARK: Identity

    /// Compares the paths with the open files. Returns false, and retires the database, for replaced files.
    func areUnchanged() -> Bool {
        if guardian.filesAreUnchanged() { return true }
        retirement.add(.replaced)
        return false
    }

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
                + "this save may be lost; the next use opens what is there now")
    }

    // MARK: The lock

    /// Runs work while no other process writes.
    /// - Parameter patience: The longest wait for the lock, in milliseconds; `nil` for as long as any write waits.
    func withLock<Result>(patience: Int? = nil, _ body: () throws -> Result) throws -> Result {
        try take { try lock.acquire(timeout: patience ?? timeout) }
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

    /// Retires the database if its lock fails for another reason than `busy`: the folder may be gone.
    private func take<Value>(_ taking: () throws -> Value) throws -> Value {
        do {
            return try taking()
        } catch {
            if (error as? RecollectError)?.code != .busy { retirement.add(.replaced) }
            throw error
        }
    }

    // MARK: Closing

    /// Releases the mark, after the connections were closed. Under the lock.
    /// - Parameter isLogEmpty: True after the log was emptied.
    func release(isLogEmpty: Bool) throws {
        guard let mark else { return }
        mark.unlock()
        // Another process goes on, with `.full` perhaps. After the last one, the next opening needs the mark or removes it.
        if isLogEmpty, FileID(at: files.sharedMemory) != nil { try files.removeRelaxedMark() }
    }
}
