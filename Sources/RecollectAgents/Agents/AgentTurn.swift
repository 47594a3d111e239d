import RecollectCore

/// One turn of an `Agent`: rounds of asking the model and running its tool calls.
struct AgentTurn {
    private let agent: Agent
    private let messages: [ConversationMessage]
    private let context: AgentContext
    private let stream: AsyncThrowingStream<AgentEvent, any Error>.Continuation
    private var reply: AgentTurnReply
    /// The room left for the model's output in all rounds.
    private var room: ReplySizeLimit

    init(
        agent: Agent, input: AgentInput, history: [ConversationMessage], context: AgentContext,
        stream: AsyncThrowingStream<AgentEvent, any Error>.Continuation
    ) {
        self.agent = agent
        self.context = context
        self.stream = stream
        messages = history + [input.message]
        reply = AgentTurnReply(history: history)
        room = ReplySizeLimit(bytes: agent.maxReplyBytes)
    }

    /// Runs the turn, up to and including `final`.
    mutating func run() async throws {
        for round in 1...agent.maxToolRounds {
            let isLast = round == agent.maxToolRounds
            let (calls, reason) = try await ask(for: isLast ? .none : .automatic)
            if room.isOver {
                refuse(calls)
                return end(.length)
            }
            if calls.isEmpty {
                return end(reason)
            }
            if isLast {
                refuse(calls)
            } else {
                try await run(calls)
            }
        }
        stream.yield(
            .error("\(agent.name) stopped after \(agent.maxToolRounds) model calls, the maximum for one turn."))
        reply.message.isInterrupted = true
        stream.yield(.final(reply.message))
    }

    /// Asks the model once, forwarding its output. Returns the tool calls and the reason for the end.
    private mutating func ask(for toolChoice: LLMRequest.ToolChoice) async throws -> ([ToolCall], FinishReason) {
        // A tool may succeed although the turn was stopped.
        try Task.checkCancellation()
        let request = LLMRequest(
            system: agent.systemPrompt, messages: reply.message.parts.isEmpty ? messages : messages + [reply.message],
            tools: agent.tools, toolChoice: toolChoice)
        var calls: [ToolCall] = []
        var completion: LLMCompletion?
        for try await event in agent.model.complete(request) {
            switch event {
            case .thinking(let text):
                let text = room.take(text)
                guard !text.isEmpty else { break }
                reply.think(text)
                stream.yield(.thinking(text))
            case .textDelta(let text):
                let text = room.take(text)
                guard !text.isEmpty else { break }
                reply.say(text)
                stream.yield(.textDelta(text))
            case .toolCall(let id, let name, let arguments):
                guard room.takeWhole(id.utf8.count + name.utf8.count + arguments.jsonString.utf8.count) else { break }
                let call = reply.call(id: id, name: name, arguments: arguments)
                calls.append(call)
                stream.yield(.toolCall(id: call.id, name: call.name, arguments: call.arguments))
            case .done(let done):
                completion = done
            }
            if room.isOver { break }
        }
        // A canceled stream ends as if it were complete.
        try Task.checkCancellation()
        guard !room.isOver else { return (calls, .length) }
        guard let completion else {
            throw RecollectError(
                .unreadable, "the model of \(agent.name) sent an incomplete reply; try again")
        }
        reply.add(completion)
        return (calls, completion.reason)
    }

    /// Runs the calls of a round concurrently. Sends the results in the order of the calls, each as soon as the
    /// results before it are sent.
    private mutating func run(_ calls: [ToolCall]) async throws {
        let (tools, context) = (agent.tools, context)
        try await withThrowingTaskGroup(of: (Int, ToolResult).self) { group in
            for (index, call) in calls.enumerated() {
                group.addTask { (index, try await call.run(with: tools, context: context)) }
            }
            var finished: [Int: ToolResult] = [:]
            var next = 0
            for try await (index, result) in group {
                finished[index] = result
                while let result = finished.removeValue(forKey: next) {
                    add(result, of: calls[next])
                    next += 1
                }
            }
        }
    }

    /// Sends a failure for each call without running it, so that no call stays without a result.
    private mutating func refuse(_ calls: [ToolCall]) {
        for call in calls {
            add(.failure("No more tools can be called in this turn."), of: call)
        }
    }

    private mutating func add(_ result: ToolResult, of call: ToolCall) {
        let content = result.reportedContent.fromOutside
        reply.add(result: content, of: call)
        stream.yield(.toolResult(id: call.id, content: content))
    }

    /// Ends the turn after the model's last answer. An incomplete or empty answer is reported by an `error` event.
    private mutating func end(_ reason: FinishReason) {
        if reason == .length {
            reply.message.isInterrupted = true
            stream.yield(
                .error(
                    room.isOver
                        ? "The reply was cut off: it exceeds \(agent.maxReplyBytes) bytes."
                        : "The reply was cut off: the model reached its length limit."))
        } else if reason == .contentFilter {
            reply.message.isInterrupted = true
            stream.yield(.error("The reply was cut off by the model's content filter."))
        } else if reply.message.text.isEmpty {
            stream.yield(.error("The model returned no reply."))
        }
        stream.yield(.final(reply.message))
    }
}
