#if CommandLine
    import ArgumentParser
    import Recollect

    struct WorkspaceRestoreCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Restore deleted files or earlier versions.",
            discussion: """
                A missing file is restored with its last content (`recall workspace trash`). An existing file is restored to \
                the previous version, or to the one in --as-of (`recall workspace versions`). The replaced version is archived \
                and printed, so it can be restored in the same way. With --conflict, the versions merged by the last `recall \
                workspace resolve` are restored as files beside the merged one.

                JSON: a list of path, version, bytes, replaced (the version; null if there was no file); with --conflict, a \
                list of path and kept.
                """)

        @OptionGroup var options: WorkspaceOptions

        @OptionGroup var writer: WriterOptions

        @Option(
            name: .long,
            help: ArgumentHelp("The version to restore, or a unique prefix of it.", valueName: "version"))
        var asOf: String?

        @Flag(help: "Restore the versions merged into the files.")
        var conflict = false

        @Argument(help: "The files.")
        var path: [TypedPath]

        /// The planned change of a file.
        private struct Change {
            var path: WorkspacePath
            var wanted: ContentHash
            var replaced: ContentHash?
        }

        func validate() throws {
            if asOf == "" { throw ValidationError("--as-of must not be empty.") }
            if asOf != nil, conflict { throw ValidationError("--as-of and --conflict cannot be used together.") }
            if asOf != nil, path.count > 1 { throw ValidationError("--as-of applies to one file only.") }
        }

        func run() async throws {
            let paths = try path.paths()
            if conflict { return try await restoreConflicts(paths) }
            try await options.withWorkspace { workspace in
                // The scan records versions by others first.
                _ = try await workspace.status()
                var changes: [Change] = []
                // All of them are looked up first: if one cannot be restored, none is.
                for path in paths { changes.append(try await change(of: path, in: workspace)) }
                var restored: [(change: Change, file: WorkspaceFile)] = []
                for change in changes {
                    let file = try await workspace.restore(
                        change.path, to: change.wanted, replacing: change.replaced, by: writer.author)
                    restored.append((change, file))
                }
                try await Output.open { [restored] output in
                    if options.json {
                        try await output.list(restored, isFirst: true) {
                            Array(json(of: $0.file, replaced: $0.change.replaced).jsonString.utf8)
                        }
                        return try await output.line("\n]")
                    }
                    for (change, _) in restored { try await printResult(of: change, output) }
                }
            }
        }

        private func restoreConflicts(_ paths: [WorkspacePath]) async throws {
            try await options.withWorkspace { workspace in
                var restored: [(path: WorkspacePath, kept: [WorkspacePath])] = []
                for path in paths {
                    restored.append((path, try await workspace.restoreConflict(path, by: writer.author)))
                }
                try await Output.open { [restored] output in
                    if options.json {
                        try await output.list(restored, isFirst: true) { path, kept in
                            let kept = JSONValue.array(kept.map { .string($0.description) })
                            return Array(
                                (["path": .string(path.description), "kept": kept] as JSONValue).jsonString.utf8)
                        }
                        return try await output.line("\n]")
                    }
                    for (path, kept) in restored {
                        let name = output.style.bold(path.description.oneLine)
                        guard !kept.isEmpty else {
                            try await output.line("\(name) was the only version in the merge")
                            continue
                        }
                        try await output.line("The versions merged into \(name) are now beside it:")
                        for path in kept { try await output.line("  \(path.description.oneLine)") }
                    }
                }
            }
        }

        private func change(of path: WorkspacePath, in workspace: SharedWorkspace) async throws -> Change {
            var replaced: ContentHash?
            do {
                replaced = try await workspace.file(path).version
            } catch let error as RecollectError where error.code == .notFound {
                // The file was deleted, or never existed and has no versions.
            }
            let wanted = try await wanted(of: path, replacing: replaced, in: workspace)
            guard try await workspace.sizes(of: [wanted])[wanted] != nil else {
                let versions = try await workspace.versions(of: path)
                if versions.contains(where: { $0.hash == wanted && $0.redaction != nil }) {
                    throw RecollectError(
                        .notFound, "version \(wanted.short) of \(path) was redacted: its content was erased for good")
                }
                throw RecollectError(
                    .notFound,
                    "version \(wanted.short) of \(path) is not in the archive of this device; `recall workspace versions` lists the archived versions"
                )
            }
            return Change(path: path, wanted: wanted, replaced: replaced)
        }

        private func wanted(
            of path: WorkspacePath, replacing replaced: ContentHash?, in workspace: SharedWorkspace
        ) async throws -> ContentHash {
            if let asOf { return try await workspace.version(asOf, of: path) }
            let versions = try await workspace.versions(of: path)
            // A begun version may never have been in the file.
            if let before = versions.first(where: { $0.hash != replaced && $0.kind != .begun }) { return before.hash }
            throw RecollectError(
                .notFound,
                replaced == nil
                    ? "the archive of this device has no version of \(path); `recall workspace trash` lists the files that can be restored"
                    : "\(path) has no earlier version on this device")
        }

        private func printResult(of change: Change, _ output: Output) async throws {
            let name = output.style.bold(change.path.description.oneLine)
            try await output.line("Restored \(name) to version \(change.wanted.short)")
            if let replaced = change.replaced, replaced != change.wanted {
                try await output.line(
                    output.style.dim("To undo: recall workspace restore PATH --as-of \(replaced.short)"))
            }
        }

        private func json(of file: WorkspaceFile, replaced: ContentHash?) -> JSONValue {
            [
                "path": .string(file.path.description), "version": .string(file.version.rawValue),
                "bytes": .integer(Int64(file.bytes.count)),
                "replaced": replaced.map { .string($0.rawValue) } ?? .null,
            ]
        }
    }
#endif
