import Foundation
import RecollectCore

/// A tool call of a model.
struct ToolCall: Sendable {
    let id: String
    let name: String
    let arguments: JSONValue

    /// Creates a call. Arguments of `null` or an empty string become an empty object: some models call a tool
    /// without parameters this way.
    init(id: String, name: String, arguments: JSONValue) {
        self.id = id
        self.name = name
        self.arguments = arguments == .null || arguments == "" ? [:] : arguments
    }

    /// Runs the tool. Every failure becomes a result with text for the model.
    /// - Throws: `CancellationError`, and no other error.
    func run(with tools: [AgentTool], context: AgentContext) async throws -> ToolResult {
        guard let tool = tools.first(where: { $0.name == name }) else {
            let names = tools.map(\.name).joined(separator: ", ")
            return .failure(
                "There is no tool \(name). " + (names.isEmpty ? "There are no tools." : "The tools are: \(names)."))
        }
        guard case .object = arguments else {
            return .failure(
                "The arguments of \(name) are not a JSON object. Call it again with one that matches its schema.")
        }
        do {
            return try await tool.call(arguments, context: context)
        } catch let error as CancellationError {
            throw error
        } catch {
            // A canceled tool may throw an error of its own.
            try Task.checkCancellation()
            return .failure((error as? any LocalizedError)?.errorDescription ?? String(describing: error))
        }
    }
}

extension ToolResult {
    /// The content as sent to the model. Events and histories have no other field for a failure, so the content of
    /// an error is wrapped in an object with the key `error`.
    var reportedContent: JSONValue {
        isError && content["error"] == nil ? ["error": content] : content
    }
}
