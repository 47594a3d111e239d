import Foundation
import RecollectCore

/// The tool `memory` for a model: its own notes in a folder of the workspace, kept across sessions.
///
/// ```swift
/// let memory = MemoryTool(workspace: workspace, agentId: "planner")
/// let planner = Agent(name: "planner", description: "Plans trips.", model: client, tools: [memory.tool])
/// ```
///
/// The commands `view`, `create`, `str_replace`, `insert`, `delete` and `rename`, their inputs and the texts of their
/// results are those of Anthropic's memory tool `memory_20250818`. `tool` has a schema for any model. A caller of
/// Anthropic's API declares `MemoryTool.declaration`, and passes each input to `call(_:session:)`:
///
/// ```swift
/// func result(of input: JSONValue, for memory: MemoryTool) async throws -> (text: String, isError: Bool) {
///     let result = try await memory.call(input)
///     return (result.content.stringValue ?? "", result.isError)
/// }
/// ```
///
/// `/memories` is a folder of the workspace. Each change is a version with the agent as its author. Deleted files are in the
/// trash, and replaced texts in the archive. Texts resembling a credential are refused. No path leaves the folder: neither
/// `..`, also encoded or in similar letters, nor symbolic links.
///
/// The inputs have no versions, so the tool keeps the version of each file that a session viewed or wrote last, in memory.
/// - `create` never replaces a file, also not one created by another process at the same time.
/// - `str_replace` replaces its text in the current content. If the file changes during the call, the call starts again.
/// - `insert` is refused if the file has changed since the session viewed it, because line numbers may differ, and if the
///   session never viewed it.
/// - `delete` and `rename` take the current content. Directories are deleted with their content, and renamed file by file:
///   see `call(_:session:)`.
///
/// A result is limited to `maxResultBytes`, with a note on what was left out and how to view it.
public struct MemoryTool: Sendable {
    let workspace: SharedWorkspace
    let agentId: String
    let folder: WorkspacePath
    let download: DownloadPolicy
    let maxResultBytes: Int
    let viewed = ViewedVersions()

    /// Creates the tool.
    /// - Parameters:
    ///   - workspace: The workspace.
    ///   - agentId: The ID of the agent, recorded with each version it writes.
    ///   - folder: The folder of the workspace for `/memories`, created by the first file in it. Agents with the same folder
    ///     share their memory.
    ///   - download: The behavior for files that are not local. With `.request`, the model is asked to try again later.
    ///   - maxResultBytes: The maximum size of a result in bytes of UTF-8, at least 1,000. The default shows whole files
    ///     of 100 kB, the limit of a file in Anthropic's memory stores.
    public init(
        workspace: SharedWorkspace, agentId: String, folder: WorkspacePath = MemoryTool.defaultFolder,
        download: DownloadPolicy = .request, maxResultBytes: Int = 120_000
    ) {
        self.workspace = workspace
        self.agentId = agentId
        self.folder = folder
        self.download = download
        self.maxResultBytes = max(1_000, maxResultBytes)
    }

    /// The default folder in a workspace: `Memories`.
    public static let defaultFolder = WorkspacePath(checked: ["Memories"])

    /// The declaration of the tool in a request to Anthropic's API: its type and name, without a schema.
    public static let declaration: JSONValue = ["type": "memory_20250818", "name": .string(name)]

    /// The tool for an agent with any model. Each session has its own viewed versions.
    public var tool: AgentTool {
        AgentTool(name: Self.name, description: Self.description, inputSchema: Self.schema) { input, context in
            try await call(input, session: context.session)
        }
    }

    /// Runs a command, and returns the text for the model.
    ///
    /// Failures a model can correct, or report to its user, are results with `isError`: also missing and changed files,
    /// files not local, and texts resembling a credential. No text has the location of the workspace.
    ///
    /// Deleting or renaming a directory is no single step. First, every file in it is checked; if one cannot be changed,
    /// none is. If a file fails later, a rename moves the others back, and a deletion leaves the others; the result names the
    /// files. After the end of the process in between, each file is at its old or its new path, and deleted ones are in the
    /// trash. Cancellation has no effect after the beginning of a change.
    /// - Parameters:
    ///   - input: The input of the model's tool call: an object with `command` and its parameters.
    ///   - session: The session of the model, which separates the versions viewed by several sessions.
    /// - Returns: The text, and whether it is an error.
    /// - Throws: Errors of the disk; `newerSchema`; `CancellationError`.
    public func call(_ input: JSONValue, session: SessionKey? = nil) async throws -> ToolResult {
        let input = MemoryInput(input, folder: folder)
        do {
            return .text(try await run(input, session))
        } catch let failure as MemoryFailure {
            return ToolResult(.string(bounded(failure.message)), isError: true)
        } catch {
            guard let message = workspace.messageForModel(error) else { throw error }
            return ToolResult(.string(bounded(input.withModelPaths(message))), isError: true)
        }
    }

    private func run(_ input: MemoryInput, _ session: SessionKey?) async throws -> String {
        switch try input.text("command") {
        case "view": try await view(input, session)
        case "create": try await create(input, session)
        case "str_replace": try await replace(input, session)
        case "insert": try await insert(input, session)
        case "delete": try await delete(input, session)
        case "rename": try await rename(input, session)
        case let other:
            throw MemoryFailure(
                "Unknown command: \(other). Use view, create, str_replace, insert, delete or rename.")
        }
    }

    var author: WorkspaceAuthor { .agent(agentId) }

    /// Returns the file or folder at a path; `nil` if there is none, or if a parent is a file or a link.
    /// - Throws: `unavailable` for a missing file during a mass deletion.
    func item(at path: WorkspacePath) async throws -> WorkspaceItem? {
        try await workspace.reading { [workspace] () -> WorkspaceItem? in
            do {
                if let item = try workspace.provider.item(at: path) { return item }
            } catch let error as RecollectError where error.code == .foreignStore {
                return nil
            }
            try workspace.scanner.refuseDuringMassDeletion(path)
            return nil
        }
    }

    /// Returns a string cut to the maximum size.
    private func bounded(_ text: String) -> String {
        guard text.utf8.count > maxResultBytes else { return text }
        return text.prefix(bytes: maxResultBytes - 3) + "…"
    }
}

extension String {
    /// Returns the first characters, as many as fit in a number of bytes.
    func prefix(bytes count: Int) -> String {
        let utf8 = Array(self.utf8.prefix(count + 1))
        guard utf8.count > count else { return self }
        var end = count
        while end > 0, utf8[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: utf8[..<end], as: UTF8.self)
    }
}
