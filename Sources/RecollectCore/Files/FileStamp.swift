import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// What tells a changed file from the same file unchanged, without reading it: which it is, its length, and when it was changed.
package struct FileStamp: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int64
    private let nanoseconds: Int64

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        seconds = Int64(time.tv_sec)
        nanoseconds = Int64(time.tv_nsec)
    }

    /// The stamp of the file at a path, through symbolic links; `nil` where there is none.
    package init?(at path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Whether its time has a fraction of a second. On file systems without fractions none has.
    package var hasFraction: Bool { nanoseconds != 0 }

    /// Whether another change gives another stamp: the file system's clock has ticked since the last change.
    package func isSettled(at now: Date) -> Bool {
        Self.isSettled(seconds: seconds, nanoseconds: nanoseconds, at: now)
    }

    /// Whether a file system's clock has ticked since a time, seen from a moment before or behind it: clocks are set back.
    ///
    /// It ticks every 10 ms, but every one or two seconds in times without a fraction (HFS+, FAT, ext3).
    package static func isSettled(seconds: Int64, nanoseconds: Int64, at now: Date) -> Bool {
        let age = now.timeIntervalSince1970 - Double(seconds) - Double(nanoseconds) / 1e9
        return abs(age) > (nanoseconds == 0 ? 3 : 0.02)
    }

    /// Whether the last change is longer ago than the coarsest tick of a file system, two seconds: until then another change may
    /// leave the same stamp. A change in the future is none that rests.
    func isResting(at now: Date) -> Bool {
        now.timeIntervalSince1970 - Double(seconds) > 3
    }
}

extension FileStamp: CustomStringConvertible {
    /// All that it knows, in a line.
    package var description: String { "\(device) \(inode) \(size) \(seconds).\(nanoseconds)" }
}

extension OpenFolder {
    /// The stamp of what a name in this folder stands for; a symbolic link is not followed.
    func stamp(of name: String) throws -> FileStamp {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { throw POSIXFailure.last }
        return FileStamp(status)
    }
}
