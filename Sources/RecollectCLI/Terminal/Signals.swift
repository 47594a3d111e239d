#if CommandLine
    import Dispatch
    import Foundation
    import Recollect

    /// The signals that ask a command to stop, taken so that it can keep what it has first: SIGINT, SIGTERM and SIGHUP.
    ///
    /// Dispatch has sources for signals, but takes them some time after it was asked to, and on Linux it hands a signal to the thread
    /// that happened to register its source, where it is lost once that thread is gone.
    final class Signals: Sendable {
        private struct State {
            /// The last one that nobody has taken.
            var pending: Int32?
            var handler: (@Sendable (Int32) -> Void)?
            var source: (any DispatchSourceRead)?
        }

        /// What a handler tells of a signal: writing is one of the few things that it may do. There is one pipe, as the handlers are the
        /// process's; `nil` where the system has none to give.
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

        /// Takes the signals from now on, to the end of the process.
        init() {
            // Without a pipe they do what they do to any program.
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

        /// Hands signals to `handler` instead of the one before, at once one that nobody has taken; `nil` lets the next one wait.
        func handle(_ handler: (@Sendable (Int32) -> Void)?) {
            let pending = state.withLock { state in
                state.handler = handler
                guard handler != nil else { return nil as Int32? }
                defer { state.pending = nil }
                return state.pending
            }
            if let pending { handler?(pending) }
        }

        /// Forgets a Ctrl-C that nobody has taken.
        func forgetInterrupt() {
            state.withLock { if $0.pending == SIGINT { $0.pending = nil } }
        }
    }
#endif
