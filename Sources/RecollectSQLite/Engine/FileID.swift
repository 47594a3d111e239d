import CFiles
import Foundation
import RecollectCore

/// A file's identity: no two files that exist at the same time share one, and renaming a file keeps it.
struct FileID: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// The identity of the file at a path, through symbolic links; `nil` where there is none.
    init?(at path: String) {
        var id = recollect_file_id()
        guard recollect_identify(path, &id) == 0 else { return nil }
        self.init(id)
    }

    /// The identity of an open file; `nil` if the system refuses to tell it.
    init?(of descriptor: Int32) {
        var id = recollect_file_id()
        guard recollect_identify_open(descriptor, &id) == 0 else { return nil }
        self.init(id)
    }

    /// The identity as the Linux kernel lists it in `/proc/locks`.
    var listed: String {
        String(
            format: "%02x:%02x:%llu", UInt32(truncatingIfNeeded: device >> 32), UInt32(truncatingIfNeeded: device),
            inode)
    }

    fileprivate init(_ id: recollect_file_id) {
        device = id.device
        inode = id.inode
    }
}

/// The identity of a mounted file system at one place: a bind mount of a folder or a file has its own.
struct MountID: Equatable, Sendable {
    private let number: UInt64

    /// The mount of the file at a path, through symbolic links; `nil` where there is no file, and where the system does not tell.
    init?(at path: String) {
        var number: UInt64 = 0
        guard recollect_identify_mount(path, &number) == 0 else { return nil }
        self.number = number
    }
}

/// A folder's identity and the time of its last change, which every name added, removed or replaced in it changes.
///
/// Unlike the modification time, no program can set it: `cp -a` and `tar` restore that one with a backup.
struct FolderStamp: Equatable, Sendable {
    private let id: FileID
    private let seconds: Int64
    private let nanoseconds: Int64

    /// Stamps the folder at a path; `nil` where there is none.
    init?(at path: String) {
        var stamp = recollect_folder_stamp()
        guard recollect_stamp_folder(path, &stamp) == 0 else { return nil }
        id = FileID(stamp.id)
        seconds = stamp.seconds
        nanoseconds = stamp.nanoseconds
    }

    /// Whether a change made from now on gives the folder another stamp: the file system's clock has ticked since the last change.
    var isSettled: Bool {
        Self.isSettled(seconds: seconds, nanoseconds: nanoseconds, at: Date())
    }

    /// The same for a time of change. Linux keeps no times for the root folder of a FAT volume: 0 is never settled.
    static func isSettled(seconds: Int64, nanoseconds: Int64, at now: Date) -> Bool {
        seconds != 0 && FileStamp.isSettled(seconds: seconds, nanoseconds: nanoseconds, at: now)
    }
}
