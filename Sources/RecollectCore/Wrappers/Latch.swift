import Foundation
import RecollectFileSystem

/// A latch for waiting tasks. Once opened, it stays open.
final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [UUID: CheckedContinuation<Void, any Error>] = [:]
    }

    private let state = Locked(State())

    /// Opens the latch and resumes all waiting tasks.
    func open() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            state.isOpen = true
            return state.waiting
        }
        waiting.values.forEach { $0.resume() }
    }

    /// Waits until the latch is opened.
    /// - Throws: `CancellationError` as soon as the calling task is canceled; other tasks continue to wait.
    func wait() async throws {
        let key = UUID.random()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.isOpen { return .success(()) }
                    // An earlier cancellation found no continuation to resume.
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
