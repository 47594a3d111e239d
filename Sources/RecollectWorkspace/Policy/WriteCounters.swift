import Foundation
import RecollectCore

/// How often files are written: a synced folder is not made for files that change all the time.
///
/// Counts what this instance wrote. Keeps the latest 512 files and of each the moments of a minute, at most 1,024.
final class WriteCounters: Sendable {
    /// How often one file was written.
    struct WriteCount: Hashable, Sendable {
        /// Since it was first counted here.
        var total: Int
        /// In the minute before the moment that was asked about.
        var lastMinute: Int
        /// The last write.
        var last: Date
    }

    private struct Writes {
        var total = 0
        /// Those of the last minute, oldest first.
        var moments: [Date] = []
        var last: Date

        /// A clock that was set back leaves moments in the future: they count until it has caught up, and are not kept beyond that.
        func recent(at moment: Date) -> [Date] {
            moments.filter { abs(moment.timeIntervalSince($0)) < 60 }
        }
    }

    static let mostFiles = 512
    static let mostMoments = 1_024

    private let files = Locked<[WorkspacePath: Writes]>([:])

    /// Counts a write, and tells how many there were of that file in the last minute, this one too.
    func count(_ path: WorkspacePath, at moment: Date) -> Int {
        files.withLock { files in
            if files[path] == nil, files.count >= Self.mostFiles {
                // The one that rests longest is forgotten.
                files.min { $0.value.last < $1.value.last }.map { files[$0.key] = nil }
            }
            var writes = files[path] ?? Writes(last: moment)
            writes.total += 1
            writes.last = moment
            writes.moments = (writes.recent(at: moment) + [moment]).suffix(Self.mostMoments)
            files[path] = writes
            return writes.moments.count
        }
    }

    /// All counts as they are at a moment.
    func snapshot(at moment: Date = Date()) -> [WorkspacePath: WriteCount] {
        files.withLock { files in
            files.mapValues {
                WriteCount(total: $0.total, lastMinute: $0.recent(at: moment).count, last: $0.last)
            }
        }
    }
}
