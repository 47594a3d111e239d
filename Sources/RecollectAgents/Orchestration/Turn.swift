import Foundation
import RecollectCore

/// One turn: an input and the reply to it.
struct Turn: Sendable {
    private(set) var input: AgentInput
    let context: AgentContext
    let agents: [any AgentProtocol]
    /// The answering agent; `nil` to choose one.
    let agent: (any AgentProtocol)?
    let classifier: (any Classifier)?
    let store: (any ChatStorage)?
    let maxMessages: Int?
    /// The limit of the past messages for an agent by tokens.
    let tokenWindow: TokenWindow?
    let emit: @Sendable (AgentEvent) -> Void

    /// Runs the turn to its end, with a lease of the session if the store gives them: then the turns of other orchestrators and
    /// programs run before or after it.
    func run() async throws {
        try Task.checkCancellation()
        guard let lease = try await store?.lease(userId: context.userId, sessionId: context.sessionId) else {
            return try await answer()
        }
        var turn = self
        // After the replies of the turns it has waited for, also in a session of several agents.
        if lease.hasWaited {
            turn.input.message.timestamp = max(input.message.timestamp, Date().addingTimeInterval(0.001))
        }
        try await lease.run { [turn] in try await turn.answer() }
    }

    /// Answers the input. On an error after the input is saved, the reply is saved as far as it was received.
    private func answer() async throws {
        try Task.checkCancellation()
        let (agent, failure) = try await choose()
        // Read once: by default an agent computes its ID from its name at each access.
        let agentId = agent.id
        let memory = AgentMessageStore(of: agent, id: agentId, in: self)
        let past = try await memory.history()
        if let reply = memory.answer(to: input, in: past.messages) {
            emit(.began(AgentReply(id: reply.id, agentId: agentId, inputId: input.id)))
            emit(.final(reply))
            return
        }
        try Task.checkCancellation()
        let question = try await memory.save(input, after: past)

        let reply = Reply(try await memory.beginReply(to: question))
        emit(.began(AgentReply(id: reply.id, agentId: agentId, inputId: input.id)))
        do {
            if let failure { throw failure }
            for try await event in agent.process(input, history: question.before, context: context) {
                if reply.take(event) { emit(event) }
            }
            try Task.checkCancellation()
        } catch {
            try await end(reply, after: error)
            return
        }
        emit(.final(try await reply.finish()))
    }

    /// Saves an incomplete reply. Throws the failure afterward, unless the turn was stopped.
    private func end(_ reply: Reply, after failure: any Error) async throws {
        let isStopped = Task.isCancelled
        do {
            emit(.final(try await reply.interrupt()))
        } catch {
            // The original failure is thrown. This error is sent as an event, so that it is not lost.
            if isStopped { throw error }
            emit(.error("The reply could not be saved: \(error.localizedDescription)"))
        }
        if !isStopped { throw failure }
    }

    /// Chooses the agent; returns the first one and the failure if the classifier fails.
    ///
    /// A known input goes to the agent of the earlier turn. The input is looked up again after the classification:
    /// another orchestrator may have saved it with another agent meanwhile. Over a store with versions, this reads the
    /// messages again only if something was saved. A store without versions is not read again.
    private func choose() async throws -> (agent: any AgentProtocol, failure: (any Error)?) {
        if let agent { return (agent, nil) }
        guard let classifier, agents.count > 1 else { return (agents[0], nil) }
        // Read before the messages, so that it differs after every save that they do not show.
        let before = try await version()
        let chats = try await chats()
        if let agent = try await askedAgent(in: chats) { return (agent, nil) }
        let choice = try await classify(after: chats, with: classifier)
        if try await version() != before, let agent = try await askedAgent(in: self.chats()) { return (agent, nil) }
        return choice
    }

    private func version() async throws -> ChatVersion? {
        try await store?.version(userId: context.userId, sessionId: context.sessionId)
    }

    private func chats() async throws -> [ConversationMessage] {
        try await store?.fetchAllChats(userId: context.userId, sessionId: context.sessionId) ?? []
    }

    /// Returns the agent of an earlier turn with the input.
    private func askedAgent(in chats: [ConversationMessage]) async throws -> (any AgentProtocol)? {
        for agent in agents {
            if try await AgentMessageStore(of: agent, id: agent.id, in: self).hasQuestion(of: input, in: chats) {
                return agent
            }
        }
        return nil
    }

    /// Asks the classifier. Cancellation ends the wait for it at once.
    private func classify(
        after chats: [ConversationMessage], with classifier: any Classifier
    ) async throws -> (agent: any AgentProtocol, failure: (any Error)?) {
        let results = AsyncThrowingStream(running: { [input, agents] stream in
            stream.yield(try await classifier.classify(input.text, history: chats.wholeExchanges(), agents: agents))
        })
        do {
            for try await result in results {
                try Task.checkCancellation()
                let chosen = result.selectedAgent.flatMap { chosen in
                    agents.first { $0.id.hasSameBytes(as: chosen.id) }
                }
                return (chosen ?? agents[0], nil)
            }
        } catch {
            try Task.checkCancellation()
            return (agents[0], error)
        }
        // The stream ends without a result only if the turn is canceled.
        throw CancellationError()
    }
}
