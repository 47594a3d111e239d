import Foundation
import RecollectCore

/// Tools with which a model works in the workspace that its user and it share: `list_files`, `read_file`, `write_file`, `append_file`
/// and `search_files`.
///
/// No path leaves the workspace, and nothing is overwritten that the model has not read: a write names the version that it read, and
/// where somebody else wrote meanwhile the model is given what is there, to merge and try again. Every write says which
/// agent made it. Results are bounded, at most 16 KB; they say how to read on. What a model can do something about is told in
/// words: arguments that make no sense, paths that are none, files that are not there or not on this device, text in the shape of
/// a credential. None of these words says where the workspace lies. Other failures of the workspace are thrown.
public struct WorkspaceTools: Sendable {
    let workspace: SharedWorkspace
    let agentId: String
    let download: DownloadPolicy
    let calendar: Calendar

    /// Makes the tools.
    /// - Parameters:
    ///   - workspace: where they work.
    ///   - agentId: which agent has them; kept with every version that it writes.
    ///   - download: what becomes of reading a file that is not on this device; by default the model is told at once to try later.
    ///   - calendar: the time zone in which moments are told.
    public init(
        workspace: SharedWorkspace, agentId: String, download: DownloadPolicy = .ask, calendar: Calendar = .current
    ) {
        self.workspace = workspace
        self.agentId = agentId
        self.download = download
        self.calendar = calendar
    }

    /// All of them.
    public var all: [AgentTool] { [listFiles, readFile, writeFile, appendFile, searchFiles] }

    /// `list_files`: what lies in a folder, as much as fits 16 KB.
    public var listFiles: AgentTool {
        tool(
            "list_files",
            """
            Lists the files of the workspace that this user and you share: Journal/ (days), Research/ (books and sources), Chats/, \
            context.md (what is known of the user), and whatever else is there. Paths are relative to it.
            """,
            [
                "folder": ["type": "string", "description": "Only this folder, such as Research; all if left out."],
                "recursive": ["type": "boolean", "description": "What lies in its folders too; false if left out."],
                "after": ["type": "string", "description": "Only what comes after this path: to read on."],
            ],
            required: [], list)
    }

    /// `read_file`: a file's text by pages that fit 16 KB, and its version.
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
            ],
            required: ["path"], read)
    }

    /// `write_file`: gives a file new text if it is still the version that the model read.
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

    /// `append_file`: adds text at the end of a file, which is made if there is none.
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

    /// `search_files`: files by words in their paths and texts, with the lines that have them.
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
                // What an argument is refused for quotes it as the model wrote it.
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

    /// A message with paths as the model knows them: where the workspace and its archive lie on this machine is nothing for a model's
    /// server.
    private func withoutRoot(_ message: String) -> String {
        let root = workspace.rootURL.path
        return message.replacingOccurrences(of: workspace.archive.path, with: "the workspace's archive")
            .replacingOccurrences(of: root + "/", with: "").replacingOccurrences(of: root, with: "the workspace")
    }

    /// Failures that a model can do something about, or tell its user.
    private static let forModel: Set<RecollectError.Code> = [
        .invalidArgument, .notFound, .tooLarge, .notLocal, .timedOut, .credential, .foreignStore, .unavailable, .busy,
        .readOnly, .conflict,
    ]
}
