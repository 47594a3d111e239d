import Dispatch
import Foundation
import RecollectCore

/// Wakes tasks that wait for something to happen, each for a limited time.
final class Signal: Sendable {
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

    /// How often there was a signal.
    var count: Int { state.withLock { $0.count } }

    /// Wakes everyone who waits.
    func signal() {
        let waiting = state.withLock { state in
            state.count += 1
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for waiter in waiting { end(waiter) }
    }

    /// Waits until there was a signal since `seen`, until the time is over, or until the task is cancelled.
    func wait(since seen: Int, atMost limit: Duration) async {
        let key = UUID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.count == seen, !Task.isCancelled else { return false }
                    // Not a task: one of a lower priority than those that keep the pool busy would come late.
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
