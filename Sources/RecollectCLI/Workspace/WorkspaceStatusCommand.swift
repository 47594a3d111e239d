#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect

    struct WorkspaceStatusCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show the status of the workspace.",
            discussion: """
                If most files are missing at once, they are not treated as deleted until --accept-deletions confirms the \
                deletion. Exit code 2: most files are missing, or the folder is not available.

                Links, and names that are not valid on every system, are ignored; the first of them are listed. Hidden files \
                are ignored without being listed.

                JSON keys: root, isAvailable, isMassDeletion, missing, files, bytes, conflicted, notLocal, unreadable, ignored, \
                ignoredCount, notUploaded, overQuota, nameCollisions, archivedContents, archivedBytes.
                """)

        @OptionGroup var options: WorkspaceOptions

        @Flag(name: .long, help: "Confirm the deletion of the missing files.")
        var acceptDeletions = false

        func run() async throws {
            try await options.withWorkspace { workspace in
                if acceptDeletions { try await workspace.acceptDeletions() }
                let status = try await workspace.status()
                // The output replaces the other events.
                options.printEvents(workspace.events.takeUndelivered().filter { $0.kind == .salvaged })
                try await Output.open { output in
                    let lines = options.json ? [json(of: status).jsonString] : lines(of: status, output.style)
                    for line in lines { try await output.line(line) }
                }
                if !status.isAvailable || status.isMassDeletion { throw ExitCode.partly }
            }
        }

        private func json(of status: WorkspaceStatus) -> JSONValue {
            func list(_ paths: [WorkspacePath]) -> JSONValue { .array(paths.map { .string($0.description) }) }
            return [
                "root": .string(status.rootURL.path), "isAvailable": .bool(status.isAvailable),
                "isMassDeletion": .bool(status.isMassDeletion), "missing": list(status.missing),
                "files": .integer(Int64(status.fileCount)), "bytes": .integer(Int64(status.totalBytes)),
                "conflicted": list(status.conflicted), "notLocal": list(status.notLocal),
                "unreadable": list(status.unreadable),
                "ignored": .array(status.ignored.map { .string($0) }),
                "ignoredCount": .integer(Int64(status.ignoredCount)),
                "notUploaded": list(status.notUploaded), "overQuota": list(status.overQuota),
                "nameCollisions": .array(status.nameCollisions.map(list)),
                "archivedContents": .integer(Int64(status.archivedContentCount)),
                "archivedBytes": .integer(Int64(status.archivedBytes)),
            ]
        }

        private func lines(of status: WorkspaceStatus, _ style: Style) -> [String] {
            func fact(_ name: String, _ text: String) -> String { style.dim(name.padded(to: 14)) + text }
            func listed(_ name: String, _ paths: [String], count: Int, of noun: String) -> [String] {
                let shown = paths.prefix(10).map { fact("", $0.oneLine) }
                return count == 0 ? [] : [fact(name, style.yellow(Format.count(count, noun)))] + shown
            }
            func listed(_ name: String, _ paths: [WorkspacePath], of noun: String = "file") -> [String] {
                listed(name, paths.map(\.description), count: paths.count, of: noun)
            }
            var lines = [
                fact("Workspace", status.rootURL.path.oneLine),
                fact(
                    "Contents", "\(Format.count(status.fileCount, "file")), \(Format.bytes(Int64(status.totalBytes)))"),
                fact(
                    "Archive",
                    "\(Format.count(status.archivedContentCount, "version")), \(Format.bytes(Int64(status.archivedBytes))), "
                        + "on this device only"),
            ]
            lines += listed("Conflicts", status.conflicted) + listed("Not local", status.notLocal)
            lines += listed("Unreadable", status.unreadable, of: "item")
            lines += listed("Ignored", status.ignored, count: status.ignoredCount, of: "name")
            lines += listed("Not uploaded", status.notUploaded) + listed("Over quota", status.overQuota)
            lines += status.nameCollisions.map {
                fact("Name collision", $0.map(\.description.oneLine).joined(separator: "  "))
            }
            lines += listed("Missing", status.missing)
            if !status.isAvailable { lines += ["", style.red("The folder is not available.")] }
            if status.isMassDeletion {
                lines += [
                    "", style.red("Most files are missing. They are not treated as deleted."),
                    "Put them back, or confirm their deletion: recall workspace status --accept-deletions",
                ]
            }
            return lines
        }
    }
#endif
