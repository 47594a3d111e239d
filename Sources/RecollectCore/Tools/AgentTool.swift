/// A tool for an agent's model.
///
/// ```swift
/// let clock = AgentTool(name: "current_time", description: "The time now, in ISO 8601.") { _, _ in
///     .text(Date().formatted(.iso8601))
/// }
/// ```
public struct AgentTool: Sendable {
    /// The name for the model: at most 64 letters, digits, `_` and `-`.
    public let name: String
    /// The tool's purpose and use, for the model.
    public let description: String
    /// The JSON schema of the arguments.
    public let inputSchema: JSONValue

    private let run: @Sendable (JSONValue, AgentContext) async throws -> ToolResult

    /// Creates a tool.
    /// - Parameters:
    ///   - name: The name for the model.
    ///   - description: The tool's purpose and use, for the model.
    ///   - inputSchema: The JSON schema of the arguments.
    ///   - run: The tool's function. It runs in the task of the agent's turn and should respond to its
    ///     cancellation. The model gets the description of a thrown error, and the turn continues.
    public init(
        name: String, description: String, inputSchema: JSONValue = ["type": "object", "properties": [:]],
        run: @escaping @Sendable (_ arguments: JSONValue, _ context: AgentContext) async throws -> ToolResult
    ) {
        self.name = name
        self.description = description
        self.inputSchema = inputSchema
        self.run = run
    }

    /// Calls the tool.
    /// - Throws: Errors of the tool; `CancellationError` if the turn was stopped.
    public func call(_ arguments: JSONValue, context: AgentContext) async throws -> ToolResult {
        try Task.checkCancellation()
        return try await run(arguments, context)
    }
}

extension AgentTool: Hashable {
    /// Whether two tools have the same description for the model.
    public static func == (left: AgentTool, right: AgentTool) -> Bool {
        left.name == right.name && left.description == right.description && left.inputSchema == right.inputSchema
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }
}

/// The result of a tool.
public struct ToolResult: Hashable, Sendable {
    /// The content for the model and the history.
    public var content: JSONValue
    /// Whether the tool failed. The model gets the reason, and the turn continues.
    public var isError: Bool

    /// Creates a result.
    public init(_ content: JSONValue, isError: Bool = false) {
        self.content = content
        self.isError = isError
    }

    /// Returns a result with text.
    public static func text(_ text: String) -> ToolResult {
        ToolResult(.string(text))
    }

    /// Returns a failure, with a message that enables the model to correct the call.
    public static func failure(_ message: String) -> ToolResult {
        ToolResult(["error": .string(message)], isError: true)
    }
}
