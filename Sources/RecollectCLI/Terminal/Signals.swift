#if CommandLine
    import Dispatch
    import Foundation
    import Recollect

    /// Handles SIGINT, SIGTERM and SIGHUP, so a command can save its work before it stops.
    ///
    /// Not with Dispatch's signal sources: a source starts some time after its activation. On Linux, Dispatch also
    /// delivers a signal to the thread of the source's registration, and loses it once this thread has ended.
    final class Signals: Sendable {
        private struct State {
            /// The last signal received without a handler.
            var pending: Int32?
            var handler: (@Sendable (Int32) -> Void)?
            var source: (any DispatchSourceRead)?
        }

        /// The pipe from the signal handlers. `write` is one of the few functions allowed in a handler. There is
        /// one pipe because handlers belong to the process; `nil` if the system has none left.
        private static let pipe: (out: Int32, into: Int32)? = {
            var ends: [Int32] = [-1, -1]
            guard Foundation.pipe(&ends) == 0 else { return nil }
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
            return (ends[0], ends[1])
        }()

        private let state = Locked(State())

        /// Creates the object, and handles the signals from now on, until the process ends.
        init() {
            // Without a pipe, signals keep their default actions.
            guard let out = Self.pipe?.out else { return }
            let source = DispatchSource.makeReadSource(
                fileDescriptor: out, queue: DispatchQueue(label: "recall.signals"))
            source.setEventHandler { [state] in
                var signal: UInt8 = 0
                while Foundation.read(out, &signal, 1) == 1 { Self.take(Int32(signal), state) }
            }
            source.activate()
            state.withLock { $0.source = source }
            for signal in [SIGINT, SIGTERM, SIGHUP] {
                _ = Foundation.signal(signal) { signal in
                    let error = errno
                    var byte = UInt8(truncatingIfNeeded: signal)
                    if let into = Signals.pipe?.into { _ = write(into, &byte, 1) }
                    errno = error
                }
            }
        }

        private static func take(_ signal: Int32, _ state: Locked<State>) {
            let handler = state.withLock { state in
                if state.handler == nil { state.pending = signal }
                return state.handler
            }
            handler?(signal)
        }

        /// Replaces the handler. A pending signal goes to the new handler at once. With `nil`, the next signal
        /// becomes pending.
        func handle(_ handler: (@Sendable (Int32) -> Void)?) {
            let pending = state.withLock { state in
                state.handler = handler
                guard handler != nil else { return nil as Int32? }
                defer { state.pending = nil }
                return state.pending
            }
            if let pending { handler?(pending) }
        }

        /// Drops a pending SIGINT.
        func forgetInterrupt() {
            state.withLock { if $0.pending == SIGINT { $0.pending = nil } }
        }
    }
#endif
