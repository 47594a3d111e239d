import Foundation
import RecollectCore

/// Something that tasks wait for until a test opens it; once open it stays so.
public final class Gate: Sendable {
    private enum State {
        case closed([UUID: CheckedContinuation<Void, any Error>])
        case open
    }

    private let state = Locked(State.closed([:]))

    /// Makes a closed gate.
    public init() {}

    /// Lets everybody through, from now on.
    public func open() {
        let waiting = state.withLock { state -> [UUID: CheckedContinuation<Void, any Error>] in
            guard case .closed(let waiting) = state else { return [:] }
            state = .open
            return waiting
        }
        for continuation in waiting.values { continuation.resume() }
    }

    /// Waits until the gate is open.
    /// - Throws: `CancellationError` if the task is cancelled before.
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
