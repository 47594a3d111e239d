/// The author or origin of a transcript entry. Unknown values of other programs are preserved.
public struct MessageRole: RawRepresentable, Hashable, Sendable, Codable {
    /// The stored name of the role.
    public let rawValue: String

    /// Creates a role from its stored name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The user.
    public static let user = MessageRole(rawValue: "user")
    /// The model.
    public static let assistant = MessageRole(rawValue: "assistant")
    /// The app.
    public static let system = MessageRole(rawValue: "system")
    /// A tool call.
    public static let toolUse = MessageRole(rawValue: "toolUse")
    /// A tool result.
    public static let toolResult = MessageRole(rawValue: "toolResult")
    /// A failure of a tool.
    public static let toolError = MessageRole(rawValue: "toolError")
    /// A tool call without permission.
    public static let toolDenied = MessageRole(rawValue: "toolDenied")
    /// Thinking of the model.
    public static let thinking = MessageRole(rawValue: "thinking")
}

/// The type of a transcript entry. Unknown values of other programs are preserved.
public struct MessageType: RawRepresentable, Hashable, Sendable, Codable {
    /// The stored name of the type.
    public let rawValue: String

    /// Creates a type from its stored name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Text.
    public static let text = MessageType(rawValue: "text")
    /// A tool call.
    public static let toolUse = MessageType(rawValue: "toolUse")
    /// A tool result.
    public static let toolResult = MessageType(rawValue: "toolResult")
    /// A failure of a tool.
    public static let toolError = MessageType(rawValue: "toolError")
    /// A tool call without permission.
    public static let toolDenied = MessageType(rawValue: "toolDenied")
    /// Thinking.
    public static let thinking = MessageType(rawValue: "thinking")
    /// The result of a web search.
    public static let webSearch = MessageType(rawValue: "webSearch")
    /// Code run by the model on its provider's machine.
    public static let codeExecution = MessageType(rawValue: "codeExecution")
}

/// The arguments of a tool call as shown in a chat UI.
public struct ToolInputData: Hashable, Sendable, Codable {
    /// The parameters as text. Nested values are JSON, or formatted by the UI.
    public var parameters: [String: String]
    /// The same parameters without formatting, if a view needs them, for example for a text diff.
    public var rawParameters: [String: String]?

    /// Creates input data.
    public init(parameters: [String: String], rawParameters: [String: String]? = nil) {
        self.parameters = parameters
        self.rawParameters = rawParameters
    }
}
