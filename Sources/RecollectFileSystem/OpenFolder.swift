import CRecollectFileSystem
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An open folder. Names in it are resolved relative to its descriptor, and no symbolic link leads out of it.
///
/// The descriptor is closed on release. All calls block. Failures are thrown as `POSIXFailure`.
package final class OpenFolder: Sendable {
    package let descriptor: Int32
    /// The path at which the folder was opened, for messages.
    package let path: String
    private let parent: OpenFolder?

    private init(descriptor: Int32, path: String, parent: OpenFolder?) {
        self.descriptor = descriptor
        self.path = path
        self.parent = parent
    }

    deinit {
        close(descriptor)
    }

    /// Opens the folder at a path. Symbolic links in the path are followed: they are the caller's choice.
    package convenience init(path: String) throws {
        let descriptor = try retrying { Int(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) }
        self.init(descriptor: Int32(descriptor), path: path, parent: nil)
    }

    /// Opens the folder at a path, and creates it and its ancestors if missing. Created folders have mode 0700 and
    /// durable names.
    package static func make(path: String) throws -> OpenFolder {
        do {
            return try OpenFolder(path: path)
        } catch let failure as POSIXFailure where failure.number == ENOENT && path != "/" {
            let url = URL(fileURLWithPath: path, isDirectory: true)
            let parent = try make(path: url.deletingLastPathComponent().path)
            try parent.makeFolder(url.lastPathComponent)
            try parent.synchronize()
            return try OpenFolder(path: path)
        }
    }

    /// Whether the file system has dates of change that no program can set: not FAT, exFAT or FUSE.
    package var hasChangeDates: Bool { recollect_has_change_dates(descriptor) != 0 }

    /// Returns the path of a name in this folder, for messages.
    package func path(of name: String) -> String {
        path + "/" + name
    }

    /// Opens a folder in this folder. A symbolic link or a file of this name is an error.
    package func folder(_ name: String) throws -> OpenFolder {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let opened = try retrying { Int(openat(descriptor, name, flags)) }
        return OpenFolder(descriptor: Int32(opened), path: path(of: name), parent: self)
    }

    /// Creates a folder with mode 0700, unless the name exists.
    package func makeFolder(_ name: String) throws {
        try FileObservation.perform(.makeFolder(path: path(of: name))) {
            if mkdirat(descriptor, name, 0o700) != 0, errno != EEXIST { throw POSIXFailure.last }
        }
    }

    /// Opens a regular file in this folder. A symbolic link, a folder or a device of this name is an error.
    package func file(_ name: String, forWriting: Bool) throws -> OpenFile {
        let flags = (forWriting ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let opened = try retrying { Int(openat(descriptor, name, flags)) }
        let file = OpenFile(descriptor: Int32(opened), path: path(of: name))
        switch try status(of: file.descriptor).st_mode & S_IFMT {
        case S_IFREG: return file
        case S_IFDIR: throw POSIXFailure(EISDIR)
        default: throw POSIXFailure(ENXIO)
        }
    }

    /// Creates a file with mode 0600. An existing file of this name is an error.
    package func makeFile(_ name: String) throws -> OpenFile {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let opened = try FileObservation.perform(.makeFile(path: path(of: name))) {
            try retrying { Int(openat(descriptor, name, flags, 0o600)) }
        }
        return OpenFile(descriptor: Int32(opened), path: path(of: name))
    }

    /// Returns the names in this folder, byte for byte and in no order. Names not in UTF-8 are left out: Recollect
    /// writes none.
    /// - Parameter repairing: Whether to include those names, too, with replacement characters. They are for
    ///   display only.
    package func names(repairing: Bool = false) throws -> [String] {
        // A separate descriptor, because reading a folder moves its position.
        let copy = Int32(try retrying { Int(openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) })
        guard let stream = fdopendir(copy) else {
            let failure = POSIXFailure.last
            close(copy)
            throw failure
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw POSIXFailure.last }
                return names
            }
            guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return names }
            let start = (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)
            let name = String(validatingCString: start) ?? (repairing ? String(cString: start) : nil)
            if let name, name != ".", name != ".." { names.append(name) }
        }
    }

    /// Makes the names in this folder durable. Before, a power loss may remove a new or renamed file.
    package func synchronize() throws {
        try FileObservation.perform(.synchronizeFolder(path: path)) {
            #if canImport(Darwin)
                if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
            #endif
            _ = try retrying { Int(fsync(descriptor)) }
        }
    }

    /// Orders writes: no later write reaches the disk before the names now in this folder.
    package func orderWrites() throws {
        #if canImport(Darwin)
            if fcntl(descriptor, F_BARRIERFSYNC) == 0 { return }
        #endif
        try synchronize()
    }

    /// Makes the names in this folder and in its ancestors durable, up to the folder opened by path.
    package func synchronizePath() throws {
        try synchronize()
        try parent?.synchronizePath()
    }

    /// Locks this folder until it is closed, against all other processes and all other descriptors in this
    /// process.
    ///
    /// Fails only on a file system without locks, or with `EWOULDBLOCK` after waiting `maxWait` for another
    /// owner.
    package func lock(exclusively: Bool, maxWait: Duration = .seconds(30)) throws {
        let operation = (exclusively ? LOCK_EX : LOCK_SH) | LOCK_NB
        let deadline = ContinuousClock.now + maxWait
        var pause: useconds_t = 50
        while flock(descriptor, operation) != 0 {
            if errno == EINTR { continue }
            guard errno == EWOULDBLOCK, ContinuousClock.now < deadline else { throw POSIXFailure.last }
            usleep(pause)
            pause = min(pause * 2, 2_000)
        }
    }

    /// Locks this folder exclusively until it is closed, if the file system has locks.
    ///
    /// The lock excludes other writers of Recollect.
    /// - Returns: Whether the file system has locks.
    @discardableResult
    package func lockAgainstWriters(maxWait: Duration = .seconds(30)) throws -> Bool {
        do {
            try lock(exclusively: true, maxWait: maxWait)
            return true
        } catch let failure as POSIXFailure where Self.unable.contains(failure.number) || failure.number == EBADF {
            return false
        }
    }

    /// The error numbers for calls unsupported by a file system.
    package static let unable = [EINVAL, ENOSYS, ENOTSUP, EOPNOTSUPP, EPERM, ENOLCK]

    /// Whether the folder's name in its parent still refers to it. Always `true` for a folder opened by path.
    package func stillExists() throws -> Bool {
        guard let parent else { return true }
        let name = String(decoding: path.utf8.dropFirst(parent.path.utf8.count + 1), as: UTF8.self)
        return try isStill(at: name, in: parent)
    }

    /// Whether a name in `parent` still refers to this folder.
    package func isStill(at name: String, in parent: OpenFolder) throws -> Bool {
        let mine = try status(of: descriptor)
        var named = stat()
        guard fstatat(parent.descriptor, name, &named, AT_SYMLINK_NOFOLLOW) == 0 else {
            guard errno == ENOENT else { throw POSIXFailure.last }
            return false
        }
        return mine.st_dev == named.st_dev && mine.st_ino == named.st_ino
    }
}
