import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A stamp of a file's state: device, inode, size and modification time. Comparing stamps detects changes without
/// reading the file.
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

    /// Creates the stamp of the file at a path, following symbolic links; `nil` if the system returns an error.
    package init?(at path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Whether the modification time is after another one.
    package func isLater(than other: FileStamp) -> Bool {
        (seconds, nanoseconds) > (other.seconds, other.nanoseconds)
    }

    /// Whether the modification time has a fraction of a second. On a file system without fractions, it never has.
    package var hasFraction: Bool { nanoseconds != 0 }

    /// Whether the file system's clock has ticked since the last change, so that another change gives another
    /// stamp.
    package func isStable(at now: Date) -> Bool {
        Self.isStable(seconds: seconds, nanoseconds: nanoseconds, at: now)
    }

    /// Whether a file system's clock has ticked between a time and `now`, in either order: clocks are set back.
    ///
    /// The clock ticks every 10 ms. On file systems with times in whole seconds (HFS+, FAT, ext3), it ticks every
    /// one or two seconds.
    package static func isStable(seconds: Int64, nanoseconds: Int64, at now: Date) -> Bool {
        let age = now.timeIntervalSince1970 - Double(seconds) - Double(nanoseconds) / 1e9
        return abs(age) > (nanoseconds == 0 ? 3 : 0.02)
    }

    /// Whether the last change was more than three seconds ago. A change in the future does not rest.
    ///
    /// The coarsest tick of a file system is two seconds. Until it has passed, another change may leave the same
    /// stamp.
    package func isResting(at now: Date) -> Bool {
        now.timeIntervalSince1970 - Double(seconds) > 3
    }
}

extension FileStamp: CustomStringConvertible {
    /// All fields of the stamp, in one line.
    package var description: String {
        // Runs for each file of each scan; interpolation would be a large part of its time.
        String(unsafeUninitializedCapacity: 5 * 21) { buffer in
            var count = 0
            func write(_ value: some FixedWidthInteger, _ separator: UInt8?) {
                if let separator { put(separator) }
                if value < 0 { put(UInt8(ascii: "-")) }
                let start = count
                var rest = value.magnitude
                repeat {
                    put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
                    rest /= 10
                } while rest > 0
                buffer[start..<count].reverse()
            }
            func put(_ byte: UInt8) {
                buffer.initializeElement(at: count, to: byte)
                count += 1
            }
            let space = UInt8(ascii: " ")
            write(device, nil)
            write(inode, space)
            write(size, space)
            write(seconds, space)
            write(nanoseconds, UInt8(ascii: "."))
            return count
        }
    }
}

extension OpenFolder {
    /// Returns the stamp of a name in this folder, without following a symbolic link.
    package func stamp(of name: String) throws -> FileStamp {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { throw POSIXFailure.last }
        return FileStamp(status)
    }
}

extension OpenFile {
    /// Returns the stamp of this file.
    package func stamp() throws -> FileStamp {
        FileStamp(try status(of: descriptor))
    }
}
