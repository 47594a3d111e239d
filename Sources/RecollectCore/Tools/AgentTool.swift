/// A tool that an agent's model may call.
///
/// ```swift
/// let clock = AgentTool(name: "current_time", description: "The time now, in ISO 8601.") { _, _ in
///     .text(Date().formatted(.iso8601))
/// }
/// ```
public struct AgentTool: Sendable {
    /// What the model calls it: letters, digits, `_` and `-`, at most 64 of them.
    public let name: String
    /// What it does and when to use it, for the model.
    public let description: String
    /// The JSON schema of its arguments.
    public let inputSchema: JSONValue

    private let run: @Sendable (JSONValue, AgentContext) async throws -> ToolResult

    /// Makes a tool.
    /// - Parameters:
    ///   - name: What the model calls it.
    ///   - description: What it does and when to use it, for the model.
    ///   - inputSchema: The JSON schema of its arguments.
    ///   - run: Does it, on the task of the agent's turn, whose cancellation it should obey. What it throws is told to the model
    ///     in words and ends nothing.
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
    /// - Throws: what the tool throws; `CancellationError` if the turn was stopped.
    public func call(_ arguments: JSONValue, context: AgentContext) async throws -> ToolResult {
        try Task.checkCancellation()
        return try await run(arguments, context)
    }
}

extension AgentTool: Hashable {
    /// Equal when the model is told the same of both.
    public static func == (left: AgentTool, right: AgentTool) -> Bool {
        left.name == right.name && left.description == right.description && left.inputSchema == right.inputSchema
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }
}

/// What a tool gives back.
public struct ToolResult: Hashable, Sendable {
    /// What the model is given and the history keeps.
    public var content: JSONValue
    /// Whether it failed; the model is told why and goes on.
    public var isError: Bool

    /// Makes a result.
    public init(_ content: JSONValue, isError: Bool = false) {
        self.content = content
        self.isError = isError
    }

    /// Prose.
    public static func text(_ text: String) -> ToolResult {
        ToolResult(.string(text))
    }

    /// A failure, in words that the model can act on.
    public static func failure(_ message: String) -> ToolResult {
        ToolResult(["error": .string(message)], isError: true)
    }
}
