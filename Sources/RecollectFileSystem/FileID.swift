import CRecollectFileSystem
import Foundation

/// A file's identity: unique among the files existing at one time, and kept when the file is renamed.
package struct FileID: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// Creates the identity of the file at a path, following symbolic links; `nil` if there is no file.
    package init?(at path: String) {
        var id = recollect_file_id()
        guard recollect_identify(path, &id) == 0 else { return nil }
        self.init(id)
    }

    /// Creates the identity of an open file; `nil` if the system call fails.
    package init?(of descriptor: Int32) {
        var id = recollect_file_id()
        guard recollect_identify_open(descriptor, &id) == 0 else { return nil }
        self.init(id)
    }

    /// The identity in the format of `/proc/locks` on Linux.
    package var listed: String {
        String(
            format: "%02x:%02x:%llu", UInt32(truncatingIfNeeded: device >> 32), UInt32(truncatingIfNeeded: device),
            inode)
    }

    fileprivate init(_ id: recollect_file_id) {
        device = id.device
        inode = id.inode
    }
}

/// The identity of a mount. A bind mount of a folder or a file has its own.
package struct MountID: Equatable, Sendable {
    private let number: UInt64

    /// Creates the identity of the mount containing the file at a path, following symbolic links; `nil` if there
    /// is no file, or if the system has no such identity.
    package init?(at path: String) {
        var number: UInt64 = 0
        guard recollect_identify_mount(path, &number) == 0 else { return nil }
        self.number = number
    }
}

/// A folder's identity and the time of its last status change. Adding, removing or replacing a name in the folder
/// changes this time.
///
/// Unlike the modification time, it cannot be set by programs: `cp -a` and `tar` restore the modification time of
/// a backup.
package struct FolderStamp: Equatable, Sendable {
    private let id: FileID
    private let seconds: Int64
    private let nanoseconds: Int64

    /// Creates the stamp of the folder at a path; `nil` if there is none.
    package init?(at path: String) {
        var stamp = recollect_folder_stamp()
        guard recollect_stamp_folder(path, &stamp) == 0 else { return nil }
        id = FileID(stamp.id)
        seconds = stamp.seconds
        nanoseconds = stamp.nanoseconds
    }

    /// Whether any later change gives the folder another stamp: the file system's clock has ticked since the last
    /// change.
    package var isStable: Bool {
        Self.isStable(seconds: seconds, nanoseconds: nanoseconds, at: Date())
    }

    /// Whether a status-change time is settled in this sense. Linux has no times for the root folder of a FAT
    /// volume: 0 is never settled.
    package static func isStable(seconds: Int64, nanoseconds: Int64, at now: Date) -> Bool {
        seconds != 0 && FileStamp.isStable(seconds: seconds, nanoseconds: nanoseconds, at: now)
    }
}
