import Foundation
import RecollectCore

/// Wakes whoever listens; wakes that come together count as one.
final class Wakes: Sendable {
    private let listeners = Locked<[UUID: AsyncStream<Void>.Continuation]>([:])

    /// The wakes from now on; ends when the task that iterates it is cancelled.
    func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let key = UUID()
        listeners.withLock { $0[key] = continuation }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { $0[key] = nil }
        }
        return stream
    }

    func wake() {
        listeners.withLock { $0.values }.forEach { $0.yield() }
    }
}
