/// Who speaks in a transcript, or what made an entry of it; unknown values of other programs are kept.
public struct MessageRole: RawRepresentable, Hashable, Sendable, Codable {
    /// The role as it is stored.
    public let rawValue: String

    /// Makes a role from what is stored.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The person.
    public static let user = MessageRole(rawValue: "user")
    /// The model.
    public static let assistant = MessageRole(rawValue: "assistant")
    /// The app.
    public static let system = MessageRole(rawValue: "system")
    /// A tool is called.
    public static let toolUse = MessageRole(rawValue: "toolUse")
    /// A tool has answered.
    public static let toolResult = MessageRole(rawValue: "toolResult")
    /// A tool has failed.
    public static let toolError = MessageRole(rawValue: "toolError")
    /// A tool was not allowed to run.
    public static let toolDenied = MessageRole(rawValue: "toolDenied")
    /// The model reasons.
    public static let thinking = MessageRole(rawValue: "thinking")
}

/// What an entry of a transcript is; unknown values of other programs are kept.
public struct MessageType: RawRepresentable, Hashable, Sendable, Codable {
    /// The type as it is stored.
    public let rawValue: String

    /// Makes a type from what is stored.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Prose.
    public static let text = MessageType(rawValue: "text")
    /// A tool is called.
    public static let toolUse = MessageType(rawValue: "toolUse")
    /// A tool has answered.
    public static let toolResult = MessageType(rawValue: "toolResult")
    /// A tool has failed.
    public static let toolError = MessageType(rawValue: "toolError")
    /// A tool was not allowed to run.
    public static let toolDenied = MessageType(rawValue: "toolDenied")
    /// Reasoning.
    public static let thinking = MessageType(rawValue: "thinking")
    /// What a search of the web gave.
    public static let webSearch = MessageType(rawValue: "webSearch")
    /// What the model ran on its provider's machine.
    public static let codeExecution = MessageType(rawValue: "codeExecution")
}

/// What a tool is called with, as a chat UI shows it.
public struct ToolInputData: Hashable, Sendable, Codable {
    /// The parameters as text, nested values as their JSON or as the UI formats them.
    public var parameters: [String: String]
    /// The same without formatting, where a view needs it (a difference of two texts, for instance).
    public var rawParameters: [String: String]?

    /// Makes input data.
    public init(parameters: [String: String], rawParameters: [String: String]? = nil) {
        self.parameters = parameters
        self.rawParameters = rawParameters
    }
}
