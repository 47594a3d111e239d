#if CommandLine
    import Dispatch
    import Foundation
    import Testing

    /// A terminal that runs a program as for a user: keys go in, and the screen's text comes out.
    ///
    /// `@unchecked Sendable`, because the output is accessed only on its queue.
    final class TestTerminal: @unchecked Sendable {
        private let keyboard: Int32
        private let process: pid_t
        private let queue = DispatchQueue(label: "test.terminal")
        private var shown = Data()
        private var consumed = 0
        private var hasEnded = false

        /// Starts a program in a new terminal of 80 columns.
        init(_ program: URL, _ arguments: [String], environment: [String: String]) throws {
            let (keyboard, name) = try Self.open()
            self.keyboard = keyboard
            var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
            _ = ioctl(keyboard, UInt(TIOCSWINSZ), &size)
            process = try Self.spawn(program.path, [program.path] + arguments, environment, on: name)
        }

        deinit {
            if !hasEnded { kill(process, SIGKILL) }
            close(keyboard)
        }

        /// Opens a terminal and returns its controlling end and its name. Swift does not import glibc's functions for
        /// this.
        private static func open() throws -> (keyboard: Int32, name: String) {
            #if canImport(Darwin)
                let keyboard = posix_openpt(O_RDWR | O_NOCTTY)
                guard keyboard >= 0, grantpt(keyboard) == 0, unlockpt(keyboard) == 0, let name = ptsname(keyboard)
                else {
                    throw POSIXError(.ENOTTY)
                }
                return (keyboard, String(cString: name))
            #else
                let (unlock, number): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
                let keyboard = Foundation.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
                var (lock, index): (Int32, Int32) = (0, 0)
                guard keyboard >= 0, ioctl(keyboard, unlock, &lock) == 0, ioctl(keyboard, number, &index) == 0 else {
                    throw POSIXError(.ENOTTY)
                }
                return (keyboard, "/dev/pts/\(index)")
            #endif
        }

        /// Starts the program in a new session, in which the terminal is the controlling terminal and Ctrl-C a signal.
        private static func spawn(
            _ path: String, _ arguments: [String], _ environment: [String: String], on terminal: String
        ) throws -> pid_t {
            #if canImport(Darwin)
                var actions: posix_spawn_file_actions_t?
                var attributes: posix_spawnattr_t?
            #else
                var actions = posix_spawn_file_actions_t()
                var attributes = posix_spawnattr_t()
            #endif
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
            posix_spawn_file_actions_adddup2(&actions, 0, 1)
            posix_spawn_file_actions_adddup2(&actions, 0, 2)
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            // The test threads block signals, which a program would inherit.
            var none = sigset_t()
            sigemptyset(&none)
            posix_spawnattr_setsigmask(&attributes, &none)
            #if canImport(Darwin)
                let newSession = Int16(POSIX_SPAWN_SETSID)
            #else
                let newSession: Int16 = 0x80
            #endif
            posix_spawnattr_setflags(&attributes, newSession | Int16(POSIX_SPAWN_SETSIGMASK))
            var process = pid_t()
            let words = arguments.map { strdup($0) } + [nil]
            let variables = environment.map { strdup("\($0)=\($1)") } + [nil]
            defer { (words + variables).forEach { free($0) } }
            let failure = posix_spawn(&process, path, &actions, &attributes, words, variables)
            guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
            return process
        }

        /// Presses keys.
        func type(_ keys: String) {
            let bytes = Array(keys.utf8)
            #expect(write(keyboard, bytes, bytes.count) == bytes.count)
        }

        /// Waits until the screen has shown a string after the previous one, and returns the output between them.
        @discardableResult
        func expect(
            _ wanted: String, seconds: Int = 300, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws -> String {
            let found: String? = await withCheckedContinuation { done in
                queue.async { done.resume(returning: self.wait(for: wanted, seconds: seconds)) }
            }
            let everything = everything
            return try #require(
                found, "never shown: \(wanted); full output: \(everything)", sourceLocation: sourceLocation)
        }

        /// The full output.
        var everything: String { queue.sync { String(decoding: shown, as: UTF8.self) } }

        private func wait(for wanted: String, seconds: Int) -> String? {
            let deadline = DispatchTime.now() + .seconds(seconds)
            while true {
                if let range = shown.range(of: Data(wanted.utf8), in: consumed..<shown.count) {
                    defer { consumed = range.upperBound }
                    return String(decoding: shown[consumed..<range.lowerBound], as: UTF8.self)
                }
                guard DispatchTime.now() < deadline, read(milliseconds: 100) else { return nil }
            }
        }

        /// Reads the available output; returns false at the end.
        private func read(milliseconds: Int32) -> Bool {
            var waiting = pollfd(fd: keyboard, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, milliseconds) > 0 else { return true }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = Foundation.read(keyboard, &bytes, bytes.count)
            guard count > 0 else { return false }
            shown += bytes.prefix(count)
            return true
        }

        /// Sends a signal to the program only.
        func send(_ signal: Int32) {
            kill(process, signal)
        }

        /// Waits for the program's end and returns its exit code, or 1000 plus the signal that killed it.
        func end(seconds: Int = 300) async -> Int32 {
            await withCheckedContinuation { done in
                queue.async {
                    // Its remaining output must be read, or it never ends.
                    let deadline = DispatchTime.now() + .seconds(seconds)
                    while DispatchTime.now() < deadline, self.read(milliseconds: 100) {}
                    var status: Int32 = 0
                    guard waitpid(self.process, &status, 0) == self.process else { return done.resume(returning: -1) }
                    self.hasEnded = true
                    done.resume(returning: status & 0x7F == 0 ? (status >> 8) & 0xFF : 1000 + status & 0x7F)
                }
            }
        }
    }
#endif
