import Foundation
import RecollectCore

/// A call of a tool by a model.
struct ToolCall: Sendable {
    let id: String
    let name: String
    let arguments: JSONValue

    /// Models call a tool without arguments with nothing at all, too: that is an empty object.
    init(id: String, name: String, arguments: JSONValue) {
        self.id = id
        self.name = name
        self.arguments = arguments == .null || arguments == "" ? [:] : arguments
    }

    /// Runs the tool; what goes wrong is a result in words for the model.
    /// - Throws: `CancellationError`, and nothing else.
    func run(with tools: [AgentTool], context: AgentContext) async throws -> ToolResult {
        guard let tool = tools.first(where: { $0.name == name }) else {
            let names = tools.map(\.name).joined(separator: ", ")
            return .failure("There is no tool \(name). " + (names.isEmpty ? "There are none." : "There are: \(names)."))
        }
        guard case .object = arguments else {
            return .failure("The arguments of \(name) are no JSON object. Call it again with one that fits its schema.")
        }
        do {
            return try await tool.call(arguments, context: context)
        } catch let error as CancellationError {
            throw error
        } catch {
            // A tool that was cancelled may say so in words of its own.
            try Task.checkCancellation()
            return .failure((error as? any LocalizedError)?.errorDescription ?? String(describing: error))
        }
    }
}

extension ToolResult {
    /// The content as the model is told it: events and histories carry nothing else, so a failure shows in it.
    var toldContent: JSONValue {
        isError && content["error"] == nil ? ["error": content] : content
    }
}
