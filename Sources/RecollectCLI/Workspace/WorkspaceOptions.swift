#if CommandLine
    import ArgumentParser
    import Foundation
    import Logging
    import Recollect

    /// The options of every command on a workspace: its folder and the output format.
    struct WorkspaceOptions: ParsableArguments {
        @Option(name: .long, help: ArgumentHelp("The folder of the workspace.", valueName: "dir"))
        var root: String?

        @Flag(name: .long, help: "Print JSON.")
        var json = false

        func validate() throws {
            if root == "" { throw ValidationError("--root must not be empty.") }
        }

        /// Opens the workspace, runs a command on it, and prints the events of the workspace to standard error,
        /// also after an error of the command.
        /// - Parameter makes: Whether to create a missing folder named by `--root` or the environment. Reading
        ///   commands pass `false`, so a mistyped folder does not become an empty workspace.
        /// - Throws: `notFound` if the named folder is missing and not to be created; errors of the opening and of
        ///   the command.
        func withWorkspace(makes: Bool = false, _ body: (SharedWorkspace) async throws -> Void) async throws {
            let workspace = try Self.opened(root: root, makes: makes)
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(workspace))
            } catch {
                result = .failure(error)
            }
            printEvents(workspace.events.takeUndelivered())
            try result.get()
        }

        /// Opens a workspace.
        /// - Parameters:
        ///   - root: Its folder; `nil` for the one of the environment, else the default one.
        ///   - makes: Whether to create a missing folder.
        /// - Throws: `notFound` if the named folder is missing and not to be created; errors of the opening.
        static func opened(root: String?, makes: Bool) throws -> SharedWorkspace {
            let variable = ProcessInfo.processInfo.environment["RECOLLECT_WORKSPACE"].flatMap { $0.isEmpty ? nil : $0 }
            // Events are printed by `printEvents` instead of logged.
            let logger = Logger(label: "recall") { _ in SwiftLogNoOpLogHandler() }
            let configuration = WorkspaceConfiguration(logger: logger)
            guard let named = root ?? variable else { return SharedWorkspace(configuration: configuration) }
            guard makes || FileManager.default.fileExists(atPath: named) else {
                throw RecollectError(
                    .notFound,
                    "no workspace found at \(named): create one with `recall workspace init`, or specify another folder with --root"
                )
            }
            return try SharedWorkspace(
                root: URL(fileURLWithPath: named, isDirectory: true), configuration: configuration)
        }

        /// Prints events to standard error.
        func printEvents(_ events: [StoreEvent]) {
            for event in events {
                let path = (event.path ?? "").oneLine
                let what =
                    switch event.kind {
                    case .resolvedConflict: "conflicting versions of \(path) were merged"
                    case .nameCollision: "names that differ only in case or normalization: \(path)"
                    case .massDeletion: "most files are missing; they are not treated as deleted"
                    case .largeFile: "\(path) is too large for a synced folder"
                    case .frequentWrites: "\(path) is written too often for a synced folder"
                    case .salvaged:
                        "the version log was damaged: its readable part was recovered, and the damaged log is now "
                            + "\((event.setAsideURL?.path ?? "").oneLine); to recover what is missing from it, run: recall workspace recover"
                    default: "workspace event: \(event.kind.rawValue)"
                    }
                Output.printError("recall: \(what)")
            }
        }
    }

    /// The options of every command with changes to files: their author.
    struct WriterOptions: ParsableArguments {
        @Option(name: .long, help: ArgumentHelp("Act as this agent instead of yourself.", valueName: "id"))
        var agent: String?

        func validate() throws {
            if agent == "" { throw ValidationError("--agent must not be empty.") }
        }

        var author: WorkspaceAuthor { agent.map { .agent($0) } ?? .user }
    }

    extension String {
        /// Creates the text of a file from typed or piped bytes.
        /// - Throws: `invalidArgument` for invalid UTF-8.
        init(typed bytes: [UInt8]) throws {
            self.init(decoding: bytes, as: UTF8.self)
            guard utf8.elementsEqual(bytes) else {
                throw RecollectError(.invalidArgument, "the text is not valid UTF-8")
            }
        }
    }

    extension SharedWorkspace {
        /// Reads a file, after waiting for its download for up to 60 seconds.
        func file(_ path: WorkspacePath) async throws -> WorkspaceFile {
            try await read(path, download: .wait(.seconds(60)))
        }

        /// Returns the last writer of a file, in a word. A begun write does not count: it may not have happened.
        func author(of path: WorkspacePath) async throws -> String {
            try await versions(of: path).first { $0.kind != .begun }?.writer ?? WorkspaceVersion.foreignWriter
        }

        /// Returns the version of a file with a hash beginning with `typed`.
        /// - Throws: `notFound`, or `ambiguous` if several versions match.
        func version(_ typed: String, of path: WorkspacePath) async throws -> ContentHash {
            let found = Set(try await versions(of: path).map(\.hash)).filter {
                $0.rawValue.hasPrefix(typed.lowercased())
            }
            guard let hash = found.first else {
                throw RecollectError(
                    .notFound,
                    "\(path) has no version \(typed.oneLine) on this device; `recall workspace versions` lists its versions"
                )
            }
            guard found.count == 1 else {
                throw RecollectError(
                    .ambiguous,
                    "more than one version of \(path) begins with \(typed.oneLine); use a longer prefix:\n"
                        + found.map { "  \($0.rawValue)" }.sorted().joined(separator: "\n"))
            }
            return hash
        }
    }

    extension WorkspaceVersion {
        static let foreignWriter = "elsewhere"

        /// The writer of the version, in a word.
        var writer: String { author?.word ?? Self.foreignWriter }
    }

    extension WorkspaceAuthor {
        /// The author, in a word.
        var word: String { agentId ?? "you" }
    }

    extension ContentHash {
        /// The first eight digits, the usual length to type.
        var short: String { String(rawValue.prefix(8)) }
    }
#endif
