import RecollectCore

/// Runs the turns of sessions: chooses the agent, saves the user's message, passes the history to the agent, and
/// saves the reply while it streams.
///
/// ```swift
/// let orchestrator = Orchestrator(agents: [agent], store: store)
/// for try await event in orchestrator.route("What is next?", userId: "ada", sessionId: "today") {
///     if case .textDelta(let text) = event { show(text) }
/// }
/// ```
///
/// Any store with the four methods of `ChatStorage` is suitable. A turn saves two messages, the user's and the
/// reply. Tool calls and their results are parts of the reply:
///
/// - The user's message is saved before the agent runs. If that fails, the agent does not run.
/// - A complete reply is saved before `final` is sent. A stopped or failed reply is saved as far as it was
///   received, marked with `isInterrupted`. Cancellation does not affect this save.
/// - With a store for streaming replies (`DeviceChatStorage`), the reply is saved in increments while it streams. If
///   the process is killed, the saved part remains as an interrupted reply. With other stores, only the user's
///   message remains. The agent's next turn in the session then adds an empty, interrupted reply. Otherwise the store
///   would drop the next message as a repetition.
/// - An agent never gets an incomplete tool exchange, even after a stopped turn.
///
/// Turns of one session run one after another, in the order of the calls of `route`. Sessions run concurrently.
/// With a store that gives leases (`DeviceChatStorage`), this also holds for other orchestrators and programs. Otherwise, create one
/// orchestrator and share it. If other programs write in the same session, use a store with leases or streaming replies, or one
/// created with `sameRole: .keep`. All methods may be called from any task.
public final class Orchestrator: Sendable {
    /// The agents. The first one is the default.
    public let agents: [any AgentProtocol]

    private let classifier: (any Classifier)?
    private let store: (any ChatStorage)?
    private let maxMessages: Int?
    private let tokenWindow: TokenWindow?
    private let turns = TurnQueue()

    /// Creates an orchestrator.
    ///
    /// - Precondition: There is at least one agent, and all have different IDs. Agents with the same ID would share
    ///   a history.
    /// - Parameters:
    ///   - agents: The available agents, the default one first.
    ///   - classifier: Chooses the agent. Without a classifier, or with a single agent, the first agent answers,
    ///     and no merged history is read.
    ///   - store: The store for the history. With `nil`, nothing is saved, and every turn is the first.
    ///   - maxMessages: The number of past messages for an agent, and the limit for a trimming store; rounded down
    ///     to even, `nil` for all. A classifier gets the whole session.
    ///   - maxTokens: The maximum sum of the tokens of these messages, without the input; `nil` for no limit. An agent
    ///     gets the instructions, the turns with pinned messages and the newest turns among them, and a summary in place
    ///     of the messages covered by a compaction of the store: see `ChatStorage.window`.
    ///   - tokenCounter: Counts the tokens of a message.
    public init(
        agents: [any AgentProtocol], classifier: (any Classifier)? = nil, store: (any ChatStorage)?,
        maxMessages: Int? = ChatStorageDefaults.maxMessages, maxTokens: Int? = nil,
        tokenCounter: TokenCounter = .estimate
    ) {
        precondition(!agents.isEmpty, "an orchestrator requires at least one agent")
        precondition(Set(agents.map { ByteString($0.id) }).count == agents.count, "two agents have the same ID")
        self.agents = agents
        self.classifier = classifier
        self.store = store
        self.maxMessages = maxMessages
        tokenWindow = maxTokens.map { TokenWindow(tokens: $0, counter: tokenCounter) }
    }

    /// Runs a turn and streams its events.
    ///
    /// The turn is queued at once, even if the stream is never iterated. The first event is `began`, after the
    /// user's message is saved. The last is `final`, after the reply is saved, interrupted or not. Then the stream
    /// ends, or throws the error of the agent, the classifier or the store. If the classifier fails, the user's
    /// message is saved with the first agent. If the store drops one of the two messages because of another
    /// program's message in the session, the stream throws `verificationFailed` instead of sending the event.
    ///
    /// With leases in the store, the turn waits for the turns of other orchestrators and programs in the session. If its process
    /// was stopped for longer than its lease, the stream throws `leaseLost`: see <doc:Agents-and-turns>.
    ///
    /// Before that, the turn stops in these cases:
    ///
    /// - The loop over the stream ends, and no reference to the stream is left. In `for try await event in
    ///   route(…)` this is immediate; a stream in a variable lasts as long as the variable. A second loop over a
    ///   stream continues it.
    /// - The task is canceled while it waits for an event after the first one, or for the first one.
    /// - `stop` is called. The stream then still sends the saved reply.
    ///
    /// A stream never asked for an event stops nothing, neither by its release nor by a cancellation before its
    /// first event. A turn stopped while it waits for another turn, or before its input is saved, saves nothing and
    /// throws `CancellationError`, or the store's error on cancellation.
    ///
    /// A turn begun inside another turn (by its agent or a tool) must not wait for the outer turn: neither would
    /// end. Its stream throws `invalidArgument`. This applies to turns of the same session, and to turns of
    /// sessions waiting for each other: if two turns each begin a turn in the other's session, the second one
    /// throws. Detection needs task-local values, so it does not work in detached tasks.
    ///
    /// A client may send a request twice. With a classifier, an input with a known ID goes to the agent of the earlier
    /// turn. A complete reply is returned as it was saved. With other content than the saved message of its ID, an input
    /// is another question: it is saved under the ID of a copy. The agent is asked again if the reply is interrupted, empty
    /// (without text, an attachment or a complete tool exchange), or not among the last `maxMessages` messages (at
    /// least two). Without leases in the store: while another orchestrator streams the chosen agent's reply to the input into
    /// the store, the stream throws `invalidArgument`, also if other inputs were saved since. If two orchestrators with
    /// classifiers get the input at the same time, two agents may answer it: see the limits in <doc:Agents-and-turns>.
    /// - Parameters:
    ///   - input: The user's message.
    ///   - userId: The user's ID.
    ///   - sessionId: The session's ID.
    ///   - params: Values for agents and tools in `AgentContext`; not saved.
    public func route(
        _ input: AgentInput, userId: String, sessionId: String, params: [String: JSONValue] = [:]
    ) -> AsyncThrowingStream<AgentEvent, any Error> {
        route(input, to: nil, userId: userId, sessionId: sessionId, params: params)
    }

