import Dispatch
import Foundation
import RecollectCore

/// Runs short database work on the calling thread instead of a queue: two changes of threads cost as much as a
/// save.
///
/// The calling thread belongs to Swift's cooperative pool, with one thread for each core. So at most one thread of
/// the process works in place at any time, never the main thread, and only while a database's recent work was
/// short.
struct InlineWork: Sendable {
    /// The longest average duration of recent work run in place, in nanoseconds.
    private static let longest: Int64 = 300_000
    private static let isClaimed = Locked(false)

    /// A moving average of the duration of work, in nanoseconds.
    private let average = Locked<Int64>(0)

    /// Claims the calling thread. Returns false if the work belongs on a queue; otherwise the caller must call
    /// `end`.
    func begin() -> Bool {
        guard average.withLock({ $0 < Self.longest }), !Thread.isMainThread else { return false }
        return Self.isClaimed.withLock { isClaimed in
            defer { isClaimed = true }
            return !isClaimed
        }
    }

    func end() {
        Self.isClaimed.withLock { $0 = false }
    }

    /// Runs work and adds its duration to the average.
    func timing<Result>(_ work: () throws -> Result) rethrows -> Result {
        let start = DispatchTime.now().uptimeNanoseconds
        defer {
            // A single slow sync, of 10 ms for example, must not send hundreds of saves to the queue: each
            // duration counts as 2 ms at most.
            let time = Int64(min(DispatchTime.now().uptimeNanoseconds - start, 2_000_000))
            average.withLock { $0 += (time - $0) / 16 }
        }
        return try work()
    }
}
