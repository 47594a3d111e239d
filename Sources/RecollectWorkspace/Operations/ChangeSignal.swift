import Foundation
import RecollectCore

/// A signal for several listeners. Simultaneous changeSignals are combined.
final class ChangeSignal: Sendable {
    private let listeners = Locked<[UUID: AsyncStream<Void>.Continuation]>([:])

    /// Returns a stream of the changeSignals from now on. It ends when the iterating task is canceled.
    func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let key = UUID()
        listeners.withLock { $0[key] = continuation }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { $0[key] = nil }
        }
        return stream
    }

    func signal() {
        listeners.withLock { $0.values }.forEach { $0.yield() }
    }
}
