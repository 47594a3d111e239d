import Dispatch
import RecollectCore

/// Work that somebody else starts when it may begin, waited for within a bound; once it has begun it is never given up.
///
/// Exactly one of the two happens: the work runs and its caller gets the result, however long it takes; or the caller has given up,
/// and the work never runs.
package final class BoundedTurn<Value: Sendable>: Sendable {
    private enum State {
        case waiting
        case begun
        case ended(Result<Value, any Error>)
        case givenUp
    }

    private let state = Locked(State.waiting)
    private let end = DispatchSemaphore(value: 0)

    package init() {}

    /// Does the work, unless it was given up or done. For whoever starts it.
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

    /// Waits for the result; `nil` where the work did not begin in time, and never will. Blocks; for one caller.
    package func result(within time: DispatchTimeInterval) throws -> Value? {
        if end.wait(timeout: .now() + time) == .timedOut {
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
