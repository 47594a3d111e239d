import Foundation

/// Performs work on a file, and throws a failed system call as a `RecollectError` with the path.
///
/// Another kind of file at the path is thrown as `foreignStore`. Errors other than `POSIXFailure` pass unchanged.
package func explaining<Result>(_ action: String, _ path: String, _ work: () throws -> Result) throws -> Result {
    do {
        return try work()
    } catch let failure as POSIXFailure {
        switch failure.number {
        case ENOTDIR, ELOOP, EISDIR, ENXIO:
            let what =
                switch failure.number {
                case EISDIR: "is a folder, and a file is wanted"
                case ELOOP: "is a symbolic link, which is not followed"
                case ENXIO: "is a pipe, a socket or a device, and a file is wanted"
                default: "is no folder, or lies below a file"
                }
            throw RecollectError(
                .foreignStore, "\(path) \(what); it was left untouched: move it away or name another place",
                cause: failure)
        default:
            throw RecollectError(failure, doing: action, path: path)
        }
    }
}

/// Returns the result of work on a file or folder; `nil` if it does not exist.
package func ifThere<Result>(_ work: () throws -> Result) throws -> Result? {
    do {
        return try work()
    } catch let failure as POSIXFailure where failure.number == ENOENT {
        return nil
    }
}
