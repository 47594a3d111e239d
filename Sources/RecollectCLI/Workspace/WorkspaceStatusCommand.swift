#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect

    struct WorkspaceStatusCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show the status of the workspace.",
            discussion: """
                If most files are missing at once, they do not count as deleted until they are back or --accept-deletions confirms the \
                deletion. Exit code 2: they are missing, or the folder is.

                Links, and names not valid on every system, are left out; the first of them are listed. Hidden files are ignored.

                JSON keys: root, isAvailable, isMassDeletion, missing, files, bytes, conflicted, notLocal, unreadable, leftOut, \
                leftOutCount, notUploaded, overQuota, nameCollisions, archivedContents, archivedBytes.
                """)

        @OptionGroup var options: WorkspaceOptions

        @Flag(name: .long, help: "Confirm the deletion of the missing files.")
        var acceptDeletions = false

        func run() async throws {
            try await options.withWorkspace { workspace in
                if acceptDeletions { try await workspace.acceptDeletions() }
                let status = try await workspace.status()
                // The output replaces the other events.
                options.tell(workspace.events.takeUndelivered().filter { $0.kind == .salvaged })
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
                "files": .integer(Int64(status.files)), "bytes": .integer(Int64(status.bytes)),
                "conflicted": list(status.conflicted), "notLocal": list(status.notLocal),
                "unreadable": list(status.unreadable),
                "leftOut": .array(status.leftOut.map { .string($0) }),
                "leftOutCount": .integer(Int64(status.leftOutCount)),
                "notUploaded": list(status.notUploaded), "overQuota": list(status.overQuota),
                "nameCollisions": .array(status.nameCollisions.map(list)),
                "archivedContents": .integer(Int64(status.archivedContents)),
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
                fact("Holds", "\(Format.count(status.files, "file")), \(Format.bytes(Int64(status.bytes)))"),
                fact(
                    "Archive",
                    "\(Format.count(status.archivedContents, "content")), \(Format.bytes(Int64(status.archivedBytes))), "
                        + "on this device only"),
            ]
            lines += listed("Conflicts", status.conflicted) + listed("Not here", status.notLocal)
            lines += listed("Unreadable", status.unreadable, of: "item")
            lines += listed("Left out", status.leftOut, count: status.leftOutCount, of: "name")
            lines += listed("Not uploaded", status.notUploaded) + listed("Over quota", status.overQuota)
            lines += status.nameCollisions.map {
                fact("Name collision", $0.map(\.description.oneLine).joined(separator: "  "))
            }
            lines += listed("Missing", status.missing)
            if !status.isAvailable { lines += ["", style.red("The folder cannot be reached.")] }
            if status.isMassDeletion {
                lines += [
                    "", style.red("Most of the files are missing, so nothing is concluded from that."),
                    "Bring them back, or say that they were deleted: recall workspace status --accept-deletions",
                ]
            }
            return lines
        }
    }
#endif
