import Foundation
import RecollectCore

/// Counters for the writes of each file, because sync services are unsuitable for frequent changes.
///
/// Counts the writes of one instance. Has the 512 files written last, and for each file the dates of the last
/// minute, at most 1,024.
final class WriteCounters: Sendable {
    /// The number of writes of one file.
    struct WriteCount: Hashable, Sendable {
        /// The number of writes since the first one counted.
        var total: Int
        /// The number of writes in the minute before the requested date.
        var lastMinute: Int
        /// The date of the last write.
        var last: Date
    }

    private struct Writes {
        var total = 0
        /// The dates in the last minute, oldest first.
        var dates: [Date] = []
        var last: Date

        /// Returns the dates less than a minute from a date. After a clock is set back, this includes dates in the
        /// future.
        func recent(at date: Date) -> [Date] {
            dates.filter { abs(date.timeIntervalSince($0)) < 60 }
        }
    }

    static let maxFileCount = 512
    static let maxDates = 1_024

    private let files = Locked<[WorkspacePath: Writes]>([:])

    /// Counts a write, and returns the number of writes of the file in the last minute, including this one.
    func count(_ path: WorkspacePath, at date: Date) -> Int {
        files.withLock { files in
            if files[path] == nil, files.count >= Self.maxFileCount {
                // The file with the oldest last write is dropped.
                files.min { $0.value.last < $1.value.last }.map { files[$0.key] = nil }
            }
            var writes = files[path] ?? Writes(last: date)
            writes.total += 1
            writes.last = date
            writes.dates = (writes.recent(at: date) + [date]).suffix(Self.maxDates)
            files[path] = writes
            return writes.dates.count
        }
    }

    /// Returns all counts at a date.
    func snapshot(at date: Date = Date()) -> [WorkspacePath: WriteCount] {
        files.withLock { files in
            files.mapValues {
                WriteCount(total: $0.total, lastMinute: $0.recent(at: date).count, last: $0.last)
            }
        }
    }
}
