import Dispatch
import Foundation
import RecollectCore

/// Lets short database work run on the calling thread instead of a queue: two changes of threads cost as much as a save.
///
/// The calling thread belongs to Swift's cooperative pool, which has one thread for each core. So at most one thread of the process
/// works in place at any time, never the main thread, and only while a database's recent work was short.
struct InlineWork: Sendable {
    /// The longest average of recent work, in nanoseconds, that still runs in place.
    private static let longest: Int64 = 300_000
    private static let isClaimed = Locked(false)

    /// A moving average of the time that work took, in nanoseconds.
    private let average = Locked<Int64>(0)

    /// Claims the calling thread. Returns false where the work belongs on a queue; else the caller must call `end`.
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

    /// Runs work and takes its time into the average.
    func timing<Result>(_ work: () throws -> Result) rethrows -> Result {
        let start = DispatchTime.now().uptimeNanoseconds
        defer {
            // A single slow sync, of 10 ms say, must not send hundreds of saves to the queue: no time counts for more than 2 ms.
            let time = Int64(min(DispatchTime.now().uptimeNanoseconds - start, 2_000_000))
            average.withLock { $0 += (time - $0) / 16 }
        }
        return try work()
    }
}
