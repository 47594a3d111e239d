import Foundation
import RecollectCore

/// Wakes whoever listens when something in a folder may have changed. Looks only while somebody listens.
final class FolderWatcher: Sendable {
    private struct State {
        var listeners: [UUID: AsyncStream<Void>.Continuation] = [:]
        var watch: (any FolderWatch)?
    }

    private let state = Locked(State())
    private let make: @Sendable (@escaping @Sendable () -> Void) -> any FolderWatch

    /// Watches by what this system has for it.
    convenience init(path: String) {
        self.init { systemWatch(path: path, onChange: $0) }
    }

    init(_ make: @escaping @Sendable (@escaping @Sendable () -> Void) -> any FolderWatch) {
        self.make = make
    }

    deinit {
        stop()
    }

    /// A wake for each change, several in one where the listener is slow; what changes after this call wakes.
    func wakes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let key = UUID()
        // Outside the lock: a stream whose listener is gone already ends here at once.
        continuation.onTermination = { [weak self] _ in self?.leave(key) }
        state.withLock { state in
            state.listeners[key] = continuation
            if state.watch == nil { state.watch = make { [weak self] in self?.wake() } }
        }
        return stream
    }

    /// Whether anybody listens, and so whether the system watches.
    var isWatching: Bool { state.withLock { $0.watch != nil } }

    private func wake() {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
    }

    private func leave(_ key: UUID) {
        let watch = state.withLock { state -> (any FolderWatch)? in
            state.listeners[key] = nil
            guard state.listeners.isEmpty else { return nil }
            defer { state.watch = nil }
            return state.watch
        }
        watch?.cancel()
    }

    private func stop() {
        let (watch, listeners) = state.withLock { state in
            defer { state = State() }
            return (state.watch, state.listeners.values.map { $0 })
        }
        watch?.cancel()
        for listener in listeners { listener.finish() }
    }
}

/// One way to learn of changes in a folder and all below it.
protocol FolderWatch: Sendable {
    /// Ends it; nothing is told afterwards.
    func cancel()
}

#if !os(Linux)
    func systemWatch(path: String, onChange: @escaping @Sendable () -> Void) -> any FolderWatch {
        PollingWatch(path: path, onChange: onChange)
    }
#endif
