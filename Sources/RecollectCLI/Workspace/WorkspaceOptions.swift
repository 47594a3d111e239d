#if CommandLine
    import ArgumentParser
    import Foundation
    import Logging
    import Recollect

    /// What every command on a workspace takes: which one.
    struct WorkspaceOptions: ParsableArguments {
        @Option(name: .long, help: ArgumentHelp("The workspace's folder.", valueName: "dir"))
        var root: String?

        @Flag(name: .long, help: "Write JSON.")
        var json = false

        func validate() throws {
            if root == "" { throw ValidationError("--root needs the path of a folder.") }
        }

        /// Opens the workspace, runs a command on it, and tells on standard error what the workspace did of its own accord.
        /// - Parameter makes: whether a folder that was named is made where it does not exist. Reading does not: a mistyped folder
        ///   should not become an empty workspace.
        func withWorkspace(makes: Bool = false, _ body: (SharedWorkspace) async throws -> Void) async throws {
            let workspace = try opened(makes: makes)
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(workspace))
            } catch {
                result = .failure(error)
            }
            tell(workspace.events.takeUnheard())
            try result.get()
        }

        private func opened(makes: Bool) throws -> SharedWorkspace {
            let variable = ProcessInfo.processInfo.environment["RECOLLECT_WORKSPACE"].flatMap { $0.isEmpty ? nil : $0 }
            // What is to be told is told below, in words.
            let logger = Logger(label: "recall") { _ in SwiftLogNoOpLogHandler() }
            let configuration = WorkspaceConfiguration(logger: logger)
            guard let named = root ?? variable else { return SharedWorkspace(configuration: configuration) }
            guard makes || FileManager.default.fileExists(atPath: named) else {
                throw RecollectError(
                    .notFound,
                    "there is no workspace at \(named); make one with `recall workspace init`, or name another with --root"
                )
            }
            return try SharedWorkspace(
                root: URL(fileURLWithPath: named, isDirectory: true), configuration: configuration)
        }

        /// Tells on standard error what happened.
        func tell(_ events: [StoreEvent]) {
            for event in events {
                let path = (event.path ?? "").oneLine
                let what =
                    switch event.kind {
                    case .foldedConflict: "versions of \(path) that contradicted each other have been folded into one"
                    case .twins: "some systems take these files for one: \(path)"
                    case .vanished: "most of the files are missing; nothing was concluded from that"
                    case .largeFile: "\(path) is larger than a synced folder is good for"
                    case .frequentWrites: "\(path) is written more often than a synced folder is good for"
                    case .salvaged:
                        "the log of versions was damaged: what can be read of it is kept, and the damaged one is now "
                            + "\((event.setAside?.path ?? "").oneLine); `recall workspace recover` finds what it does not name"
                    default: "the workspace reports \(event.kind.rawValue)"
                    }
                Output.tell("recall: \(what)")
            }
        }
    }

    /// What every command that changes files takes: who changes them.
    struct WriterOptions: ParsableArguments {
        @Option(name: .long, help: ArgumentHelp("Do it as an agent instead of as you.", valueName: "id"))
        var agent: String?

        func validate() throws {
            if agent == "" { throw ValidationError("--agent needs an id.") }
        }

        var author: WorkspaceAuthor { agent.map { .agent($0) } ?? .user }
    }

    /// A path in a workspace, as it was typed.
    struct TypedPath: ExpressibleByArgument {
        let text: String

        init?(argument: String) {
            text = argument
        }

        /// Whether it ends with a `/`, with which shells complete folders.
        var isFolder: Bool { text.utf8.count > 1 && text.hasSuffix("/") }

        /// The path, without a `/` at its end.
        func path() throws -> WorkspacePath {
            try WorkspacePath(isFolder ? String(text.dropLast()) : text)
        }
    }

    extension [TypedPath] {
        /// The paths, each once, in the order in which they were typed.
        func paths() throws -> [WorkspacePath] {
            var seen: Set<WorkspacePath> = []
            return try map { try $0.path() }.filter { seen.insert($0).inserted }
        }
    }

    extension String {
        /// Reads what was piped in or typed for a file of text.
        /// - Throws: `invalidArgument` for what is not UTF-8.
        init(typed bytes: [UInt8]) throws {
            self.init(decoding: bytes, as: UTF8.self)
            guard utf8.elementsEqual(bytes) else {
                throw RecollectError(.invalidArgument, "what is added must be text in UTF-8")
            }
        }
    }

    extension SharedWorkspace {
        /// Reads a file, waiting for its download.
        func file(_ path: WorkspacePath) async throws -> WorkspaceFile {
            try await read(path, download: .wait(.seconds(60)))
        }

        /// Who wrote a file last, in a word. What was only begun, nobody knows to have been written.
        func author(of path: WorkspacePath) async throws -> String {
            try await versions(of: path).first { $0.kind != .begun }?.writer ?? WorkspaceVersion.foreignWriter
        }

        /// The content of a file that somebody means by the first digits of its version.
        func version(_ typed: String, of path: WorkspacePath) async throws -> ContentHash {
            let found = Set(try await versions(of: path).map(\.hash)).filter {
                $0.rawValue.hasPrefix(typed.lowercased())
            }
            guard let hash = found.first else {
                throw RecollectError(
                    .notFound,
                    "\(path) had no version \(typed.oneLine) on this device; `recall workspace versions` lists those that it had"
                )
            }
            guard found.count == 1 else {
                throw RecollectError(
                    .ambiguous,
                    "several versions of \(path) begin with \(typed.oneLine):\n"
                        + found.map { "  \($0.rawValue)" }.sorted().joined(separator: "\n"))
            }
            return hash
        }
    }

    extension WorkspaceVersion {
        static let foreignWriter = "elsewhere"

        /// Who wrote it, in a word.
        var writer: String { author.map { $0.agentId ?? "you" } ?? Self.foreignWriter }
    }

    extension ContentHash {
        /// As much of it as a person types.
        var short: String { String(rawValue.prefix(8)) }
    }
#endif
