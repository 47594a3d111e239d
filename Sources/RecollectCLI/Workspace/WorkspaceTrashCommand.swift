#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect

    struct WorkspaceTrashCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trash",
            abstract: "List deleted files, most recently deleted first.",
            discussion: """
                Deleted files are kept in the archive on this device; `recall workspace restore PATH` restores one. The author \
                of a deletion is you, an agent's ID, recollect for a merge, or elsewhere for another program or device.

                JSON: a list of path, version, kind (trashed, or removed if deleted elsewhere), date, author, bytes.
                """)

        @OptionGroup var options: WorkspaceOptions

        func run() async throws {
            try await options.withWorkspace { workspace in
                // The scan records deletions by others first.
                _ = try await workspace.status()
                let files = try await workspace.trashed()
                try await Output.open(paged: true) { output in
                    if options.json {
                        try await output.list(files, isFirst: true) { Array(json(of: $0).jsonString.utf8) }
                        return try await output.line(files.isEmpty ? "[]" : "\n]")
                    }
                    guard !files.isEmpty else { return try await output.line("The trash is empty.") }
                    for line in lines(of: files, output) { try await output.line(line) }
                }
            }
        }

        private func json(of file: TrashedFile) -> JSONValue {
            [
                "path": .string(file.path.description), "version": .string(file.removal.hash.rawValue),
                "kind": .string(file.removal.kind.rawValue),
                "date": .integer(Int64((file.removal.date.timeIntervalSince1970 * 1000).rounded())),
                "author": .string(file.removal.writer), "bytes": .integer(Int64(file.size)),
            ]
        }

        private func lines(of files: [TrashedFile], _ output: Output) -> [String] {
            let format = Format()
            let table = Table(
                columns: [
                    .init(heading: "DELETED", isOptional: true),
                    .init(heading: "SIZE", isRight: true, isOptional: true),
                    .init(heading: "BY", isOptional: true), .init(heading: "PATH"),
                ],
                rows: files.map { file in
                    [
                        format.short(file.removal.date), Format.bytes(Int64(file.size)), file.removal.writer.oneLine,
                        file.path.description.oneLine,
                    ]
                })
            return table.lines(style: output.style, width: output.columns)
        }
    }
#endif
