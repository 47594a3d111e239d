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
    ///   - download: The behavior for files that are not local. With `.ask`, the model is asked to try again later.
    ///   - calendar: The calendar, with its time zone, for dates in results.
    public init(
        workspace: SharedWorkspace, agentId: String, download: DownloadPolicy = .ask, calendar: Calendar = .current
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
            Lists the files of the workspace that this user and you share: Journal/ (days), Research/ (books and sources), Chats/, \
            context.md (what is known of the user), and whatever else is there. Paths are relative to it.
            """,
            [
                "folder": ["type": "string", "description": "Only this folder, such as Research; all if left out."],
                "recursive": [
                    "type": "boolean", "description": "Includes the contents of its folders. Default: false.",
                ],
                "after": ["type": "string", "description": "Only what comes after this path: to read on."],
            ],
            required: [], list)
    }

    /// `read_file`: returns the text of a file in pages of up to 16 KB, and its version.
    public var readFile: AgentTool {
        tool(
            "read_file",
            """
            Reads a text file of the workspace, and its version, which write_file needs. A long file comes in pages; the result \
            says how to read on.
            """,
            [
                "path": ["type": "string", "description": "The file, such as context.md."],
                "offset": [
                    "type": "integer", "minimum": 0, "description": "The byte to begin at; 0 if left out.",
                ],
                "part": [
                    "type": "string",
                    "description":
                        "With an offset: the part named by the page before. Without it, there is no version.",
                ],
            ],
            required: ["path"], read)
    }

    /// `write_file`: replaces the text of a file, if it has the version read by the model.
    public var writeFile: AgentTool {
        tool(
            "write_file",
            """
            Gives a file of the workspace new text, whole. It must still be the version that you read: if somebody wrote it \
            meanwhile nothing is written, and you are given what is there now, to merge it with yours and try again. To add to a \
            file use append_file. Never write passwords, keys or tokens.
            """,
            [
                "path": ["type": "string", "description": "The file; folders above are made."],
                "text": ["type": "string", "description": "The whole new text; Markdown for notes."],
                "version": [
                    "type": "string",
                    "description": "The version that read_file gave, or “new” for a file that is not there yet.",
                ],
            ],
            required: ["path", "text", "version"], write)
    }

    /// `append_file`: appends text to a file, and creates the file if it is missing.
    public var appendFile: AgentTool {
        tool(
            "append_file",
            "Adds lines at the end of a file of the workspace, which is made if it is not there. No version is needed.",
            [
                "path": ["type": "string", "description": "The file; folders above are made."],
                "text": ["type": "string", "description": "The lines, to the letter."],
            ],
            required: ["path", "text"], append)
    }

    /// `search_files`: finds files by words in their paths and texts, with the matching lines.
    public var searchFiles: AgentTool {
        tool(
            "search_files",
            """
            Finds files of the workspace that have all words of the query in their path or text, with lines that have them. Give \
            few, specific words, and try others if nothing is found.
            """,
            [
                "query": ["type": "string", "description": "Words, parted by spaces."],
                "folder": ["type": "string", "description": "Only in this folder."],
                "limit": [
                    "type": "integer", "minimum": 1, "maximum": 50, "description": "The most files; 10 if left out.",
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
            } catch let error as RecollectError where Self.forModel.contains(error.code) {
                // The error message quotes the invalid argument as written by the model.
                let isQuoted = error.code == .invalidArgument
                throw ToolArguments.Failure(message: isQuoted ? error.message : withoutRoot(error.message))
            } catch let error as UnconfirmedChangeError {
                throw ToolArguments.Failure(message: withoutRoot(error.description))
            } catch let error as FileNotYetAvailableError {
                let name = error.url?.lastPathComponent ?? "The file"
                throw ToolArguments.Failure(
                    message: "\(name) is not on this device yet. Its download was asked for: try again later.")
            }
        }
    }

    /// Returns a message with paths relative to the workspace. The location of the workspace and its archive on
    /// this machine must not reach a model's server.
    private func withoutRoot(_ message: String) -> String {
        let root = workspace.rootURL.path
        return message.replacingOccurrences(of: workspace.archive.path, with: "the workspace's archive")
            .replacingOccurrences(of: root + "/", with: "").replacingOccurrences(of: root, with: "the workspace")
    }

    /// Errors a model can correct, or report to its user.
    private static let forModel: Set<RecollectError.Code> = [
        .invalidArgument, .notFound, .tooLarge, .notLocal, .timedOut, .credential, .foreignStore, .unavailable, .busy,
        .readOnly, .conflict,
    ]
}
