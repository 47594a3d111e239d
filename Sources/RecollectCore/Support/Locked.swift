import Foundation

/// A value behind one lock. (`Mutex` needs iOS 18 and macOS 15.)
///
/// `@unchecked Sendable` because the lock guards every access to the value.
package final class Locked<Value>: @unchecked Sendable {
    private var value: Value
    private let lock = NSLock()

    package init(_ value: Value) {
        self.value = value
    }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
