import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An open regular file and the few calls that a store makes on it. Closed when released; not for two threads at once.
///
/// All of them block, and all throw `POSIXFailure`.
package final class OpenFile {
    package let descriptor: Int32
    /// Where it was opened, for messages.
    package let path: String

    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        close(descriptor)
    }

    /// Takes the file's lock if nobody holds it, neither another process nor another opening in this one; it is held until the
    /// file is closed. Returns whether it was taken.
    package func lockIfFree() throws -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            guard errno == EINTR else { throw POSIXFailure.last }
        }
        return true
    }

    /// The file's length in bytes.
    package func size() throws -> Int {
        Int(try status(of: descriptor).st_size)
    }

    /// The bytes at an offset: fewer than `count` only where the file ends.
    package func read(at offset: Int, count: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count, let start = buffer.baseAddress {
                let got = try retrying { pread(descriptor, start + filled, count - filled, off_t(offset + filled)) }
                if got == 0 { return }
                filled += got
            }
        }
    }

    /// Writes all bytes at an offset, in one call as far as the system lets it.
    package func write(_ bytes: [UInt8], at offset: Int) throws {
        try FileObservation.perform(.write(descriptor: descriptor, path: path, offset: offset, bytes: bytes)) {
            try bytes.withUnsafeBytes { buffer in
                var written = 0
                while written < buffer.count, let start = buffer.baseAddress {
                    written += try retrying {
                        pwrite(descriptor, start + written, buffer.count - written, off_t(offset + written))
                    }
                }
            }
        }
    }

    /// Cuts the file, or makes it longer by NUL bytes.
    func truncate(to size: Int) throws {
        try FileObservation.perform(.truncate(descriptor: descriptor, path: path, size: size)) {
            _ = try retrying { Int(ftruncate(descriptor, off_t(size))) }
        }
    }

    /// Gives the file the owner and the group of another one, as far as this process may, and lets those read, write and execute it who may
    /// do so with that one; nothing changes on a file system without rights.
    package func takeRights(of other: OpenFile) throws {
        let (mine, theirs) = (try status(of: descriptor), try status(of: other.descriptor))
        // Before the rights, of which a change of the owner takes some away. Only root may give a file to another user.
        if mine.st_uid != theirs.st_uid || mine.st_gid != theirs.st_gid,
            fchown(descriptor, theirs.st_uid, theirs.st_gid) != 0
        {
            _ = fchown(descriptor, mine.st_uid, theirs.st_gid)
        }
        _ = fchmod(descriptor, theirs.st_mode & 0o777)
    }

    /// Returns when everything written so far is on the disk, past power loss.
    package func synchronize() throws {
        try FileObservation.perform(.synchronizeFile(descriptor: descriptor, path: path)) {
            #if canImport(Darwin)
                // `fsync` on Darwin leaves the bytes in the drive's cache.
                if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
                _ = try retrying { Int(fsync(descriptor)) }
            #else
                _ = try retrying { Int(fdatasync(descriptor)) }
            #endif
        }
    }

    /// After this, nothing written later reaches the disk before what was written so far.
    package func orderWrites() throws {
        #if canImport(Darwin)
            if fcntl(descriptor, F_BARRIERFSYNC) == 0 { return }
        #endif
        try synchronize()
    }
}

/// Calls until it was not interrupted; a negative result is a failure.
func retrying(_ call: () -> Int) throws -> Int {
    while true {
        let result = call()
        if result >= 0 { return result }
        guard errno == EINTR else { throw POSIXFailure.last }
    }
}

/// What the system knows of an open file.
func status(of descriptor: Int32) throws -> stat {
    var status = stat()
    _ = try retrying { Int(fstat(descriptor, &status)) }
    return status
}
