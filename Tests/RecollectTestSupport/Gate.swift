import Foundation
import RecollectCore

/// A gate for parts of a test: tasks wait until another part opens it, or until they are canceled. It stays open.
public final class Gate: Sendable {
    private enum State {
        case closed([UUID: CheckedContinuation<Void, any Error>])
        case open
    }

    private let state = Locked(State.closed([:]))

    /// Creates a closed gate.
    public init() {}

    /// Ends the wait of all tasks, including later ones.
    public func open() {
        let waiting = state.withLock { state -> [UUID: CheckedContinuation<Void, any Error>] in
            guard case .closed(let waiting) = state else { return [:] }
            state = .open
            return waiting
        }
        for continuation in waiting.values { continuation.resume() }
    }

    /// Waits until the gate is open.
    /// - Throws: `CancellationError` if the task is canceled before.
    public func wait() async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let passes = state.withLock { state in
                    guard case .closed(var waiting) = state, !Task.isCancelled else { return true }
                    waiting[id] = continuation
                    state = .closed(waiting)
                    return false
                }
                if passes { continuation.resume() }
            }
            try Task.checkCancellation()
        } onCancel: {
            let waiting = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                guard case .closed(var waiting) = state else { return nil }
                let continuation = waiting.removeValue(forKey: id)
                state = .closed(waiting)
                return continuation
            }
            waiting?.resume(throwing: CancellationError())
        }
    }
}
