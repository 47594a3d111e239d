#if CommandLine
    import ArgumentParser
    import Recollect

    struct WorkspaceResolveCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resolve",
            abstract: "Resolve sync conflicts.",
            discussion: """
                Every version is archived first. Versions are merged if possible. Conflicting lines of both are kept in a \
                labeled conflict block, and versions that cannot be merged are kept side by side. Lines treated as deleted on \
                one device are printed; `recall workspace restore --conflict` restores the versions as files. Two devices that \
                resolve the same conflict write the same bytes. Exit code 2: some conflicts remain because a version is not on \
                this device yet or is unreadable, because another program was writing, or because a copy equals its file and \
                is so new that the other version may not have arrived yet.

                JSON: a list of path, outcome (identical, restored, superseded, merged, keptBoth, waiting, notLocal, busy, failed), \
                copies, kept, assumedDeleted (lines), and the reason of a failure.
                """)

        @OptionGroup var options: WorkspaceOptions

        @Flag(help: "Print the results without changing anything.")
        var preview = false

        func run() async throws {
            try await options.withWorkspace { workspace in
                let resolved = try await preview ? workspace.previewConflicts() : workspace.resolveConflicts()
                // The output replaces the events.
                _ = workspace.events.takeUndelivered()
                try await Output.open { output in
                    if options.json {
                        try await output.list(resolved, isFirst: true) { Array(json(of: $0).jsonString.utf8) }
                        return try await output.line(resolved.isEmpty ? "[]" : "\n]")
                    }
                    for conflict in resolved {
                        let kept = conflict.kept.map(\.description.oneLine).joined(separator: ", ")
                        try await output.line(
                            "\(output.style.bold(conflict.path.description.oneLine)): \(conflict.reason?.oneLine ?? words(for: conflict.outcome))"
                                + (kept.isEmpty ? "" : ": \(kept)"))
                        for line in conflict.assumedDeleted.prefix(Self.maxLineCount) {
                            try await output.line("  deleted on one device: \(output.style.dim(line.oneLine))")
                        }
                        let rest = conflict.assumedDeleted.count - Self.maxLineCount
                        if rest > 0 { try await output.line("  and \(rest) more lines") }
                    }
                    if resolved.isEmpty { try await output.line("No conflicts.") }
                }
                if resolved.contains(where: { !$0.outcome.isResolved }) { throw ExitCode.partly }
            }
        }

        /// The number of deleted lines shown for a file.
        private static let maxLineCount = 20

        private func words(for outcome: ResolvedConflict.Outcome) -> String {
            switch outcome {
            case .identical: "all versions were identical"
            case .restored: "only a conflict copy existed; it was renamed to the name of the file"
            case .superseded: "kept the version that includes the others"
            case .merged: "merged"
            case .keptBoth: "kept both versions"
            case .waiting:
                "not resolved yet: the winning version may not have arrived; try again in ten minutes"
            case .notLocal: "a version is not on this device yet; try again after its download"
            case .busy: "another program is writing the file; try again later"
            default: outcome.rawValue
            }
        }

        private func json(of conflict: ResolvedConflict) -> JSONValue {
            func list(_ paths: [WorkspacePath]) -> JSONValue { .array(paths.map { .string($0.description) }) }
            var object: [String: JSONValue] = [
                "path": .string(conflict.path.description), "outcome": .string(conflict.outcome.rawValue),
                "copies": list(conflict.copies), "kept": list(conflict.kept),
                "assumedDeleted": .array(conflict.assumedDeleted.map { .string($0) }),
            ]
            object["reason"] = conflict.reason.map { .string($0) }
            return .object(object)
        }
    }
#endif
