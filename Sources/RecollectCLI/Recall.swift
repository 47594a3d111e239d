#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect

    /// The command `recall`.
    struct Recall: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "recall",
            abstract: "Import, list, search, print, organize and export agent sessions.",
            discussion: """
                The history is in one folder: --store, or the environment variable RECOLLECT_STORE, or by default Recollect in \
                the folder for application data. Both can also be the URL of a PostgreSQL database (`recall postgres --help`). SESSION is a session ID or a unique prefix of one.

                With --json, every command prints JSON to standard output, with stable keys, and dates in milliseconds since \
                1970. All other output goes to standard error. Colors, progress bars and the pager (PAGER, or less by default) \
                are used only on a terminal; NO_COLOR turns colors off. `recall --generate-completion-script zsh` (or bash, \
                fish) prints a completion script for a shell.

                Exit codes: 0 success; 1 failure, with a suggested fix in the message; 2 partial success: some lines are \
                unreadable, or the history has a problem; 64 invalid command line.
                """,
            version: Self.version,
            groupedSubcommands: [
                CommandGroup(name: "Chat", subcommands: [ChatCommand.self]),
                CommandGroup(
                    name: "Read",
                    subcommands: [
                        SessionsCommand.self, ShowCommand.self, SearchCommand.self, BranchesCommand.self,
                        CompactionsCommand.self,
                    ]),
                CommandGroup(
                    name: "Organize",
                    subcommands: [
                        SetCommand.self, ForkCommand.self, DiscardCommand.self, RestoreCommand.self, DeleteCommand.self,
                    ]),
                CommandGroup(name: "Share files", subcommands: [WorkspaceCommand.self]),
                CommandGroup(name: "Import, export, maintain", subcommands: maintenance),
            ])

        private static var maintenance: [any ParsableCommand.Type] {
            var commands: [any ParsableCommand.Type] = [
                ImportCommand.self, ExportCommand.self, MigrateCommand.self, DoctorCommand.self,
            ]
            #if Postgres
                commands.append(PostgresCommand.self)
            #endif
            return commands
        }

        /// The version printed by `--version` and `doctor`.
        static let version = "0.1.0"

        /// Runs the command named by the arguments, and ends the process with its exit code.
        static func start() async -> Never {
            keepStandardDescriptors()
            // A closed output pipe fails the write instead, and the command ends without a message.
            signal(SIGPIPE, SIG_IGN)
            do {
                try refuseBrokenArguments()
                var command = try parseAsRoot()
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
                exit(withError: nil)
            } catch is OutputClosed {
                exit(withError: nil)
            } catch let error where error is ExitCode || exitCode(for: error).isSuccess {
                // Help and version are thrown, too.
                exit(withError: error)
            } catch let error where exitCode(for: error) == .validationFailure {
                let arguments = CommandLine.arguments
                if !arguments.contains("--"), let text = arguments.first(where: { $0.hasPrefix("- ") }) {
                    Output.printError(
                        "recall: '\(text.prefix(20))' begins with -; put -- between the options and the arguments")
                }
                exit(withError: error)
            } catch {
                Output.printError("recall: \(words(for: error))")
                exit(withError: error is UnconfirmedChangeError ? ExitCode.partly : ExitCode(1))
            }
        }

        /// Reserves the descriptors of closed standard streams. Otherwise a file of the history gets one, and
        /// receives the output.
        private static func keepStandardDescriptors() {
            // Reads and writes on them still fail.
            for (number, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
            where fcntl(number, F_GETFD) == -1 {
                _ = open("/dev/null", mode)
            }
        }

        /// Refuses arguments with invalid UTF-8. Swift replaces invalid bytes, and two users or folders would
        /// become one.
        private static func refuseBrokenArguments() throws {
            for number in 1..<max(1, Int(CommandLine.argc)) {
                guard let bytes = CommandLine.unsafeArgv[number], String(validatingCString: bytes) == nil else {
                    continue
                }
                throw ValidationError(
                    "'\(String(cString: bytes))' is not valid UTF-8: rename the file, or use another user ID")
            }
        }

        /// Returns the message of an error.
        static func words(for error: any Error) -> String {
            (error as? any LocalizedError)?.errorDescription ?? String(describing: error)
        }
    }

    extension ExitCode {
        /// The exit code for work done in part.
        static let partly = ExitCode(2)
    }
#endif
