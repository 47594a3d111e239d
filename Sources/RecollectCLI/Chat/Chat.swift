#if CommandLine
    import Foundation
    import Recollect

    /// A chat: its session, its agents, and the display of its turns.
    ///
    /// Used by one task.
    final class Chat {
        let history: any HistoryStore
        let options: StoreOptions
        let team: AgentRoster
        let output: Output
        /// The session. A new one is in the history after its first message.
        private(set) var session: SessionKey

        private let orchestrator: Orchestrator
        private let display: any ReplyDisplay
        private let signals: Signals

        init(
            history: any HistoryStore, options: StoreOptions, team: AgentRoster, session: SessionKey, output: Output,
            signals: Signals
        ) {
            self.history = history
            self.options = options
            self.team = team
            self.session = session
            self.output = output
            self.signals = signals
            // Other terminals may write to the same session: a message that repeats the last role is not a
            // duplicate.
            orchestrator = Orchestrator(
                agents: team.agents, classifier: team.classifier,
                store: DeviceChatStorage(history: history, userId: options.user, sameRole: .keep),
                maxTokens: team.historyTokens)
            let names =
                team.agents.count > 1 ? Dictionary(team.agents.map { ($0.id, $0.name) }) { first, _ in first } : [:]
            display = options.json ? ReplyJSON(output: output) : ReplyText(output: output, names: names)
        }

        /// The outcome of a turn.
        enum Turn {
            case answered
            /// The turn failed, and its message was shown.
            case failed
            /// A signal stopped the turn; the interrupted reply is saved.
            case stopped(by: Int32)
        }

        /// Sends a message to the agents, and shows the reply while it streams.
        /// - Throws: Errors of the display. The reply is then stopped and saved.
        func say(_ text: String) async throws -> Turn {
            let (orchestrator, session) = (orchestrator, session)
            let stopped = Locked<Int32?>(nil)
            // Before the handler: a signal that is already waiting stops a turn that is queued.
            let events = orchestrator.route(.text(text), userId: session.userId, sessionId: session.sessionId)
            signals.handle { signal in
                stopped.withLock { $0 = signal }
                Task { await orchestrator.stop(userId: session.userId, sessionId: session.sessionId) }
            }
            defer { signals.handle(nil) }
            let failure = try await show(events, unless: { stopped.withLock { $0 != nil } })
            try await display.end(failure: failure)
            // On a terminal, a shown reply counts as read.
            if output.isTerminal, failure == nil {
                do {
                    try await history.update(session, with: SessionDetails(isRead: true), createIfMissing: false)
                } catch {
                    // The reply is shown and saved.
                    try await printLines(["The session could not be marked as read: \(Recall.words(for: error))"])
                }
            }
            if let signal = stopped.withLock({ $0 }) { return .stopped(by: signal) }
            return failure == nil ? .answered : .failed
        }

        /// Shows a turn to its end. Returns the message of a failure, also of a stopped turn whose reply could
        /// not be saved. A stop is no failure.
        private func show(
            _ events: AsyncThrowingStream<AgentEvent, any Error>, unless isStopped: () -> Bool
        ) async throws -> String? {
            var iterator = events.makeAsyncIterator()
            while true {
                let event: AgentEvent?
                do {
                    event = try await iterator.next()
                } catch is CancellationError where isStopped() {
                    return nil
                } catch {
                    return Recall.words(for: error)
                }
                guard let event else { return nil }
                try await display.show(event)
            }
        }

        /// Waits until all turns are saved.
        func finish() async {
            await orchestrator.waitUntilIdle()
        }

        /// Continues in another session.
        func move(to session: SessionKey) async throws {
            self.session = session
            if options.json { try await printSession() }
        }

        /// Writes the session's ID, with `--json`.
        func printSession() async throws {
            guard let display = display as? ReplyJSON else { return }
            try await display.write("session", ["id": .string(session.sessionId)])
        }

        /// Writes lines outside of a reply: to the terminal, else (or with `--json`) to standard error.
        func printLines(_ lines: [String]) async throws {
            for line in lines {
                if output.isTerminal, !options.json {
                    try await output.line(line)
                } else {
                    Output.printError(line)
                }
            }
        }

        /// The style for the lines written by `printLines`.
        var style: Style {
            output.isTerminal && !options.json ? output.style : Style(isOn: Screen.supportsColor(STDERR_FILENO))
        }
    }
#endif
