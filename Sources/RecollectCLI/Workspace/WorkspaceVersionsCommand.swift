#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect

    struct WorkspaceVersionsCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "versions",
            abstract: "List the versions of a file on this device, newest first.",
            discussion: """
                Print one with `recall workspace cat PATH --as-of VERSION`; restore it with `recall workspace restore`. \
                Identical content has the same version.

                Kinds: observed (written by another device), edited (by another program on this device), conflicted (observed \
                beside a conflict copy), written, merged, trashed, restored, moved (from another path with its earlier \
                versions), movedAway (to another path), removed (by another program), begun (its writer was killed; the file \
                may never have had this content). Content other than text is not archived if another program replaces it. \
                The content of a redacted version was erased (`recall workspace redact`).

                JSON: a list of version, kind, date, author, bytes (null if the content is missing), parents (the replaced versions), \
                otherPath, redacted (the date of the redaction; null without one), redactedBy.
                """)

        @OptionGroup var options: WorkspaceOptions

        @Argument(help: "The file, which may be deleted.")
        var path: TypedPath

        func run() async throws {
            let path = try path.path()
            try await options.withWorkspace { workspace in
                // The scan records versions by others first.
                _ = try await workspace.status()
                let versions = try await workspace.versions(of: path)
                guard !versions.isEmpty else {
                    throw RecollectError(.notFound, "\(path) has no versions on this device")
                }
                let sizes = try await workspace.sizes(of: versions.map(\.hash))
                try await Output.open(paged: true) { output in
                    if options.json {
                        try await output.list(versions, isFirst: true) {
                            Array(json(of: $0, size: sizes[$0.hash]).jsonString.utf8)
                        }
                        return try await output.line("\n]")
                    }
                    for line in lines(of: versions, sizes, output) { try await output.line(line) }
                }
            }
        }

        private func json(of version: WorkspaceVersion, size: Int?) -> JSONValue {
            [
                "version": .string(version.hash.rawValue), "kind": .string(version.kind.rawValue),
                "date": .integer(Int64((version.date.timeIntervalSince1970 * 1000).rounded())),
                "author": .string(version.writer), "bytes": size.map { .integer(Int64($0)) } ?? .null,
                "parents": .array(version.parents.map { .string($0.rawValue) }),
                "otherPath": version.otherPath.map { .string($0.description) } ?? .null,
                "redacted": version.redaction.map {
                    .integer(Int64(($0.date.timeIntervalSince1970 * 1000).rounded()))
                } ?? .null,
                "redactedBy": version.redaction.map { .string($0.author.word) } ?? .null,
            ]
        }

        private func lines(
            of versions: [WorkspaceVersion], _ sizes: [ContentHash: Int], _ output: Output
        ) -> [String] {
            let format = Format()
            let table = Table(
                columns: [
                    .init(heading: "VERSION", paint: output.style.cyan), .init(heading: "WHEN"),
                    .init(heading: "STATE", isOptional: true),
                    .init(heading: "SIZE", isRight: true, isOptional: true), .init(heading: "BY"),
                ],
                rows: versions.map { version in
                    [
                        version.hash.short, format.short(version.date), version.kind.rawValue,
                        version.redaction != nil
                            ? "redacted" : sizes[version.hash].map { Format.bytes(Int64($0)) } ?? "not archived",
                        writer(of: version).oneLine,
                    ]
                })
            return table.lines(style: output.style, width: output.columns)
        }

        /// Returns the writer of a version and, for a moved file, its origin or destination.
        private func writer(of version: WorkspaceVersion) -> String {
            guard let other = version.otherPath else { return version.writer }
            return "\(version.writer), \(version.kind == .movedAway ? "to" : "from") \(other)"
        }
    }
#endif
