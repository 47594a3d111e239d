#if CommandLine
    import ArgumentParser
    import Recollect

    struct WorkspaceCatCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cat",
            abstract: "Print a file.",
            discussion: """
                A file that is not on this device is downloaded first. --print-version prints the version for `recall \
                workspace write --replacing` to standard error. --as-of prints an earlier version: one listed by `recall \
                workspace versions`, or a unique prefix of it.

                JSON keys: path, version, bytes, text.
                """)

        @OptionGroup var options: WorkspaceOptions

        @Flag(name: .long, help: "Print the file's version to standard error.")
        var printVersion = false

        @Option(name: .long, help: ArgumentHelp("Print the content of this version.", valueName: "version"))
        var asOf: String?

        @Argument(help: "The file.")
        var path: TypedPath

        func validate() throws {
            if asOf == "" { throw ValidationError("--as-of must not be empty.") }
        }

        func run() async throws {
            try await options.withWorkspace { workspace in
                let file = try await file(in: workspace)
                try await Output.open { output in
                    if options.json {
                        let json: JSONValue = [
                            "path": .string(file.path.description), "version": .string(file.version.rawValue),
                            "bytes": .integer(Int64(file.bytes.count)), "text": .string(file.text),
                        ]
                        return try await output.line(json.jsonString)
                    }
                    try await output.write(file.bytes)
                }
                if printVersion { Output.printError(file.version.rawValue) }
            }
        }

        private func file(in workspace: SharedWorkspace) async throws -> WorkspaceFile {
            let path = try path.path()
            guard let asOf else { return try await workspace.file(path) }
            let version = try await workspace.version(asOf, of: path)
            return WorkspaceFile(path: path, bytes: try await workspace.content(of: version))
        }
    }
#endif
