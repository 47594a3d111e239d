#if CommandLine
    import ArgumentParser
    import Recollect

    struct WorkspaceRecoverCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "recover",
            abstract: "Recover content left by crashes and disk errors.",
            discussion: """
                Finds temporary files left by killed programs: those with content that is already in the archive are deleted, \
                and the others become files named NAME (kept …). Finds archived content that is missing from the log of the \
                archive: it becomes a version of its file again or, if the file is unknown, goes to the trash under \
                Recovered/… (see `recall workspace trash`). A damaged log is rebuilt from its readable part, and the damaged \
                one is kept.

                Changes no other files and deletes no content. Safe to run at any time.

                JSON keys: files, removedLeftovers, contents, damagedLogs.
                """)

        @OptionGroup var options: WorkspaceOptions

        func run() async throws {
            try await options.withWorkspace { workspace in
                let recovery = try await workspace.recover()
                try await Output.open { output in
                    let lines = options.json ? [json(of: recovery).jsonString] : lines(of: recovery)
                    for line in lines { try await output.line(line) }
                }
            }
        }

        private func json(of recovery: WorkspaceRecovery) -> JSONValue {
            func list(_ paths: [WorkspacePath]) -> JSONValue { .array(paths.map { .string($0.description) }) }
            return [
                "files": list(recovery.filesFromLeftovers),
                "removedLeftovers": .integer(Int64(recovery.removedLeftovers)),
                "contents": list(recovery.recoveredFiles),
                "damagedLogs": .array(recovery.damagedLogs.map { .string($0.path) }),
            ]
        }

        private func lines(of recovery: WorkspaceRecovery) -> [String] {
            var lines = recovery.filesFromLeftovers.map {
                "\($0.description.oneLine): recovered from the temporary file of a killed program"
            }
            lines += recovery.recoveredFiles.map {
                "\($0.description.oneLine): recovered versions that were missing from the log"
            }
            if recovery.removedLeftovers > 0 {
                let count = Format.count(recovery.removedLeftovers, "temporary file")
                lines.append("\(count) removed; their content was already in the archive")
            }
            lines += recovery.damagedLogs.map {
                "\($0.path.oneLine): damaged log; delete it if nothing is missing"
            }
            return lines.isEmpty ? ["Nothing to recover."] : lines
        }
    }
#endif