    private func route(
        _ input: AgentInput, to agent: (any AgentProtocol)?, userId: String, sessionId: String,
        params: [String: JSONValue]
    ) -> AsyncThrowingStream<AgentEvent, any Error> {
        let session = SessionKey(userId: userId, sessionId: sessionId)
        let (events, continuation) = AsyncThrowingStream<AgentEvent, any Error>.makeStream()
        let isIterated = Locked(false)
        let turn = Turn(
            input: input,
            context: AgentContext(userId: userId, sessionId: sessionId, inputId: input.id, params: params),
            agents: agents, agent: agent, classifier: classifier, store: store, maxMessages: maxMessages,
            tokenWindow: tokenWindow, emit: { continuation.yield($0) })
        let task = turns.add(to: session) {
            do {
                try await turn.run()
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        guard let task else {
            continuation.finish(throwing: Self.nestedTurn(in: sessionId))
            return events
        }
        continuation.onTermination = { reason in
            // A stream without iteration is released at once. Its turn runs to the end.
            if case .cancelled = reason, isIterated.withLock({ $0 }) { task.cancel() }
        }
        return AsyncThrowingStream {
            isIterated.withLock { $0 = true }
            for try await event in events { return event }
            return nil
        }
    }

    private static func nestedTurn(in sessionId: String) -> RecollectError {
        RecollectError(
            .invalidArgument,
            "a turn of session \(sessionId) was started inside a turn of the same session, or of one that waits for it: this would "
                + "deadlock; use another session, or send it when the turn has ended")
    }

    /// Repeats the turn of a saved message after an interrupted or empty reply. A complete reply is returned as it
    /// was saved.
    ///
    /// Reads the message, then runs a turn of its agent: see `route`. For a message of no agent, saved by a user interface
    /// before its turn was, the classifier chooses the agent.
    /// - Parameters:
    ///   - inputId: The ID of the user's message.
    ///   - userId: The user's ID.
    ///   - sessionId: The session's ID.
    ///   - params: Values for agents and tools in `AgentContext`; not saved.
    /// - Throws: `notFound` for an ID without a message in the store; errors of the store.
    public func retry(
        inputId: String, userId: String, sessionId: String, params: [String: JSONValue] = [:]
    ) async throws -> AsyncThrowingStream<AgentEvent, any Error> {
        for agent in agents {
            let history =
                try await store?.fetch(userId: userId, sessionId: sessionId, agentId: agent.id, maxMessages: nil) ?? []
            guard let message = history.first(where: { $0.role == .user && $0.id.hasSameBytes(as: inputId) }) else {
                continue
            }
            return route(AgentInput(message), to: agent, userId: userId, sessionId: sessionId, params: params)
        }
        let all = try await store?.fetchAllChats(userId: userId, sessionId: sessionId) ?? []
        guard let message = all.first(where: { $0.role == .user && $0.id.hasSameBytes(as: inputId) }) else {
            throw RecollectError(.notFound, "session \(sessionId) has no message \(inputId) by the user")
        }
        return route(AgentInput(message), userId: userId, sessionId: sessionId, params: params)
    }

    /// Stops a session's current turn and the turns waiting behind it. Returns after their messages are saved. Other
    /// sessions continue.
    ///
    /// Inside a turn that the session's turns wait for, and inside one of them, it returns at once: that turn would wait
    /// for its own end. A detached task is not inside the turn that created it, so such a turn must not await this call
    /// in one.
    ///
    /// The turn ends as soon as its agent's stream does. A stream with a continuation ends at once. A stream that
    /// computes its events on demand and ignores cancellation delays the return until its next event.
    public func stop(userId: String, sessionId: String) async {
        await turns.stop(SessionKey(userId: userId, sessionId: sessionId))
    }

    /// Waits until no turn is left, including turns queued meanwhile. Call it before the process ends, for example.
    ///
    /// Inside a turn it does not wait for that turn, nor for turns that wait for it. A detached task is not inside the
    /// turn that created it, so a turn must not await this call in one.
    public func waitUntilIdle() async {
        await turns.waitUntilIdle()
    }
}
