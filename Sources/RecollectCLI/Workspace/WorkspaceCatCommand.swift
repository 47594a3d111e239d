#if CommandLine
    import ArgumentParser
    import Recollect

    struct WorkspaceCatCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cat",
            abstract: "Write a file's content to standard output, to the byte.",
            discussion: """
                Of a file that is not on this device the download is asked for and waited for. --tell-version writes the version, \
                which `recall workspace write --replacing` takes, to standard error. --as-of gives what the file was: a version \
                that `recall workspace versions` lists, or the beginning of one.

                JSON keys: path, version, bytes, text.
                """)

        @OptionGroup var options: WorkspaceOptions

        @Flag(name: .long, help: "Tell the file's version on standard error.")
        var tellVersion = false

        @Option(name: .long, help: ArgumentHelp("The content that it had as this version.", valueName: "version"))
        var asOf: String?

        @Argument(help: "The file.")
        var path: TypedPath

        func validate() throws {
            if asOf == "" { throw ValidationError("--as-of needs a version.") }
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
                if tellVersion { Output.tell(file.version.rawValue) }
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
