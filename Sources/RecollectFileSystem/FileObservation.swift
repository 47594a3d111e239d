import Foundation

/// An operation on files: a change of content or names, a sync, or a lock against other writers.
package enum FileOperation: Sendable {
    case makeFolder(path: String)
    case makeFile(path: String)
    case write(descriptor: Int32, path: String, offset: Int, bytes: [UInt8])
    case truncate(descriptor: Int32, path: String, size: Int)
    case synchronizeFile(descriptor: Int32, path: String)
    case synchronizeFolder(path: String)
    case rename(path: String, to: String)
    case link(path: String, to: String)
    case remove(path: String)
    /// An exclusive lock, after its acquisition. `holder` is different for each acquisition.
    case lock(path: String, holder: UInt64)
    /// The same lock, before its release.
    case unlock(path: String, holder: UInt64)

    /// The first path of the operation.
    package var path: String {
        switch self {
        case .makeFolder(let path), .makeFile(let path), .write(_, let path, _, _), .truncate(_, let path, _),
            .synchronizeFile(_, let path), .synchronizeFolder(let path), .rename(let path, _), .link(let path, _),
            .remove(let path), .lock(let path, _), .unlock(let path, _):
            path
        }
    }
}

/// An observer of all file operations of Recollect's own code, called before and after each one on its thread.
package protocol FileObserver: AnyObject, Sendable {
    /// Called before an operation.
    /// - Returns: Whether to call `didPerform` afterward, on the same thread.
    func willPerform(_ operation: FileOperation) -> Bool
    /// Called after an operation.
    func didPerform(_ operation: FileOperation, succeeded: Bool)
}

/// Reports file operations to an observer, the crash explorer, for replays. Without an observer, the cost is one
/// uncontended lock per operation.
package enum FileObservation {
    private static let lock = NSLock()
    /// `nonisolated(unsafe)` is safe because the lock guards every access.
    private nonisolated(unsafe) static var installed: (any FileObserver)?

    /// Installs the process's observer; `nil` removes it.
    package static func observe(with observer: (any FileObserver)?) {
        lock.withLock { installed = observer }
    }

    /// Performs an operation, and calls the observer, if there is one, before and after it.
    package static func perform<Result>(
        _ operation: @autoclosure () -> FileOperation, _ body: () throws -> Result
    ) rethrows -> Result {
        guard let observer = lock.withLock({ installed }) else { return try body() }
        let operation = operation()
        guard observer.willPerform(operation) else { return try body() }
        do {
            let result = try body()
            observer.didPerform(operation, succeeded: true)
            return result
        } catch {
            observer.didPerform(operation, succeeded: false)
            throw error
        }
    }

    /// Reports an operation performed just before or just after this call.
    package static func note(_ operation: @autoclosure () -> FileOperation) {
        perform(operation()) {}
    }
}
