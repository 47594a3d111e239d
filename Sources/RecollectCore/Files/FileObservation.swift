/// An operation that changes files or what is certain to be on the disk, or takes a lock that excludes other writers.
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
    /// An exclusive lock, after it was taken. `holder` differs for every taking.
    case lock(path: String, holder: UInt64)
    /// The same lock, before it is released.
    case unlock(path: String, holder: UInt64)

    /// The path that the operation begins with.
    package var path: String {
        switch self {
        case .makeFolder(let path), .makeFile(let path), .write(_, let path, _, _), .truncate(_, let path, _),
            .synchronizeFile(_, let path), .synchronizeFolder(let path), .rename(let path, _), .link(let path, _),
            .remove(let path), .lock(let path, _), .unlock(let path, _):
            path
        }
    }
}

/// Is told of every operation on files that Recollect's own code makes, before and after it, on the thread that makes it.
package protocol FileObserver: AnyObject, Sendable {
    /// Called before an operation. Returns whether `didPerform` is wanted; it then follows on the same thread.
    func willPerform(_ operation: FileOperation) -> Bool
    /// Called after an operation.
    func didPerform(_ operation: FileOperation, succeeded: Bool)
}

/// Where operations on files are reported: for the crash explorer, which replays them. Without an observer an operation costs
/// one uncontended lock more.
package enum FileObservation {
    private static let installed = Locked<(any FileObserver)?>(nil)

    /// Installs the process's observer, or removes it.
    package static func observe(with observer: (any FileObserver)?) {
        installed.withLock { $0 = observer }
    }

    /// Performs an operation between the two calls of the observer, if there is one.
    package static func perform<Result>(
        _ operation: @autoclosure () -> FileOperation, _ body: () throws -> Result
    ) rethrows -> Result {
        guard let observer = installed.withLock({ $0 }) else { return try body() }
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

    /// Reports that an operation has been performed or is about to be.
    package static func note(_ operation: @autoclosure () -> FileOperation) {
        perform(operation()) {}
    }
}
