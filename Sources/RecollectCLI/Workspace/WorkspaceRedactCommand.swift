#if CommandLine
    import ArgumentParser
    import Recollect

    struct WorkspaceRedactCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "redact",
            abstract: "Erase the content of a version of a file for good.",
            discussion: """
                Use this for a text that must not stay in the archive of this device, such as a password. `recall workspace \
                versions` still lists the version, as redacted; its content cannot be read or restored. All versions with the \
                same content are redacted, also of other files. Versions with other content stay: redact each one with the \
                text. A version that a file has now is not redacted: edit or delete the file first.

                Not reached are other devices, with archives of their own, sync services, backups, and the messages of a chat \
                in the history. The hash of the content stays.

                Without --yes, asks for confirmation; without a terminal, redacts nothing.

                JSON: an object with version, and paths (the files with redacted versions). --json requires --yes.
                """)

        @OptionGroup var options: WorkspaceOptions

        @OptionGroup var writer: WriterOptions

        @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
        var yes = false

        @Argument(help: "The file, which may be deleted.")
        var path: TypedPath

        @Argument(help: "The version, or a unique prefix of it.")
        var version: String

        func validate() throws {
            if version.isEmpty { throw ValidationError("The version must not be empty.") }
            if options.json, !yes { throw ValidationError("--json requires --yes.") }
        }

        func run() async throws {
            let path = try path.path()
            try await options.withWorkspace { workspace in
                // The scan records versions by others first.
                _ = try await workspace.status()
                let hash = try await workspace.version(version, of: path)
                if !yes {
                    let question = Question(
                        text: "Erase this version for good?", facts: ["\(hash.short)  \(path.description.oneLine)"],
                        refusal: "nothing was redacted: confirmation requires a terminal; to skip it, use --yes")
                    guard try await question.ask() else { return Output.printError("Nothing was redacted.") }
                }
                let paths = try await workspace.redact(hash, of: path, by: writer.author)
                try await Output.open { output in
                    guard !options.json else {
                        let json: JSONValue = [
                            "version": .string(hash.rawValue), "paths": .array(paths.map { .string($0.description) }),
                        ]
                        return try await output.line(json.jsonString)
                    }
                    for path in paths {
                        try await output.line(
                            "Redacted version \(hash.short) of \(output.style.bold(path.description.oneLine))")
                    }
                }
            }
        }
    }
#endif
