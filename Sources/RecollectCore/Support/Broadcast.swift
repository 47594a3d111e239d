import Foundation
import RecollectFileSystem

/// Sends elements to several listeners.
package final class Broadcast<Element: Sendable>: Sendable {
    private let listeners = Locked<[UUID: AsyncStream<Element>.Continuation]>([:])
    private let limit: Int

    /// Creates a broadcast without listeners.
    /// - Parameter limit: The buffer of each listener, in elements. A full buffer drops its oldest element.
    package init(bufferingNewest limit: Int) {
        self.limit = limit
    }

    deinit {
        for listener in listeners.withLock({ Array($0.values) }) { listener.finish() }
    }

    /// Returns a stream of some elements and those sent from now on. It ends when the iterating task is canceled, or
    /// with the broadcast.
    /// - Parameter onLastEnd: Called if the stream ends by cancellation as the last one. A new one may begin meanwhile.
    package func stream(
        beginningWith first: [Element] = [], onLastEnd: @escaping @Sendable () -> Void = {}
    ) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(limit))
        let key = UUID.random()
        listeners.withLock { listeners in
            first.forEach { continuation.yield($0) }
            listeners[key] = continuation
        }
        // Outside the lock: an ended stream calls it at once.
        continuation.onTermination = { [weak self] _ in
            if self?.remove(key) == true { onLastEnd() }
        }
        return stream
    }

    /// Whether there is a listener.
    package var hasListeners: Bool { listeners.withLock { !$0.isEmpty } }

    /// Sends an element to all listeners; returns whether there was one. Never blocks.
    @discardableResult
    package func send(_ element: Element) -> Bool {
        let continuations = listeners.withLock { Array($0.values) }
        continuations.forEach { $0.yield(element) }
        return !continuations.isEmpty
    }

    /// Removes a listener; returns whether it was the last one.
    private func remove(_ key: UUID) -> Bool {
        listeners.withLock { $0.removeValue(forKey: key) != nil && $0.isEmpty }
    }
}

extension Broadcast<Void> {
    /// Creates a signal without listeners. Several signals before a listener reads one become one.
    package convenience init() {
        self.init(bufferingNewest: 1)
    }

    package func signal() {
        send(())
    }
}
