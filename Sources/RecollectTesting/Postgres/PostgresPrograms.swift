#if os(macOS) || os(Linux)
    import Foundation
    import RecollectCore

    #if canImport(Darwin)
        import Darwin
    #elseif canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// The installed programs of PostgreSQL, such as `initdb` and `postgres`.
    struct PostgresPrograms: Sendable {
        let folder: URL

        /// The newest version installed, from `PATH` or the folders of Debian, Red Hat and Homebrew.
        static let found: PostgresPrograms? = {
            let manager = FileManager.default
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            var folders = path.split(separator: ":").map(String.init)
            let versions: [(folder: String, prefix: String, suffix: String)] = [
                ("/usr/lib/postgresql", "", "/bin"), ("/usr", "pgsql-", "/bin"),
                ("/opt/homebrew/opt", "postgresql@", "/bin"), ("/usr/local/opt", "postgresql@", "/bin"),
            ]
            for place in versions {
                let names = ((try? manager.contentsOfDirectory(atPath: place.folder)) ?? []).filter {
                    $0.hasPrefix(place.prefix)
                }
                // Compared as numbers: 9 is before 15.
                folders += names.sorted { $0.compare($1, options: .numeric) == .orderedDescending }
                    .map { "\(place.folder)/\($0)\(place.suffix)" }
            }
            return folders.first { folder in
                ["initdb", "postgres", "psql"].allSatisfy { manager.isExecutableFile(atPath: "\(folder)/\($0)") }
            }.map { PostgresPrograms(folder: URL(fileURLWithPath: $0)) }
        }()

        static func require() throws -> PostgresPrograms {
            guard let found else {
                throw RecollectError(
                    .unavailable,
                    "PostgreSQL is not installed: initdb, postgres and psql are in no folder of PATH; install it with "
                        + "`apt-get install postgresql` or `brew install postgresql@17`")
            }
            return found
        }

        /// The user for the server's processes: PostgreSQL refuses to run as root.
        private var user: passwd? { getuid() == 0 ? getpwnam("postgres")?.pointee : nil }

        /// Creates a folder for the server's processes. Its path is short: that of a socket has at most 103 bytes.
        func makeFolder() throws -> URL {
            var template = Array("/tmp/recollect-pg-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else {
                throw RecollectError(
                    .inputOutput, "cannot create a folder in /tmp: \(String(cString: strerror(errno)))")
            }
            let path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } ?? ""
            if let user { chown(path, user.pw_uid, user.pw_gid) }
            return URL(fileURLWithPath: path)
        }

        /// Writes a file for the server's processes alone.
        func write(_ text: String, to file: URL) throws {
            try Data(text.utf8).write(to: file)
            guard chmod(file.path, 0o600) == 0, user.map({ chown(file.path, $0.pw_uid, $0.pw_gid) == 0 }) ?? true else {
                throw RecollectError(.inputOutput, "cannot prepare \(file.path): \(String(cString: strerror(errno)))")
            }
        }

        /// Runs a program to its end and returns its output.
        @discardableResult
        func run(_ program: String, _ arguments: String...) throws -> String {
            let process = try process([folder.appendingPathComponent(program).path] + arguments)
            let (output, errors) = (Pipe(), Pipe())
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            process.standardError = errors
            try start(process)
            // The output is read first. Errors are short: they fit into the buffer of a pipe.
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                throw RecollectError(
                    .inputOutput, "\(program) failed: \(message.trimmingCharacters(in: .whitespacesAndNewlines))")
            }
            return text.trimmingCharacters(in: .newlines)
        }

        /// Starts a server that ends with this process: a shell kills it, and removes its folder, when the shell's standard input
        /// ends before the server.
        /// - Parameter program: The name of a program of PostgreSQL, or the path of another one.
        func serve(_ program: String, _ arguments: String..., in folder: URL) throws -> Process {
            let path = program.hasPrefix("/") ? program : self.folder.appendingPathComponent(program).path
            let script = """
                folder=$1; shift
                exec 3<&0
                "$@" </dev/null >>"$folder/log" 2>&1 3<&- &
                server=$!
                (
                    read -r _ <&3
                    kill -KILL $server
                    # Other processes of the server write for a moment.
                    for _ in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$folder" && break; sleep 0.2; done
                ) 2>/dev/null &
                reader=$!
                exec 3<&-
                wait $server
                kill $reader 2>/dev/null
                """
            let process = try process(
                ["/bin/sh", "-c", script, "sh", folder.path, path]
                    + arguments)
            process.standardInput = Pipe()
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try start(process)
            return process
        }

        /// Starts a process without blocked signals. On Linux, a process inherits the mask of the starting thread, and the threads of
        /// Dispatch block almost all signals: a shell would wait for its children forever.
        private func start(_ process: Process) throws {
            var (none, old) = (sigset_t(), sigset_t())
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, &old)
            defer { pthread_sigmask(SIG_SETMASK, &old, nil) }
            try process.run()
        }

        private func process(_ command: [String]) throws -> Process {
            var command = command
            if getuid() == 0 {
                guard user != nil else {
                    throw RecollectError(
                        .unavailable,
                        "PostgreSQL refuses to run as root, and there is no user `postgres`; run the tests as another user"
                    )
                }
                command = ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] + command
            }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: command[0])
            process.arguments = Array(command.dropFirst())
            process.currentDirectoryURL = URL(fileURLWithPath: "/tmp")
            // Settings of this process's user do not apply.
            process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("PG") }
            return process
        }
    }
#endif
