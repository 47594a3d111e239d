import Foundation
import RecollectCore

/// Posts possible changes in a folder to its listeners. Watches the folder only while there is a listener.
final class FolderWatcher: Sendable {
    private struct State {
        var listeners: [UUID: AsyncStream<Void>.Continuation] = [:]
        var watch: (any FolderWatch)?
    }

    private let state = Locked(State())
    private let make: @Sendable (@escaping @Sendable () -> Void) -> any FolderWatch

    /// Creates a watcher with the best method of the system.
    convenience init(path: String) {
        self.init { systemWatch(path: path, onChange: $0) }
    }

    init(_ make: @escaping @Sendable (@escaping @Sendable () -> Void) -> any FolderWatch) {
        self.make = make
    }

    deinit {
        stop()
    }

    /// Returns a stream with an element for each change after this call. For a slow listener, several changes
    /// become one element.
    func changeSignals() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let key = UUID()
        // Outside the lock: if the task of the stream is already canceled, the stream ends here immediately.
        continuation.onTermination = { [weak self] _ in self?.leave(key) }
        state.withLock { state in
            state.listeners[key] = continuation
            if state.watch == nil { state.watch = make { [weak self] in self?.signal() } }
        }
        return stream
    }

    /// Whether there is a listener, and so the system watches.
    var isWatching: Bool { state.withLock { $0.watch != nil } }

    private func signal() {
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

/// A method to detect changes in a folder and its subfolders.
protocol FolderWatch: Sendable {
    /// Stops watching. No change is posted afterwards.
    func cancel()
}

#if !os(Linux)
    func systemWatch(path: String, onChange: @escaping @Sendable () -> Void) -> any FolderWatch {
        PollingWatch(path: path, onChange: onChange)
    }
#endif
