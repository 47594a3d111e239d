import Foundation

/// A failed system call, with its error number and the system's description.
package struct POSIXFailure: Error, CustomStringConvertible {
    package let number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    /// The failure of the last system call.
    package static var last: POSIXFailure { POSIXFailure(errno) }

    package var description: String { String(cString: strerror(number)) }
}

extension RecollectError {
    /// Creates the error for a failed system call on a file. Its code and its advice depend on the error number.
    package init(_ failure: POSIXFailure, doing action: String, path: String) {
        let (code, advice): (Code, String) =
            switch failure.number {
            case ENOSPC, EDQUOT: (.diskFull, "free some space and save again")
            case EROFS: (.readOnly, "the file system is read-only: choose another folder")
            case EACCES, EPERM: (.permissionDenied, "check the permissions of the folder and its files")
            case EMFILE, ENFILE: (.tooManyOpenFiles, "close files or raise the limit (ulimit -n)")
            case EWOULDBLOCK: (.busy, "another process has held it for too long: end it if it hangs")
            case ENOTDIR, EEXIST: (.cannotOpen, "something else is in the way: choose another folder")
            case ENOENT: (.cannotOpen, "check that the folder still exists")
            default: (.inputOutput, "check the disk")
            }
        self.init(code, "cannot \(action) \(path): \(failure); \(advice)", cause: failure)
    }
}
