import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The properties of a file or folder, read by name without opening it.
package struct FolderEntry: Sendable {
    /// The kind of an entry.
    package enum Kind: Sendable {
        case file
        case folder
        /// A symbolic link, a device, a pipe or a socket.
        case other
    }

    package let kind: Kind
    package let size: Int
    /// The date of the last change of the content.
    package let modified: Date
    /// The date of the last change of the content, the name or the permissions. Programs cannot set it back.
    package let touched: Date
    package let stamp: FileStamp
    /// Whether the content is not local: opening the file would download it.
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
            // `SF_DATALESS`, not imported into Swift.
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
    /// Returns the properties of a name in this folder, without following a symbolic link; `nil` if it does not
    /// exist.
    package func entry(_ name: String) throws -> FolderEntry? {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            // A name too long for the file system does not exist.
            guard errno == ENOENT || errno == ENAMETOOLONG else { throw POSIXFailure.last }
            return nil
        }
        return FolderEntry(status)
    }

    /// Whether two names in this folder refer to the same file or folder.
    package func isOneEntry(_ name: String, _ other: String) throws -> Bool {
        var (mine, others) = (stat(), stat())
        guard fstatat(descriptor, name, &mine, AT_SYMLINK_NOFOLLOW) == 0,
            fstatat(descriptor, other, &others, AT_SYMLINK_NOFOLLOW) == 0
        else {
            guard errno == ENOENT else { throw POSIXFailure.last }
            return false
        }
        return mine.st_dev == others.st_dev && mine.st_ino == others.st_ino
    }

    /// Whether two descriptors refer to the same folder.
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
