#if CommandLine
    import Dispatch
    import Foundation
    import Recollect

    /// The signals that ask a command to stop, taken so that it can keep what it has first: SIGINT, SIGTERM and SIGHUP.
    final class Signals: Sendable {
        private struct State {
            /// The last one that nobody has taken.
            var pending: Int32?
            var handler: (@Sendable (Int32) -> Void)?
            var sources: [any DispatchSourceSignal] = []
        }

        private let state = Locked(State())

        /// Takes the signals from now on, to the end of the process.
        init() {
            let queue = DispatchQueue(label: "recall.signals")
            for signal in [SIGINT, SIGTERM, SIGHUP] {
                #if canImport(Darwin)
                    // Where kernel queues tell of signals, their own effect has to be taken away.
                    Foundation.signal(signal, SIG_IGN)
                #endif
                let source = DispatchSource.makeSignalSource(signal: signal, queue: queue)
                source.setEventHandler { [state] in
                    let handler = state.withLock { state in
                        if state.handler == nil { state.pending = signal }
                        return state.handler
                    }
                    handler?(signal)
                }
                source.activate()
                state.withLock { $0.sources.append(source) }
            }
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
