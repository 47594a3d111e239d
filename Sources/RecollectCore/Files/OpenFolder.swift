import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An open folder: names in it are resolved by the system from here, so nothing is followed out of it. Closed when released.
///
/// All calls block, and all throw `POSIXFailure`.
package final class OpenFolder: Sendable {
    package let descriptor: Int32
    /// Where it was opened, for messages.
    let path: String
    private let parent: OpenFolder?

    private init(descriptor: Int32, path: String, parent: OpenFolder?) {
        self.descriptor = descriptor
        self.path = path
        self.parent = parent
    }

    deinit {
        close(descriptor)
    }

    /// Opens the folder at a path; symbolic links on the way there are the caller's choice and are followed.
    package convenience init(path: String) throws {
        let descriptor = try retrying { Int(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) }
        self.init(descriptor: Int32(descriptor), path: path, parent: nil)
    }

    /// Makes the folder at a path and what is missing on the way there; only this user may enter what is made.
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

    /// The path of a name in this folder, for messages.
    package func path(of name: String) -> String {
        path + "/" + name
    }

    /// Opens a folder in this one; a symbolic link or a file of that name is an error.
    package func folder(_ name: String) throws -> OpenFolder {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let opened = try retrying { Int(openat(descriptor, name, flags)) }
        return OpenFolder(descriptor: Int32(opened), path: path(of: name), parent: self)
    }

    /// Makes a folder that only this user may enter, if there is none yet.
    package func makeFolder(_ name: String) throws {
        try FileObservation.perform(.makeFolder(path: path(of: name))) {
            if mkdirat(descriptor, name, 0o700) != 0, errno != EEXIST { throw POSIXFailure.last }
        }
    }

    /// Opens a regular file in this folder; a symbolic link, a folder or a device of that name is an error.
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

    /// Makes a file that only this user may read; a file of that name is an error.
    package func makeFile(_ name: String) throws -> OpenFile {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let opened = try FileObservation.perform(.makeFile(path: path(of: name))) {
            try retrying { Int(openat(descriptor, name, flags, 0o600)) }
        }
        return OpenFile(descriptor: Int32(opened), path: path(of: name))
    }

    /// The names in this folder as bytes give them, in no order; names that are not UTF-8 are nobody's of ours and left out.
    /// - Parameter repairing: Whether those are given too, as far as they can be shown. They name nothing then.
    package func names(repairing: Bool = false) throws -> [String] {
        // A descriptor of its own, because reading a folder moves its position.
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

    /// Returns when the names in this folder are on the disk: a new or renamed file may vanish in a power cut before that.
    package func synchronize() throws {
        try FileObservation.perform(.synchronizeFolder(path: path)) {
            #if canImport(Darwin)
                if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
            #endif
            _ = try retrying { Int(fsync(descriptor)) }
        }
    }

    /// After this, nothing written later reaches the disk before the names that are in this folder now.
    package func orderWrites() throws {
        #if canImport(Darwin)
            if fcntl(descriptor, F_BARRIERFSYNC) == 0 { return }
        #endif
        try synchronize()
    }

    /// `synchronize` for this folder and those it was opened from.
    package func synchronizePath() throws {
        try synchronize()
        try parent?.synchronizePath()
    }

    /// Takes this folder's lock, which holds for all processes and for every other opening in this one, until it is closed.
    ///
    /// Nothing but a file system without locks, or an owner that hangs, makes this fail.
    package func lock(exclusively: Bool, patience: Duration = .seconds(30)) throws {
        let operation = (exclusively ? LOCK_EX : LOCK_SH) | LOCK_NB
        let deadline = ContinuousClock.now + patience
        var pause: useconds_t = 50
        while flock(descriptor, operation) != 0 {
            if errno == EINTR { continue }
            guard errno == EWOULDBLOCK, ContinuousClock.now < deadline else { throw POSIXFailure.last }
            usleep(pause)
            pause = min(pause * 2, 2_000)
        }
    }

    /// Takes the folder's lock against other writers of ours, where the file system has locks; held until the folder is
    /// closed.
    /// - Returns: Whether the file system has locks.
    @discardableResult
    package func lockAgainstWriters(patience: Duration = .seconds(30)) throws -> Bool {
        do {
            try lock(exclusively: true, patience: patience)
            return true
        } catch let failure as POSIXFailure where Self.unable.contains(failure.number) || failure.number == EBADF {
            return false
        }
    }

    /// What file systems answer that cannot do a thing.
    package static let unable = [EINVAL, ENOSYS, ENOTSUP, EOPNOTSUPP, EPERM, ENOLCK]

    /// Whether the folder is still in the one that it was opened in, under its name; one that was opened by a path always is.
    package func isStillThere() throws -> Bool {
        guard let parent else { return true }
        let name = String(decoding: path.utf8.dropFirst(parent.path.utf8.count + 1), as: UTF8.self)
        return try isStill(at: name, in: parent)
    }

    /// Whether the folder is still the one that its path names.
    func isStill(at name: String, in parent: OpenFolder) throws -> Bool {
        let mine = try status(of: descriptor)
        var named = stat()
        guard fstatat(parent.descriptor, name, &named, AT_SYMLINK_NOFOLLOW) == 0 else {
            guard errno == ENOENT else { throw POSIXFailure.last }
            return false
        }
        return mine.st_dev == named.st_dev && mine.st_ino == named.st_ino
    }
}
