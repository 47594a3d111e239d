#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect

    struct WorkspaceWriteCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "write",
            abstract: "Write or append text to a file.",
            discussion: """
                Writes TEXT, or standard input. Specify the expected version: --replacing VERSION from `cat --print-version` \
                (the first 8 digits are enough), --new for a new file, or --append. If the file has changed since, nothing is \
                written, the difference is printed, and the exit code is 1. Text that looks like a password or key is \
                rejected. Prints the new version.

                JSON keys: path, version, bytes.
                """)

        @OptionGroup var options: WorkspaceOptions

        @Option(name: .long, help: ArgumentHelp("The version to replace.", valueName: "version"))
        var replacing: String?

        @Flag(name: .long, help: "Create a new file.")
        var new = false

        @Flag(name: .long, help: "Append to the file, or create it.")
        var append = false

        @OptionGroup var writer: WriterOptions

        @Argument(help: "The file.")
        var path: TypedPath

        @Argument(help: "The text; a line break is added. Put -- before the file if the text begins with -.")
        var text: String?

        func validate() throws {
            guard [replacing != nil, new, append].count(where: { $0 }) == 1 else {
                throw ValidationError("Specify one of --replacing VERSION, --new and --append.")
            }
            if let replacing, replacing.utf8.count < 8 {
                throw ValidationError("A version has 64 digits; specify at least the first 8.")
            }
        }

        func run() async throws {
            guard !path.isFolder else {
                throw RecollectError(.invalidArgument, "\(path.text.oneLine) is a folder, not a file")
            }
            let path = try path.path()
            try await options.withWorkspace { workspace in
                let bytes = try text.map { Array(($0 + "\n").utf8) } ?? Self.standardInput()
                let file: WorkspaceFile
                do {
                    file = try await written(bytes, to: path, in: workspace)
                } catch let error as FileChangedError {
                    try await show(error, in: workspace)
                    throw ExitCode(1)
                }
                try await Output.open { output in
                    let json: JSONValue = [
                        "path": .string(path.description), "version": .string(file.version.rawValue),
                        "bytes": .integer(Int64(file.bytes.count)),
                    ]
                    try await output.line(options.json ? json.jsonString : file.version.rawValue)
                }
            }
        }

        private func written(
            _ bytes: [UInt8], to path: WorkspacePath, in workspace: SharedWorkspace
        ) async throws -> WorkspaceFile {
            if append {
                return try await workspace.append(String(typed: bytes), to: path, by: writer.author)
            }
            guard let replacing else {
                return try await workspace.write(bytes, to: path, replacing: nil, by: writer.author)
            }
            let current: WorkspaceFile
            do {
                current = try await workspace.file(path)
            } catch let error as RecollectError where error.code == .notFound {
                throw FileChangedError(path: path, current: nil)
            }
            guard current.version.rawValue.hasPrefix(replacing.lowercased()) else {
                throw FileChangedError(path: path, current: current)
            }
            return try await workspace.write(bytes, to: path, replacing: current.version, by: writer.author)
        }

        /// Prints the current version, and its differences from the expected one.
        private func show(_ error: FileChangedError, in workspace: SharedWorkspace) async throws {
            let name = error.path.description.oneLine
            let versions = try await workspace.versions(of: error.path)
            guard let current = error.current else {
                return Output.printError(
                    "recall: nothing was written: \(name) \(versions.isEmpty ? "does not exist" : "no longer exists"); create it with --new"
                )
            }
            if new {
                return Output.printError(
                    "recall: nothing was written: \(name) already exists, as version \(current.version.rawValue)")
            }
            let known = versions.first { $0.hash.rawValue.hasPrefix((replacing ?? "").lowercased()) }
            Output.printError(
                "recall: nothing was written: \(name) \(known == nil ? "does not have that version; it is now" : "was changed and is now") "
                    + "version \(current.version.rawValue)")
            guard let known, let before = try? await workspace.content(of: known.hash) else { return }
            for line in Self.differences(from: before, to: current.bytes).prefix(40) { Output.printError("  " + line) }
        }

        /// Returns the removed and the new lines.
        private static func differences(from old: [UInt8], to new: [UInt8]) -> [String] {
            func lines(_ bytes: [UInt8]) -> [String] {
                bytes.split(separator: 0x0A).prefix(2_000).map { String(decoding: $0, as: UTF8.self) }
            }
            return lines(new).difference(from: lines(old)).map { change in
                switch change {
                case .remove(_, let line, _): "- " + line.oneLine
                case .insert(_, let line, _): "+ " + line.oneLine
                }
            }
        }

        private static func standardInput() throws -> [UInt8] {
            guard isatty(STDIN_FILENO) == 0 else {
                throw RecollectError(
                    .invalidArgument, "the text is missing: pass it as an argument or on standard input")
            }
            return [UInt8](try FileHandle.standardInput.readToEnd() ?? Data())
        }
    }
#endif
