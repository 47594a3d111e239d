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

/// Returns the result of work on a file or folder; `nil` if it does not exist.
package func nilIfMissing<Result>(_ work: () throws -> Result) throws -> Result? {
    do {
        return try work()
    } catch let failure as POSIXFailure where failure.number == ENOENT {
        return nil
    }
}
