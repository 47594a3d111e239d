import Foundation
import RecollectCore

/// Tools for a model to use the workspace it shares with a user: `list_files`, `read_file`, `write_file`,
/// `append_file` and `search_files`.
///
/// ```swift
/// let planner = Agent(
///     name: "planner", description: "Plans trips.", model: client,
///     tools: WorkspaceTools(workspace: workspace, agentId: "planner").all)
/// ```
///
/// No path leaves the workspace. A write must name the current version of the file, as given with the end of the
/// file. If the file has another version, the model receives the current content to merge. Each write records the
/// agent as its author. Results are at most 16 KB, with a note on how to continue. Failures a model can correct, or
/// report to its user, are returned in words: among them invalid arguments and paths, missing files, files not
/// local, and texts resembling a credential. These messages do not have the location of the workspace. Other
/// failures are thrown.
public struct WorkspaceTools: Sendable {
    let workspace: SharedWorkspace
    let agentId: String
    let download: DownloadPolicy
    let calendar: Calendar

    /// Creates the tools.
    /// - Parameters:
    ///   - workspace: The workspace.
    ///   - agentId: The ID of the agent, recorded with each version it writes.
    ///   - download: The behavior for files that are not local. With `.request`, the model is asked to try again later.
    ///   - calendar: The calendar, with its time zone, for dates in results.
    public init(
        workspace: SharedWorkspace, agentId: String, download: DownloadPolicy = .request, calendar: Calendar = .current
    ) {
        self.workspace = workspace
        self.agentId = agentId
        self.download = download
        self.calendar = calendar
    }

    /// All tools.
    public var all: [AgentTool] { [listFiles, readFile, writeFile, appendFile, searchFiles] }

    /// `list_files`: lists the content of a folder, up to 16 KB.
    public var listFiles: AgentTool {
        tool(
            "list_files",
            """
            Lists the files of the workspace that you share with the user: Journal/ (a file for each day), Research/ (books \
            and sources), Chats/, context.md (facts about the user), and any other files. Paths are relative to the workspace.
            """,
            [
                "folder": ["type": "string", "description": "The folder, such as Research. Default: the root."],
                "recursive": [
                    "type": "boolean", "description": "Whether to include the contents of subfolders. Default: false.",
                ],
                "after": ["type": "string", "description": "Lists only paths after this one, to continue."],
            ],
            required: [], list)
    }

    /// `read_file`: returns the text of a file in pages of up to 16 KB, and its version.
    public var readFile: AgentTool {
        tool(
            "read_file",
            """
            Returns the text of a file in the workspace, and its version, which write_file requires. A long file is returned \
            in pages, with a note on how to continue.
            """,
            [
                "path": ["type": "string", "description": "The path of the file, such as context.md."],
                "offset": [
                    "type": "integer", "minimum": 0, "description": "The byte offset to start at. Default: 0.",
                ],
                "part": [
                    "type": "string",
                    "description":
                        "With an offset: the part given in the note of the previous page. Without it, no version is returned.",
                ],
            ],
            required: ["path"], read)
    }

    /// `write_file`: replaces the text of a file, if it has the version read by the model.
    public var writeFile: AgentTool {
        tool(
            "write_file",
            """
            Replaces the entire text of a file in the workspace, or creates a file. Fails if the file changed since you read \
            it; the error then includes the current text. Merge your text with it, and try again. To add text to a file, use \
            append_file. Never write passwords, keys or tokens.
            """,
            [
                "path": ["type": "string", "description": "The path of the file. Missing parent folders are created."],
                "text": ["type": "string", "description": "The complete new text. Use Markdown for notes."],
                "version": [
                    "type": "string",
                    "description": "The current version, as returned by read_file, or “new” to create a file.",
                ],
            ],
            required: ["path", "text", "version"], write)
    }

    /// `append_file`: appends text to a file, and creates the file if it is missing.
    public var appendFile: AgentTool {
        tool(
            "append_file",
            "Appends lines to a file in the workspace, or creates the file if it is missing. Requires no version.",
            [
                "path": ["type": "string", "description": "The path of the file. Missing parent folders are created."],
                "text": ["type": "string", "description": "The lines to append, verbatim."],
            ],
            required: ["path", "text"], append)
    }

    /// `search_files`: finds files by words in their paths and texts, with the matching lines.
    public var searchFiles: AgentTool {
        tool(
            "search_files",
            """
            Finds the files in the workspace with all words of the query in their path or text, and returns the matching \
            lines. Use a few specific words, and try others if nothing is found.
            """,
            [
                "query": ["type": "string", "description": "Words separated by spaces."],
                "folder": ["type": "string", "description": "The folder to search. Default: the whole workspace."],
                "limit": [
                    "type": "integer", "minimum": 1, "maximum": 50,
                    "description": "The maximum number of files. Default: 10.",
                ],
            ],
            required: ["query"], search)
    }

    private func tool(
        _ name: String, _ description: String, _ properties: [String: JSONValue], required: [String],
        _ run: @escaping @Sendable (ToolArguments) async throws -> JSONValue
    ) -> AgentTool {
        AgentTool(
            name: name, description: description, properties: properties, required: required, calendar: calendar
        ) { arguments, _ in
            do {
                return try await run(arguments)
            } catch let failure as ToolArguments.Failure {
                throw failure
            } catch {
                guard let message = workspace.messageForModel(error) else { throw error }
                throw ToolArguments.Failure(message: message)
            }
        }
    }
}
