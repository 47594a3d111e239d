import Dispatch
import RecollectCore

/// Waits a bounded time for another thread to start some work. Work already started is never abandoned.
///
/// Exactly one of two outcomes is possible. Either the work runs and the caller gets its result, however long that
/// takes; or the caller gives up, and the work never runs.
package final class CancellableWork<Value: Sendable>: Sendable {
    private enum State {
        case waiting
        case begun
        case ended(Result<Value, any Error>)
        case givenUp
    }

    private let state = Locked(State.waiting)
    private let end = DispatchSemaphore(value: 0)

    package init() {}

    /// Runs the work on the calling thread, unless the waiting caller has given up or the work has already run.
    package func run(_ work: () throws -> Value) {
        let mayBegin = state.withLock { state in
            guard case .waiting = state else { return false }
            state = .begun
            return true
        }
        guard mayBegin else { return }
        let result = Result { try work() }
        state.withLock { $0 = .ended(result) }
        end.signal()
    }

    /// Waits for the result. Blocks; may be called only once.
    /// - Parameter time: The maximum time until the work starts.
    /// - Returns: `nil` if the work did not start in time. It then never runs.
    package func result(within time: Duration) throws -> Value? {
        let (seconds, attoseconds) = time.components
        if end.wait(timeout: .now() + Double(seconds) + Double(attoseconds) / 1e18) == .timedOut {
            let isGivenUp = state.withLock { state in
                guard case .waiting = state else { return false }
                state = .givenUp
                return true
            }
            if isGivenUp { return nil }
            end.wait()
        }
        guard case .ended(let result) = state.withLock({ $0 }) else { return nil }
        return try result.get()
    }
}
