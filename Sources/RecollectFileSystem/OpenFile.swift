import CRecollectFileSystem
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An open regular file, with the operations used by stores. The descriptor is closed on release.
///
/// Not safe for use by several threads at once. All calls block, and throw `POSIXFailure`.
package final class OpenFile {
    package let descriptor: Int32
    /// The path at which the file was opened, for messages.
    package let path: String

    package init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        close(descriptor)
    }

    /// Takes the file's exclusive lock if it is free, and holds it until the file is closed.
    ///
    /// The lock excludes other processes and other descriptors in this process.
    /// - Returns: Whether the lock was taken.
    package func lockIfFree() throws -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            guard errno == EINTR else { throw POSIXFailure.last }
        }
        return true
    }

    /// Returns the file's length in bytes.
    package func size() throws -> Int {
        Int(try status(of: descriptor).st_size)
    }

    /// Returns the length of the file at a path in bytes, following symbolic links; 0 if there is no file.
    package static func size(at path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Returns the bytes at an offset: fewer than `count` only at the end of the file.
    package func read(at offset: Int, count: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count, let start = buffer.baseAddress {
                let got = try retrying { pread(descriptor, start + filled, count - filled, off_t(offset + filled)) }
                if got == 0 { return }
                filled += got
            }
        }
    }

    /// Writes all bytes at an offset, in one call if the system allows it.
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

    /// Truncates the file, or extends it with NUL bytes.
    package func truncate(to size: Int) throws {
        try FileObservation.perform(.truncate(descriptor: descriptor, path: path, size: size)) {
            _ = try retrying { Int(ftruncate(descriptor, off_t(size))) }
        }
    }

    /// Copies the owner, the group and the permissions to read, write and execute from another file, as far as
    /// this process may. If the group stays another one, it gets only the permissions of everyone.
    ///
    /// On a file system without permissions, nothing changes.
    package func takeRights(of other: OpenFile) throws {
        let (mine, theirs) = (try status(of: descriptor), try status(of: other.descriptor))
        // First the owner, or else the old group gets the permissions. Only root may give a file to another user.
        if mine.st_uid != theirs.st_uid || mine.st_gid != theirs.st_gid,
            fchown(descriptor, theirs.st_uid, theirs.st_gid) != 0
        {
            _ = fchown(descriptor, mine.st_uid, theirs.st_gid)
        }
        let everyones = theirs.st_mode & 0o007
        let hasGroup = try status(of: descriptor).st_gid == theirs.st_gid
        _ = fchmod(descriptor, theirs.st_mode & (hasGroup ? 0o777 : 0o707 | everyones << 3))
    }

    /// Copies the extended attributes set by users and programs from another file. Attributes that cannot be copied
    /// are left out.
    package func takeExtendedAttributes(of other: OpenFile) {
        recollect_copy_extended_attributes(other.descriptor, descriptor)
    }

    /// Makes all bytes written so far durable.
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

    /// Orders writes: no later write reaches the disk before the bytes written so far.
    package func orderWrites() throws {
        #if canImport(Darwin)
            if fcntl(descriptor, F_BARRIERFSYNC) == 0 { return }
        #endif
        try synchronize()
    }
}

/// Repeats a system call while it is interrupted. A negative result is thrown as `POSIXFailure`.
func retrying(_ call: () -> Int) throws -> Int {
    while true {
        let result = call()
        if result >= 0 { return result }
        guard errno == EINTR else { throw POSIXFailure.last }
    }
}

/// Returns the system's record of an open file.
func status(of descriptor: Int32) throws -> stat {
    var status = stat()
    _ = try retrying { Int(fstat(descriptor, &status)) }
    return status
}
