#if CommandLine
    import ArgumentParser
    import Recollect

    struct WorkspaceRecoverCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "recover",
            abstract: "Recover content left by crashes and disk errors.",
            discussion: """
                Finds temporary files of killed programs: content already in the archive is removed, other content becomes a file, \
                name (kept …). Finds content of the archive without a record in its log: it becomes a version of its file again, or, if \
                the file is unknown, goes to the trash under Recovered/…; see `recall workspace trash`. A damaged log is rebuilt from \
                its readable part; the damaged one is kept.

                Changes no file and deletes nothing. Safe to run at any time.

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
                "files": list(recovery.files), "removedLeftovers": .integer(Int64(recovery.removedLeftovers)),
                "contents": list(recovery.contents),
                "damagedLogs": .array(recovery.damagedLogs.map { .string($0.path) }),
            ]
        }

        private func lines(of recovery: WorkspaceRecovery) -> [String] {
            var lines = recovery.files.map { "\($0.description.oneLine): left by a killed program, a file now" }
            lines += recovery.contents.map { "\($0.description.oneLine): has versions again that the log did not name" }
            if recovery.removedLeftovers > 0 {
                let count = Format.count(recovery.removedLeftovers, "temporary file")
                lines.append("\(count) removed; nothing in them was missing")
            }
            lines += recovery.damagedLogs.map {
                "\($0.path.oneLine): a damaged log; remove it if nothing is missing"
            }
            return lines.isEmpty ? ["Nothing was left behind."] : lines
        }
    }
#endif
