import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// What a name in a folder stands for, without opening it.
package struct FolderEntry: Sendable {
    /// What kinds of things are told apart.
    package enum Kind: Sendable {
        case file
        case folder
        /// A symbolic link, a device, a pipe.
        case other
    }

    package let kind: Kind
    package let size: Int
    /// When its content was last changed.
    package let modified: Date
    /// When its content, its name or its rights were last changed; cannot be set back by a program.
    package let touched: Date
    package let stamp: FileStamp
    /// Whether its content is elsewhere and would be fetched by opening it.
    package let isDataless: Bool

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            default: .other
            }
        size = Int(status.st_size)
        #if canImport(Darwin)
            let (modified, touched) = (status.st_mtimespec, status.st_ctimespec)
            // SF_DATALESS, which Swift does not see.
            isDataless = status.st_flags & 0x4000_0000 != 0
        #else
            let (modified, touched) = (status.st_mtim, status.st_ctim)
            isDataless = false
        #endif
        self.modified = Date(modified)
        self.touched = Date(touched)
        stamp = FileStamp(status)
    }
}

extension OpenFolder {
    /// What a name in this folder stands for, `nil` where there is nothing; a symbolic link is not followed.
    package func entry(_ name: String) throws -> FolderEntry? {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            // A name that the file system cannot have is nobody's.
            guard errno == ENOENT || errno == ENAMETOOLONG else { throw POSIXFailure.last }
            return nil
        }
        return FolderEntry(status)
    }

    /// Whether two names in this folder stand for one thing.
    func isOneEntry(_ name: String, _ other: String) throws -> Bool {
        var (mine, others) = (stat(), stat())
        guard fstatat(descriptor, name, &mine, AT_SYMLINK_NOFOLLOW) == 0,
            fstatat(descriptor, other, &others, AT_SYMLINK_NOFOLLOW) == 0
        else {
            guard errno == ENOENT else { throw POSIXFailure.last }
            return false
        }
        return mine.st_dev == others.st_dev && mine.st_ino == others.st_ino
    }

    /// Whether two openings are of one folder.
    package func isSame(as other: OpenFolder) throws -> Bool {
        let mine = try status(of: descriptor)
        let others = try status(of: other.descriptor)
        return mine.st_dev == others.st_dev && mine.st_ino == others.st_ino
    }
}

extension Date {
    fileprivate init(_ time: timespec) {
        self.init(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
    }
}
