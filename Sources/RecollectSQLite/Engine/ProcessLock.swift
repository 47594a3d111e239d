import Foundation
import RecollectCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An exclusive lock between processes, on a file beside the database.
///
/// SQLite 3.7.0–3.51.2 can lose committed writes when one connection checkpoints while another commits (the WAL-reset bug,
/// https://sqlite.org/wal.html#walresetbug). Every write transaction with its checkpoint runs under this lock, so that no
/// checkpoint meets another process's commit. It is held for one transaction only: a lock that is held while an iOS app is
/// suspended kills the app.
final class ProcessLock: Sendable {
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
    }

    deinit {
        close(descriptor)
    }

    /// Runs `body` while no other process does. Blocks; never call it from the cooperative pool.
    /// - Parameter timeout: how long to wait, in milliseconds.
    /// - Throws: `busy` when the time is over.
    func withLock<Result>(timeout: Int, _ body: () throws -> Result) throws -> Result {
        try acquire(timeout: timeout)
        let holder = Self.takings.withLock { takings in
            takings += 1
            return takings
        }
        FileObservation.note(.lock(path: path, holder: holder))
        defer {
            FileObservation.note(.unlock(path: path, holder: holder))
            flock(descriptor, LOCK_UN)
        }
        return try body()
    }

    private static let takings = Locked<UInt64>(0)

    private func acquire(timeout: Int) throws {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
        var pause: UInt32 = 50
        let deadline = DispatchTime.now() + .milliseconds(timeout)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw RecollectError(.last, doing: "lock", path: path)
            }
            guard DispatchTime.now() < deadline else {
                throw RecollectError(
                    .busy,
                    "another process has held \(path) for \(timeout) ms; end it or try again when it is done")
            }
            usleep(pause)
            pause = min(pause * 2, 2000)
        }
    }
}
