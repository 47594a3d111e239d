import RecollectCore

/// An agent backed by a language model, with tools for the model.
///
/// ```swift
/// let support = Agent(
///     name: "Tech Support", description: "Helps with devices, networks and broken things.", model: client,
///     tools: [manual])
/// ```
///
/// In a turn, the model is asked again after each round of tool calls. The calls of one round run concurrently;
/// their results are sent in the order of the calls. An unknown tool, arguments other than a JSON object, and an
/// error of a tool are reported to the model as text, and the turn continues. The last round allowed by
/// `maxToolRounds` is requested without tool calls.
///
/// `final` is the whole reply as one message: reasoning, text, calls and results in their order, with the model's
/// name and the usage of all rounds. A call gets a new ID if its own is empty or already in the history or the
/// reply: some servers begin at `call_0` in every turn. A reply is marked with `isInterrupted`, and an `error`
/// event informs the user, if the model's token limit, a content filter or `maxReplyBytes` cuts off the answer, or
/// the model calls tools in the last round.
///
/// Ending the stream stops the model and the tools. The stream throws the errors of the model client, `unreadable`
/// if a completion ends without `done`, and `CancellationError` if a tool throws it.
public struct Agent: AgentProtocol {
    /// The agent's display name.
    public let name: String
    /// The agent's purpose. Classifiers choose by it.
    public let description: String
    /// The client of the agent's model.
    public let model: any LLMClient
    /// The tools for the model. If several have the same name, the first is called.
    public let tools: [AgentTool]
    /// The instructions before all messages; `nil` for none.
    public let systemPrompt: String?
    /// The maximum number of requests to the model in a turn. The last one allows no tool calls, so with 1 the
    /// model calls no tools.
    public let maxToolRounds: Int
    /// The limit for the model's output in a turn, in bytes of UTF-8: text, reasoning, and the IDs, names and
    /// arguments of tool calls. Output over the limit is not read. A call over the limit is omitted, and the calls
    /// before it in the same round are not run. Tool results do not count.
    public let maxReplyBytes: Int
    /// Whether turns are saved.
    public let saveChat: Bool

    /// The default of `maxToolRounds`: 20.
    public static let defaultMaxToolRounds = 20
    /// The default of `maxReplyBytes`: 8 MB.
    public static let defaultMaxReplyBytes = 8 << 20

    /// Creates an agent with the instructions from `defaultSystemPrompt(name:description:)`.
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

    /// Creates an agent with instructions of your own.
    /// - Parameters:
    ///   - name: The display name. Its slug is the agent's ID.
    ///   - description: The agent's purpose. Classifiers choose by it.
    ///   - model: The client of the agent's model.
    ///   - tools: The tools for the model.
    ///   - systemPrompt: The instructions before all messages; `nil` for none.
    ///   - maxToolRounds: The maximum number of requests to the model in a turn; less than 1 counts as 1.
    ///   - maxReplyBytes: The limit for the model's output in a turn, in bytes of UTF-8.
    ///   - saveChat: Whether turns are saved.
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

    /// Returns the default instructions, with the agent's name and purpose.
    public static func defaultSystemPrompt(name: String, description: String) -> String {
        """
        You are \(name). \(description)
        Answer in the language of the user. If you do not know something or cannot do it, say so.
        """
    }

    /// Asks the model, and again with the results of its tool calls.
    public func process(
        _ input: AgentInput, history: [ConversationMessage], context: AgentContext
    ) -> AsyncThrowingStream<AgentEvent, any Error> {
        AsyncThrowingStream(running: { stream in
            var turn = AgentTurn(agent: self, input: input, history: history, context: context, stream: stream)
            try await turn.run()
        })
    }
}
