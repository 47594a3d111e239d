import RecollectCore

/// Runs the turns of conversations: chooses who answers, keeps what the user says, gives the agent what was said before, and keeps
/// the reply while it streams.
///
/// ```swift
/// let orchestrator = Orchestrator(agents: [agent], store: store)
/// for try await event in orchestrator.route("What is next?", userId: "ada", sessionId: "today") {
///     if case .textDelta(let text) = event { show(text) }
/// }
/// ```
///
/// Any store with the four methods of `ChatStorage` will do. What a turn leaves there is two messages, the user's and the reply, with
/// tool calls and their results as parts of the reply:
///
/// - The user's message is saved before the agent runs. If that fails, the agent does not run.
/// - A reply that ends is saved before `final` tells it. One that is stopped or fails is saved as far as it had come, marked with
///   `isInterrupted`; cancellation does not reach that save.
/// - A store that is a `DraftingChatStorage` (`DeviceChatStorage`) has the reply on the disk while it streams: if the process is
///   killed, the reply is there, interrupted. Over other stores the user's message is there, and the agent's next turn in the session closes it
///   with an empty, interrupted reply, so that the next message is not taken for a repetition and dropped.
/// - An agent is never given half of a tool exchange, whatever a stopped turn has left.
///
/// Turns of one session run one after the other, in the order of the calls of `route`; sessions run side by side. That holds within
/// one orchestrator: make one and share it. Where others talk in the session all the same, take a store that keeps drafts, or one made with
/// `sameRole: .keep`. All methods may be called from any task.
public final class Orchestrator: Sendable {
    /// The agents; the first one answers where no other is chosen.
    public let agents: [any AgentProtocol]

    private let classifier: (any Classifier)?
    private let store: (any ChatStorage)?
    private let maxMessages: Int?
    private let turns = TurnQueue()

    /// Makes an orchestrator.
    ///
    /// - Precondition: there is an agent, and no two have the same id: they would share a history.
    /// - Parameters:
    ///   - agents: Those who may answer, the default one first.
    ///   - classifier: Chooses among them. Without one, or with one agent alone, the first agent answers, and no merged history is
    ///     read.
    ///   - store: Where the history is kept; `nil` keeps nothing, and every turn is the first.
    ///   - maxMessages: How many messages an agent is given of its past, and a store that trims keeps; rounded down to even, `nil` for
    ///     all. A classifier is given the whole session.
    public init(
        agents: [any AgentProtocol], classifier: (any Classifier)? = nil, store: (any ChatStorage)?,
        maxMessages: Int? = ChatStorageDefaults.maxMessages
    ) {
        precondition(!agents.isEmpty, "an orchestrator needs an agent")
        precondition(Set(agents.map { ByteString($0.id) }).count == agents.count, "two agents have the same id")
        self.agents = agents
        self.classifier = classifier
        self.store = store
        self.maxMessages = maxMessages
    }

    /// Runs a turn, and tells what happens in it.
    ///
    /// The turn is queued at once, whether or not anybody iterates the stream. First comes `began`, when the user's message is saved;
    /// last `final`, when the reply is, also where the reply was interrupted; then the stream ends, or throws what the agent, the
    /// classifier or the store threw. Where the classifier fails, the user's message is kept with the first agent. Where the store drops
    /// one of the two for a message of somebody else in the session, the stream throws `notKept` instead of telling it.
    ///
    /// What stops the turn before that:
    ///
    /// - leaving the loop over the stream, when nothing holds the stream any more: at once in `for try await event in route(…)`, else when
    ///   the variable goes. While the stream is held the turn goes on, and a second loop is told the rest;
    /// - cancelling a task that waits for an event, or that asks for one after others;
    /// - `stop`, after which the stream still tells how the reply was kept.
    ///
    /// A stream that nobody has asked for an event stops nothing: neither its release nor a task that is cancelled before its first
    /// one. A turn that is stopped while it waits for another, or before its question is saved, keeps nothing and throws
    /// `CancellationError`, or what the store throws where it is cancelled.
    ///
    /// A turn that an agent or a tool begins inside a turn of the same session would wait for itself: its stream throws `invalidArgument`.
    /// So does one that two sessions, each inside a turn of its own, begin in each other.
    /// That is known of tasks that inherit their task-local values, which detached ones do not.
    ///
    /// An input with a known id goes to the agent of the earlier turn. A complete reply is returned as it was kept; after an interrupted or
    /// empty reply, the agent is asked again. So it is if the reply is no longer among the last `maxMessages` messages. A client may send a
    /// request twice.
    /// - Parameters:
    ///   - input: What the user says.
    ///   - userId: Who says it.
    ///   - sessionId: In which of their sessions.
    ///   - params: What else agents and tools are given in `AgentContext`; it is not kept.
    public func route(
        _ input: AgentInput, userId: String, sessionId: String, params: [String: JSONValue] = [:]
    ) -> AsyncThrowingStream<AgentEvent, any Error> {
        let conversation = ConversationID(userId: userId, sessionId: sessionId)
        let (events, continuation) = AsyncThrowingStream<AgentEvent, any Error>.makeStream()
        let isIterated = Locked(false)
        let turn = Turn(
            input: input,
            context: AgentContext(userId: userId, sessionId: sessionId, inputId: input.id, params: params),
            agents: agents, classifier: classifier, store: store, maxMessages: maxMessages,
            tell: { continuation.yield($0) })
        let task = turns.add(to: conversation) {
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
            // A stream that nobody iterates is released at once, and its turn runs to the end.
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
            "a turn of session \(sessionId) was begun inside a turn of that session, or of one that waits for it: neither would ever "
                + "end; ask in another session, or when the turn has ended")
    }

    /// Repeats the turn of a saved message after an interrupted or empty reply; returns a complete reply as it was kept.
    ///
    /// Reads the message, then runs a turn: see `route`.
    /// - Parameters:
    ///   - inputId: The id of the user's message.
    ///   - userId: The user's id.
    ///   - sessionId: The session's id.
    ///   - params: Values for agents and tools in `AgentContext`; not kept.
    /// - Throws: `notFound` for an id without a message in the store; errors of the store.
    public func retry(
        inputId: String, userId: String, sessionId: String, params: [String: JSONValue] = [:]
    ) async throws -> AsyncThrowingStream<AgentEvent, any Error> {
        for agent in agents {
            let history =
                try await store?.fetch(userId: userId, sessionId: sessionId, agentId: agent.id, maxMessages: nil) ?? []
            guard let message = history.first(where: { $0.role == .user && $0.id.hasSameBytes(as: inputId) }) else {
                continue
            }
            return route(AgentInput(message), userId: userId, sessionId: sessionId, params: params)
        }
        throw RecollectError(.notFound, "no agent of session \(sessionId) was asked the message \(inputId)")
    }

    /// Stops a session's turn, and those that wait behind it; returns when what was said is kept. Other sessions go on.
    public func stop(userId: String, sessionId: String) async {
        await turns.stop(ConversationID(userId: userId, sessionId: sessionId))
    }

    /// Returns when no turn is left, of those queued meanwhile too: before the process ends, say. Inside a turn, whose end it would wait
    /// for, it returns at once.
    public func waitUntilIdle() async {
        await turns.waitUntilIdle()
    }
}
