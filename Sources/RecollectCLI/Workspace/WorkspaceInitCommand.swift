#if CommandLine
    import ArgumentParser
    import Recollect

    struct WorkspaceInitCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init",
            abstract: "Create a workspace in a new or existing folder.",
            discussion: """
                Files in the folder are not changed. The first scan records their versions.

                JSON keys: root, files.
                """)

        @OptionGroup var options: WorkspaceOptions

        func run() async throws {
            try await options.withWorkspace(makes: true) { workspace in
                let status = try await workspace.status()
                try await Output.open { output in
                    if options.json {
                        let json: JSONValue = [
                            "root": .string(status.rootURL.path), "files": .integer(Int64(status.fileCount)),
                        ]
                        return try await output.line(json.jsonString)
                    }
                    try await output.line(
                        "\(output.style.bold(status.rootURL.path.oneLine)) is a workspace with "
                            + Format.count(status.fileCount, "file"))
                }
            }
        }
    }
#endif
