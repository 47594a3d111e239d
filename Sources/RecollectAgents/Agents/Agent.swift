import RecollectCore

/// An agent that a language model speaks for, with tools that the model may call.
///
/// ```swift
/// let support = Agent(
///     name: "Tech Support", description: "Helps with devices, networks and broken things.", model: client,
///     tools: [manual])
/// ```
///
/// In a turn the model is asked again as long as it calls tools. The calls of one round run at the same time; their results are told
/// in the order of the calls. A tool that is not there, arguments that are no JSON object and a tool that throws are told to the
/// model in words, and it goes on. The last round that `maxToolRounds` allows is asked for words alone.
///
/// `final` is the whole reply as one message: reasoning, prose, calls and results in their order, with the model's name and the
/// usage of all rounds. Ids of calls that are empty, or that the history or the reply has already, are replaced: some servers
/// begin at `call_0` in every turn. An answer that the model's limit of tokens, a filter or `maxReplyBytes` cut off is marked with
/// `isInterrupted`, and an `error` tells the user so.
///
/// Ending the stream stops the model and the tools. The stream throws what the model's client throws, `unreadable` if a completion
/// ends without `done`, and `CancellationError` if a tool throws that.
public struct Agent: AgentProtocol {
    /// What people call it.
    public let name: String
    /// What it is for: classifiers choose by it.
    public let description: String
    /// The model that speaks.
    public let model: any LLMClient
    /// The tools that the model may call; of several with one name, the first is called.
    public let tools: [AgentTool]
    /// What the model is told before everything; `nil` for nothing.
    public let systemPrompt: String?
    /// How often the model is asked in a turn, at the most; the last time it may call no tools, so with 1 it never calls any.
    public let maxToolRounds: Int
    /// How many bytes of UTF-8 the model may say in a turn: prose, reasoning, and the names and arguments of tool calls. What comes
    /// beyond is not read; a call that does not fit is left out, those before it in its round are not run. Results of tools do not count.
    public let maxReplyBytes: Int
    /// Whether turns are kept.
    public let saveChat: Bool

    /// The `maxToolRounds` of an agent that is not told another one.
    public static let defaultMaxToolRounds = 20
    /// The `maxReplyBytes` of an agent that is not told another one: 8 MB.
    public static let defaultMaxReplyBytes = 8 << 20

    /// Makes an agent whose model is told `defaultSystemPrompt(name:description:)`.
    public init(
        name: String, description: String, model: any LLMClient, tools: [AgentTool] = [],
        maxToolRounds: Int = Agent.defaultMaxToolRounds, maxReplyBytes: Int = Agent.defaultMaxReplyBytes,
        saveChat: Bool = true
    ) {
        self.init(
            name: name, description: description, model: model, tools: tools,
            systemPrompt: Self.defaultSystemPrompt(name: name, description: description),
            maxToolRounds: maxToolRounds, maxReplyBytes: maxReplyBytes, saveChat: saveChat)
    }

    /// Makes an agent with instructions of your own.
    /// - Parameters:
    ///   - name: What people call it; its id is the slug of this.
    ///   - description: What it is for: classifiers choose by it.
    ///   - model: The model that speaks.
    ///   - tools: The tools that the model may call.
    ///   - systemPrompt: What the model is told before everything; `nil` for nothing.
    ///   - maxToolRounds: How often the model is asked in a turn, at the most; less than 1 counts as 1.
    ///   - maxReplyBytes: How many bytes of UTF-8 the model may say in a turn.
    ///   - saveChat: Whether turns are kept.
    public init(
        name: String, description: String, model: any LLMClient, tools: [AgentTool] = [], systemPrompt: String?,
        maxToolRounds: Int = Agent.defaultMaxToolRounds, maxReplyBytes: Int = Agent.defaultMaxReplyBytes,
        saveChat: Bool = true
    ) {
        self.name = name
        self.description = description
        self.model = model
        self.tools = tools
        self.systemPrompt = systemPrompt
        self.maxToolRounds = max(1, maxToolRounds)
        self.maxReplyBytes = maxReplyBytes
        self.saveChat = saveChat
    }

    /// What a model is told when an agent has no instructions of its own: who it is and what it is for.
    public static func defaultSystemPrompt(name: String, description: String) -> String {
        """
        You are \(name). \(description)
        Answer in the language of the user. Say so when you do not know something or cannot do it.
        """
    }

    /// Asks the model, and again with the results of the tools that it called.
    public func process(
        _ input: AgentInput, history: [ConversationMessage], context: AgentContext
    ) -> AsyncThrowingStream<AgentEvent, any Error> {
        AsyncThrowingStream(running: { stream in
            var turn = AgentTurn(agent: self, input: input, history: history, context: context, stream: stream)
            try await turn.run()
        })
    }
}
