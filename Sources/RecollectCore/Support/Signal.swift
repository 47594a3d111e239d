import Dispatch
import Foundation
import RecollectFileSystem

/// A signal for waiting tasks. Each task waits for a limited time.
package final class Signal: Sendable {
    private struct Waiter {
        let continuation: CheckedContinuation<Void, Never>
        let timer: DispatchWorkItem
    }

    private struct State {
        var count = 0
        var waiting: [UUID: Waiter] = [:]
    }

    private let state = Locked(State())
    private static let timers = DispatchQueue(label: "recollect.signal", attributes: .concurrent)

    package init() {}

    /// The number of signals.
    package var count: Int { state.withLock { $0.count } }

    /// Wakes all waiting tasks.
    package func signal() {
        let waiting = state.withLock { state in
            state.count += 1
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for waiter in waiting { end(waiter) }
    }

    /// Waits until there is a signal after `seen`, the time limit is reached, or the task is canceled.
    package func wait(since seen: Int, atMost limit: Duration) async {
        let key = UUID.random()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.count == seen, !Task.isCancelled else { return false }
                    // Not a task: with a lower priority than the tasks occupying the pool, it would run late.
                    let timer = DispatchWorkItem { self.wake(key) }
                    Self.timers.asyncAfter(deadline: .now() + limit.timeInterval, execute: timer)
                    state.waiting[key] = Waiter(continuation: continuation, timer: timer)
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            wake(key)
        }
    }

    private func wake(_ key: UUID) {
        if let waiter = state.withLock({ $0.waiting.removeValue(forKey: key) }) { end(waiter) }
    }

    private func end(_ waiter: Waiter) {
        waiter.timer.cancel()
        waiter.continuation.resume()
    }
}

extension Duration {
    fileprivate var timeInterval: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
