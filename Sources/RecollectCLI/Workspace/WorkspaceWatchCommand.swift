#if CommandLine
    import ArgumentParser
    import Recollect

    struct WorkspaceWatchCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "watch",
            abstract: "Print changes until interrupted.",
            discussion: """
                The first line is the folder, followed by the changes since the last scan. Changes: added, changed, removed, \
                conflicted, and massDeletion if most files are missing at once; they are then not reported as removed.

                JSON: one line for each event: event (watching first), path, isOwn (written on this device through Recollect).
                """)

        @OptionGroup var options: WorkspaceOptions

        func run() async throws {
            try await options.withWorkspace { workspace in
                try await Output.open { output in
                    let changes = workspace.changes()
                    // No change is missed from here on: scripts wait for this line before they change files.
                    let root = workspace.rootURL.path
                    try await output.line(
                        options.json
                            ? (["event": "watching", "path": .string(root)] as JSONValue).jsonString
                            : "watching".padded(to: 11) + root.oneLine)
                    for await change in changes {
                        let json: JSONValue = [
                            "event": .string(change.kind.rawValue), "path": .string(change.path.description),
                            "isOwn": .bool(change.isOwn),
                        ]
                        let whose = change.isOwn ? output.style.dim("  (own)") : ""
                        try await output.line(
                            options.json
                                ? json.jsonString
                                : change.kind.rawValue.padded(to: 11) + change.path.description.oneLine + whose)
                    }
                }
            }
        }
    }
#endif
