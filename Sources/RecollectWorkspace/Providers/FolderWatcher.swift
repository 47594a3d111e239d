import Foundation
import RecollectCore

/// Posts possible changes in a folder to its listeners. Watches the folder only while there is a listener.
final class FolderWatcher: Sendable {
    private let watch = Locked<(any FolderWatch)?>(nil)
    private let listeners = Broadcast<Void>()
    private let make: @Sendable (@escaping @Sendable () -> Void) -> any FolderWatch

    /// Creates a watcher with the best method of the system.
    convenience init(path: String) {
        self.init { systemWatch(path: path, onChange: $0) }
    }

    init(_ make: @escaping @Sendable (@escaping @Sendable () -> Void) -> any FolderWatch) {
        self.make = make
    }

    deinit {
        watch.withLock { $0 }?.cancel()
    }

    /// Returns a stream with an element for each change after this call. For a slow listener, several changes
    /// become one element.
    func changeSignals() -> AsyncStream<Void> {
        let stream = listeners.stream { [weak self] in self?.stop() }
        watch.withLock { watch in
            if watch == nil { watch = make { [weak listeners] in listeners?.signal() } }
        }
        return stream
    }

    /// Whether there is a listener, and so the system watches.
    var isWatching: Bool { watch.withLock { $0 != nil } }

    private func stop() {
        let watch = watch.withLock { watch -> (any FolderWatch)? in
            // A new listener may have come meanwhile.
            guard !listeners.hasListeners else { return nil }
            defer { watch = nil }
            return watch
        }
        watch?.cancel()
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
