import Foundation
import RecollectFileSystem

/// Performs work on a file, and throws a failed system call as a `RecollectError` with the path.
///
/// Another kind of file at the path is thrown as `foreignStore`. Errors other than `POSIXFailure` pass unchanged.
package func withFileErrors<Result>(_ action: String, _ path: String, _ work: () throws -> Result) throws -> Result {
    do {
        return try work()
    } catch let failure as POSIXFailure {
        switch failure.number {
        case ENOTDIR, ELOOP, EISDIR, ENXIO:
            let what =
                switch failure.number {
                case EISDIR: "is a folder, not a file"
                case ELOOP: "is a symbolic link, and symbolic links are not followed"
                case ENXIO: "is a pipe, a socket or a device, not a file"
                default: "is not a folder, or part of its path is a file"
                }
            throw RecollectError(
                .foreignStore, "\(path) \(what); it was left unchanged: move it away or choose another path",
                cause: failure)
        default:
            throw RecollectError(failure, doing: action, path: path)
        }
    }
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
            case EWOULDBLOCK: (.busy, "another process has kept it locked for too long: end that process if it hangs")
            case ENOTDIR, EEXIST: (.cannotOpen, "another file is in the way: choose another folder")
            case ENOENT: (.cannotOpen, "check that the folder still exists")
            default: (.inputOutput, "check the disk")
            }
        self.init(code, "cannot \(action) \(path): \(failure); \(advice)", cause: failure)
    }
}
