#if CommandLine
    import ArgumentParser
    import Recollect

    struct WorkspaceMoveCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "mv",
            abstract: "Move or rename a file.",
            discussion: """
                Fails if a file already exists at the new path.

                JSON keys: path, newPath.
                """)

        @OptionGroup var options: WorkspaceOptions

        @OptionGroup var writer: WriterOptions

        @Argument(help: "The file.")
        var path: TypedPath

        @Argument(help: "The new path, or the target folder.")
        var newPath: TypedPath

        func run() async throws {
            let path = try path.path()
            try await options.withWorkspace { workspace in
                let newPath = try await destination(of: path, in: workspace)
                do {
                    try await workspace.move(path, to: newPath, by: writer.author)
                } catch let error as FileChangedError where error.path != path && error.current != nil {
                    throw RecollectError(.conflict, "nothing was moved: \(error.path) already exists")
                }
                try await Output.open { output in
                    let json: JSONValue = [
                        "path": .string(path.description), "newPath": .string(newPath.description),
                    ]
                    let words =
                        "Moved \(path.description.oneLine) to \(output.style.bold(newPath.description.oneLine))"
                    try await output.line(options.json ? json.jsonString : words)
                }
            }
        }

        private func destination(of path: WorkspacePath, in workspace: SharedWorkspace) async throws -> WorkspacePath {
            let typed = try newPath.path()
            guard !newPath.isFolder else { return try typed.appending(path.name) }
            do {
                return try await workspace.item(at: typed).isFolder ? typed.appending(path.name) : typed
            } catch let error as RecollectError where error.code == .notFound {
                return typed
            }
        }
    }
#endif
