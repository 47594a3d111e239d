#if CommandLine
    import ArgumentParser
    import Recollect

    struct WorkspaceDeleteCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Move files to the trash; `recall workspace restore` restores them.",
            discussion: """
                The trash is on this device only (`recall workspace trash`). On other devices, a sync service deletes the \
                files.

                JSON: a list of path, version, bytes.
                """)

        @OptionGroup var options: WorkspaceOptions

        @OptionGroup var writer: WriterOptions

        @Argument(help: "The files.")
        var path: [TypedPath]

        func run() async throws {
            let paths = try path.paths()
            try await options.withWorkspace { workspace in
                var files: [WorkspaceFile] = []
                // All of them are looked up first: if one is missing, none is deleted.
                for path in paths { files.append(try await workspace.file(path)) }
                for file in files {
                    try await workspace.trash(file.path, replacing: file.version, by: writer.author)
                }
                try await Output.open { [files] output in
                    if options.json {
                        try await output.list(files, isFirst: true) { Array(json(of: $0).jsonString.utf8) }
                        return try await output.line("\n]")
                    }
                    for file in files {
                        try await output.line("Moved \(output.style.bold(file.path.description.oneLine)) to the trash")
                    }
                    try await output.line(output.style.dim("To undo: recall workspace restore PATH"))
                }
            }
        }

        private func json(of file: WorkspaceFile) -> JSONValue {
            [
                "path": .string(file.path.description), "version": .string(file.version.rawValue),
                "bytes": .integer(Int64(file.bytes.count)),
            ]
        }
    }
#endif
