import CFiles
import Foundation

/// A file's identity, size and times of change. A write changes it, if it was settled.
struct FileStamp: Equatable, Sendable {
    private let id: FileID
    private let size: Int64
    private let modified: Time
    private let changed: Time

    private struct Time: Equatable {
        let seconds: Int64
        let nanoseconds: Int64
    }

    /// Stamps the file at a path, through symbolic links; `nil` where there is none.
    init?(at path: String) {
        var stamp = recollect_file_stamp()
        guard recollect_stamp_file(path, &stamp) == 0 else { return nil }
        id = FileID(stamp.id)
        size = stamp.size
        modified = Time(seconds: stamp.modified_seconds, nanoseconds: stamp.modified_nanoseconds)
        changed = Time(seconds: stamp.changed_seconds, nanoseconds: stamp.changed_nanoseconds)
    }

    /// An upper bound of the file system's clock tick, in seconds. Some file systems count whole seconds, FAT two at a time.
    var tick: Double { modified.nanoseconds == 0 && changed.nanoseconds == 0 ? 2.05 : 0.02 }

    /// Whether a write from now on gives the file another stamp: the file system's clock has ticked since the last change.
    var isSettled: Bool {
        let age = Date().timeIntervalSince1970 - (Double(changed.seconds) + Double(changed.nanoseconds) / 1e9)
        return age > tick
    }
}
