import RecollectCore

/// Asks a language model: the one method that a client of your own implements.
public protocol LLMClient: Sendable {
    /// Streams one completion: its pieces as they come, whole tool calls, and last `done`.
    ///
    /// May be called from any task, many times at once. Ending the iteration, or the task, ends the request. Failures are thrown
    /// through the stream.
    func complete(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error>
}

/// What a model is asked.
public struct LLMRequest: Hashable, Sendable {
    /// Instructions that come before everything; `nil` for none.
    public var system: String?
    /// What was said, the oldest first. A tool's result may stand in a message of the role `tool` or, as in replies that an
    /// orchestrator kept, in the same message as its call: the client puts it where its model's API wants it.
    public var messages: [ConversationMessage]
    /// Tools that the model may call.
    public var tools: [AgentTool]
    /// Whether it may, must or must not call them.
    public var toolChoice: ToolChoice

    /// Makes a request.
    public init(
        system: String? = nil, messages: [ConversationMessage], tools: [AgentTool] = [],
        toolChoice: ToolChoice = .automatic
    ) {
        self.system = system
        self.messages = messages
        self.tools = tools
        self.toolChoice = toolChoice
    }

    /// Whether a model calls tools.
    public enum ToolChoice: Hashable, Sendable {
        /// As it sees fit.
        case automatic
        /// Not at all.
        case none
        /// At least one.
        case required
        /// That one.
        case tool(String)
    }
}

/// What comes of a request.
public enum LLMStreamEvent: Hashable, Sendable {
    /// A piece of what the model says.
    case textDelta(String)
    /// A piece of its reasoning.
    case thinking(String)
    /// A tool call, whole. Arguments that are no JSON come as a string, as the model wrote them.
    case toolCall(id: String, name: String, arguments: JSONValue)
    /// The end.
    case done(LLMCompletion)
}

/// How a completion ended.
public struct LLMCompletion: Hashable, Sendable {
    /// Why.
    public var reason: FinishReason
    /// What it took; `nil` where the server does not tell.
    public var usage: TokenUsage?
    /// The model that answered, as the server names it.
    public var model: String?

    /// Makes an end.
    public init(reason: FinishReason, usage: TokenUsage? = nil, model: String? = nil) {
        self.reason = reason
        self.usage = usage
        self.model = model
    }
}

/// Why a model stopped: the name that chat-completions servers give it, so it is open.
public struct FinishReason: RawRepresentable, Hashable, Sendable {
    /// The name.
    public let rawValue: String

    /// Makes a reason from its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// It has said what it wanted to say.
    public static let stop = FinishReason(rawValue: "stop")
    /// It waits for the results of its tool calls.
    public static let toolCalls = FinishReason(rawValue: "tool_calls")
    /// It came to the limit of tokens, or its client to that of bytes.
    public static let length = FinishReason(rawValue: "length")
    /// A filter stopped it.
    public static let contentFilter = FinishReason(rawValue: "content_filter")
}
