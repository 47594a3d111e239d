#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect

    struct WorkspaceListCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ls",
            abstract: "List files by path.",
            discussion: """
                -l adds the state (local, notLocal, downloading, conflicted), the size, the date of the last change, and the author: \
                you, an agent's ID, recollect for a merge, or elsewhere for an editor or another device.

                JSON: a list of path, isFolder, bytes, modified, state, author (null for folders).
                """)

        @OptionGroup var options: WorkspaceOptions

        @Flag(name: .short, help: "Also print states, sizes, dates and authors.")
        var long = false

        @Flag(name: [.customShort("R"), .long], help: "Include the contents of folders.")
        var recursive = false

        @Argument(help: "A folder or file. Default: the whole workspace.")
        var path: TypedPath?

        func run() async throws {
            try await options.withWorkspace { workspace in
                let items = try await items(of: workspace)
                var authors: [WorkspacePath: String] = [:]
                if long || options.json {
                    // The scan records changes by others first: without it their authors would be wrong.
                    _ = try await workspace.status()
                    for item in items where !item.isFolder {
                        authors[item.path] = try await workspace.author(of: item.path)
                    }
                }
                try await Output.open(paged: true) { [authors] output in
                    if options.json {
                        try await output.list(items, isFirst: true) {
                            Array(json(of: $0, by: authors[$0.path]).jsonString.utf8)
                        }
                        return try await output.line(items.isEmpty ? "[]" : "\n]")
                    }
                    for line in lines(of: items, by: authors, output) { try await output.line(line) }
                }
            }
        }

        private func items(of workspace: SharedWorkspace) async throws -> [WorkspaceItem] {
            guard let path = try path?.path() else { return try await workspace.list(recursively: recursive) }
            let item = try await workspace.item(at: path)
            return item.isFolder ? try await workspace.list(path, recursively: recursive) : [item]
        }

        private func json(of item: WorkspaceItem, by author: String?) -> JSONValue {
            [
                "path": .string(item.path.description), "isFolder": .bool(item.isFolder),
                "bytes": .integer(Int64(item.size)), "state": .string(item.state.rawValue),
                "modified": item.modified.map { .integer(Int64(($0.timeIntervalSince1970 * 1000).rounded())) } ?? .null,
                "author": author.map { .string($0) } ?? .null,
            ]
        }

        private func lines(
            of items: [WorkspaceItem], by authors: [WorkspacePath: String], _ output: Output
        ) -> [String] {
            func name(_ item: WorkspaceItem) -> String { item.path.description.oneLine + (item.isFolder ? "/" : "") }
            guard long else { return items.map(name) }
            let format = Format()
            let table = Table(
                columns: [
                    .init(heading: "STATE"), .init(heading: "SIZE", isRight: true),
                    .init(heading: "CHANGED", isOptional: true),
                    .init(heading: "BY", isOptional: true, needsContent: true), .init(heading: "PATH"),
                ],
                rows: items.map { item in
                    [
                        item.isFolder && item.state == .local ? "" : item.state.rawValue,
                        item.isFolder ? "" : Format.bytes(Int64(item.size)),
                        item.modified.map(format.short) ?? "", (authors[item.path] ?? "").oneLine, name(item),
                    ]
                })
            return table.lines(style: output.style, width: output.columns)
        }
    }
#endif
