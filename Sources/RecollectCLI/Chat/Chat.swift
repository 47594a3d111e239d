#if CommandLine
    import Foundation
    import Recollect

    /// A conversation that goes on: in which session, with whom, and how its turns are shown.
    ///
    /// Used by one task.
    final class Chat {
        let history: SQLiteHistoryStore
        let options: StoreOptions
        let team: ChatTeam
        let output: Output
        /// The session; one that was begun just now is in the history from its first message on.
        private(set) var session: ConversationID

        private let orchestrator: Orchestrator
        private let display: any ReplyDisplay
        private let signals: Signals

        init(
            history: SQLiteHistoryStore, options: StoreOptions, team: ChatTeam, session: ConversationID, output: Output,
            signals: Signals
        ) {
            self.history = history
            self.options = options
            self.team = team
            self.session = session
            self.output = output
            self.signals = signals
            // Another terminal may talk in the same session: nothing that it says is taken for a repetition.
            orchestrator = Orchestrator(
                agents: team.agents, classifier: team.classifier,
                store: DeviceChatStorage(history: history, userId: options.user, sameRole: .keep))
            let names =
                team.agents.count > 1 ? Dictionary(team.agents.map { ($0.id, $0.name) }) { first, _ in first } : [:]
            display = options.json ? ReplyJSON(output: output) : ReplyText(output: output, names: names)
        }

        /// What became of a turn.
        enum Turn {
            case answered
            /// It failed, and its message was shown.
            case failed
            /// A signal stopped it; what had been said is kept.
            case stopped(by: Int32)
        }

        /// Says something to the agents and shows the reply as it comes.
        /// - Throws: what showing throws; the reply is then stopped and kept.
        func say(_ text: String) async throws -> Turn {
            let (orchestrator, session) = (orchestrator, session)
            let stopped = Locked<Int32?>(nil)
            signals.handle { signal in
                stopped.withLock { $0 = signal }
                Task { await orchestrator.stop(userId: session.userId, sessionId: session.sessionId) }
            }
            defer { signals.handle(nil) }
            let events = orchestrator.route(.text(text), userId: session.userId, sessionId: session.sessionId)
            let failure = try await show(events, unless: { stopped.withLock { $0 != nil } })
            try await display.end(failure: failure)
            // A person has read what was shown.
            if output.isTerminal, failure == nil {
                try await history.update(session, with: ConversationDetails(isRead: true), makesNew: false)
            }
            if let signal = stopped.withLock({ $0 }) { return .stopped(by: signal) }
            return failure == nil ? .answered : .failed
        }

        /// Shows a turn to its end. Returns the message of a failure; a turn that was stopped has not failed.
        private func show(
            _ events: AsyncThrowingStream<AgentEvent, any Error>, unless isStopped: () -> Bool
        ) async throws -> String? {
            var iterator = events.makeAsyncIterator()
            while true {
                let event: AgentEvent?
                do {
                    event = try await iterator.next()
                } catch {
                    return isStopped() ? nil : Recall.words(for: error)
                }
                guard let event else { return nil }
                try await display.show(event)
            }
        }

        /// Waits until all that was said is kept.
        func finish() async {
            await orchestrator.waitUntilIdle()
        }

        /// Goes on in another session.
        func move(to session: ConversationID) async throws {
            self.session = session
            if options.json { try await tellSession() }
        }

        /// Says in JSON which session this is.
        func tellSession() async throws {
            guard let display = display as? ReplyJSON else { return }
            try await display.write("session", ["id": .string(session.sessionId)])
        }

        /// Writes lines that are no reply: to the terminal or, where a program reads the replies, to standard error.
        func tell(_ lines: [String]) async throws {
            for line in lines {
                if output.isTerminal, !options.json {
                    try await output.line(line)
                } else {
                    Output.tell(line)
                }
            }
        }

        /// Colours for what `tell` writes.
        var style: Style {
            output.isTerminal && !options.json ? output.style : Style(isOn: Screen.takesColours(STDERR_FILENO))
        }
    }
#endif
