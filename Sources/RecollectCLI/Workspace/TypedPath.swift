#if CommandLine
    import ArgumentParser
    import Recollect

    /// A path in a workspace, as typed.
    struct TypedPath: ExpressibleByArgument {
        let text: String

        init?(argument: String) {
            text = argument
        }

        /// Whether the path ends with a `/`, as shells complete folders.
        var isFolder: Bool { text.utf8.count > 1 && text.hasSuffix("/") }

        /// Returns the path, without a `/` at its end.
        func path() throws -> WorkspacePath {
            try WorkspacePath(isFolder ? String(text.dropLast()) : text)
        }
    }

    extension [TypedPath] {
        /// Returns the paths, each once, in the order of the arguments.
        func paths() throws -> [WorkspacePath] {
            var seen: Set<WorkspacePath> = []
            return try map { try $0.path() }.filter { seen.insert($0).inserted }
        }
    }
#endif
