import Foundation

/// Holds whoever waits until it is opened; then it stays open.
final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [UUID: CheckedContinuation<Void, any Error>] = [:]
    }

    private let state = Locked(State())

    /// Lets everybody go on.
    func open() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            state.isOpen = true
            return state.waiting
        }
        waiting.values.forEach { $0.resume() }
    }

    /// Waits until it is opened.
    /// - Throws: `CancellationError` as soon as the calling task is cancelled; the others wait on.
    func wait() async throws {
        let key = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.isOpen { return .success(()) }
                    // A cancellation that came before this found nobody to wake.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiting[key] = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: key) }?.resume(throwing: CancellationError())
        }
    }
}
