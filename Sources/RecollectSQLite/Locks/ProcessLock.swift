import Dispatch
import Foundation
import Logging
import RecollectCore
import RecollectFileSystem

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An exclusive lock between processes, and between the threads of this one, on a file beside the database.
///
/// SQLite 3.7.0–3.51.2 can lose committed writes when one connection checkpoints while another commits (the
/// WAL-reset bug, https://sqlite.org/wal.html#walresetbug). Every write transaction, checkpoint, opening and
/// closing runs under this lock, so no checkpoint overlaps another commit. A transaction holds it for milliseconds:
/// iOS kills a suspended app holding a lock.
///
/// `flock` belongs to an open file, not to a thread, so a flag excludes the other threads. Each acquisition
/// compares the locked file with the file at the path: a lock on a deleted file excludes no one.
final class ProcessLock: Sendable {
    private struct State {
        var file: LockFile
        var isHeld = false
        /// The number of this acquisition among those of all locks in this process.
        var holder: UInt64 = 0
    }

    private static let takings = Locked<UInt64>(0)

    private let path: String
    private let logger: Logger?
    private let state: Locked<State>

    /// Creates the lock with its file, and creates the file if it is missing.
    /// - Parameter logger: The logger for a wait of more than two seconds.
    init(path: String, logger: Logger? = nil) throws {
        self.path = path
        self.logger = logger
        state = Locked(State(file: try LockFile(path: path)))
    }

    /// Runs `body` under the lock. Blocks. Never call it from the cooperative pool.
    /// - Parameter timeout: The maximum wait for the lock, in milliseconds.
    /// - Throws: `busy` after the timeout.
    func withLock<Result>(timeout: Int, _ body: () throws -> Result) throws -> Result {
        try acquire(timeout: timeout)
        defer { release() }
        return try body()
    }

    /// Acquires the lock if it is free. Returns whether it did.
    func tryAcquire() throws -> Bool {
        try state.withLock { state in
            guard !state.isHeld, try state.file.tryLock() else { return false }
            // Checked again after each reopening: the new file may be deleted as well.
            while FileID(at: path) != state.file.id {
                state.file = try LockFile(path: path)
                guard try state.file.tryLock() else { return false }
            }
            state.isHeld = true
            state.holder = Self.takings.withLock { takings in
                takings += 1
                return takings
            }
            FileObservation.note(.lock(path: path, holder: state.holder))
            return true
        }
    }

    /// Releases the lock.
    func release() {
        state.withLock { state in
            FileObservation.note(.unlock(path: path, holder: state.holder))
            state.file.unlock()
            state.isHeld = false
        }
    }

    /// Acquires the lock. Blocks. Never call it from the cooperative pool.
    /// - Parameter timeout: The maximum wait, in milliseconds.
    /// - Throws: `busy` after the timeout.
    func acquire(timeout: Int) throws {
        if try tryAcquire() { return }
        var pause: UInt32 = 50
        let start = DispatchTime.now()
        let deadline = start + .milliseconds(timeout)
        var isReported = false
        while try !tryAcquire() {
            guard DispatchTime.now() < deadline else { throw busy(for: timeout) }
            if !isReported, DispatchTime.now() > start + .seconds(2) {
                isReported = true
                logger?.warning(
                    "waiting for a history's lock, held by \(LockHolder(of: path)?.description ?? "an unknown process")"
                )
            }
            usleep(pause)
            pause = min(pause * 2, 2000)
        }
    }
}

extension ProcessLock {
    private func busy(for timeout: Int) -> RecollectError {
        let holder = LockHolder(of: path)
        let advice =
            holder?.isStopped ?? false
            ? "continue that process (kill -CONT) or end it" : "end that process or try again later"
        return RecollectError(
            .busy, "\(path) has been locked for \(timeout) ms by \(holder?.description ?? "another process"); \(advice)"
        )
    }
}

/// An open lock file. Closing it releases its lock.
final class LockFile: Sendable {
    let id: FileID
    private let descriptor: Int32
    private let path: String

    init(path: String) throws {
        self.path = path
        do {
            descriptor = try FileObservation.perform(.makeFile(path: path)) {
                let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
                guard opened >= 0 else { throw POSIXFailure.last }
                return opened
            }
        } catch let failure as POSIXFailure {
            throw RecollectError(failure, doing: "open the lock file", path: path)
        }
        guard let id = FileID(of: descriptor) else {
            let failure = POSIXFailure.last
            close(descriptor)
            throw RecollectError(failure, doing: "open the lock file", path: path)
        }
        self.id = id
    }

    deinit {
        close(descriptor)
    }

    /// Locks the file unless it has a conflicting lock. Returns whether it did.
    /// - Parameter shared: Whether other shared locks are allowed.
    func tryLock(shared: Bool = false) throws -> Bool {
        if flock(descriptor, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 { return true }
        guard errno == EWOULDBLOCK || errno == EINTR else { throw RecollectError(.last, doing: "lock", path: path) }
        return false
    }

    func unlock() {
        flock(descriptor, LOCK_UN)
    }
}
