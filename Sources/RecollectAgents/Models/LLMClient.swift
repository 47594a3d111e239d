import RecollectCore

/// The connection to a language model. A client of your own implements its one method.
public protocol LLMClient: Sendable {
    /// Streams one completion: text and reasoning in pieces, whole tool calls, and `done` as the last event.
    ///
    /// May be called from any task, concurrently. Ending the iteration, or canceling the task, ends the request.
    /// Failures are thrown by the stream.
    func complete(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error>
}

/// A request to a language model.
public struct LLMRequest: Hashable, Sendable {
    /// The instructions before all messages; `nil` for none.
    public var system: String?
    /// The messages, oldest first. A tool result may be in a message with the role `tool`, or in the same message
    /// as its call, as in replies saved by an orchestrator. The client arranges both for its model's API.
    public var messages: [ConversationMessage]
    /// The tools for the model.
    public var tools: [AgentTool]
    /// The rule for calling tools.
    public var toolChoice: ToolChoice

    /// Creates a request.
    public init(
        system: String? = nil, messages: [ConversationMessage], tools: [AgentTool] = [],
        toolChoice: ToolChoice = .automatic
    ) {
        self.system = system
        self.messages = messages
        self.tools = tools
        self.toolChoice = toolChoice
    }

    /// A rule for calling tools.
    public enum ToolChoice: Hashable, Sendable {
        /// The model decides.
        case automatic
        /// The model calls no tools.
        case none
        /// The model calls at least one tool.
        case required
        /// The model calls this tool.
        case tool(String)
    }
}

/// An event of a completion.
public enum LLMStreamEvent: Hashable, Sendable {
    /// A piece of the model's text.
    case textDelta(String)
    /// A piece of the model's reasoning.
    case thinking(String)
    /// A whole tool call. Arguments other than JSON are a string, as written by the model.
    case toolCall(id: String, name: String, arguments: JSONValue)
    /// The end of the completion.
    case done(LLMCompletion)
}

/// The end of a completion.
public struct LLMCompletion: Hashable, Sendable {
    /// The reason for the end.
    public var reason: FinishReason
    /// The token usage; `nil` if the server does not report it.
    public var usage: TokenUsage?
    /// The answering model's name, as given by the server.
    public var model: String?

    /// Creates an end of a completion.
    public init(reason: FinishReason, usage: TokenUsage? = nil, model: String? = nil) {
        self.reason = reason
        self.usage = usage
        self.model = model
    }
}

/// The reason for the end of a completion, named as by chat-completions servers. The set of reasons is open.
public struct FinishReason: RawRepresentable, Hashable, Sendable {
    /// The reason's name.
    public let rawValue: String

    /// Creates a reason from its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The model finished its answer.
    public static let stop = FinishReason(rawValue: "stop")
    /// The model waits for the results of its tool calls.
    public static let toolCalls = FinishReason(rawValue: "tool_calls")
    /// The answer reached the model's token limit, or the client's byte limit.
    public static let length = FinishReason(rawValue: "length")
    /// A content filter stopped the answer.
    public static let contentFilter = FinishReason(rawValue: "content_filter")
}
