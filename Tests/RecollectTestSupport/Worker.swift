import Foundation

/// A run of `RecollectTestWorker` in a separate process.
///
/// `@unchecked Sendable`: a test uses its worker from one task; waiting happens off the cooperative pool, which other
/// tests need meanwhile.
package final class Worker: @unchecked Sendable {
    private let process = Process()
    private let output = Pipe()

    /// Starts the worker. `tracer` is a command that runs it, for example `strace` with options.
    package init(_ arguments: [String], under tracer: [String] = []) throws {
        try Need.requireMet(tracer.isEmpty ? ".needs(.processes)" : ".needs(.strace)")
        let command = tracer + [Self.executable] + arguments
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    /// Waits until the worker has printed `count` lines.
    package func wait(forLines count: Int) async -> [String] {
        await waiting { self.hear(lines: count) }
    }

    private func hear(lines count: Int) -> [String] {
        var text = Data()
        while text.count(where: { $0 == UInt8(ascii: "\n") }) < count {
            let more = nextBytes(of: output.fileHandleForReading)
            if more.isEmpty { break }
            text += more
        }
        heard += text
        return lines
    }

    package func kill() {
        send(SIGKILL)
    }

    /// Sends a signal; `SIGSTOP` stops the worker until `SIGCONT`.
    package func send(_ signal: Int32) {
        Foundation.kill(process.processIdentifier, signal)
    }

    /// The process ID.
    package var id: Int32 { process.processIdentifier }

    /// Stops the worker and returns when it is stopped.
    package func stop() throws {
        send(SIGSTOP)
        var status = siginfo_t()
        guard waitid(P_PID, id_t(id), &status, WSTOPPED | WNOWAIT) == 0 else { throw CocoaError(.featureUnsupported) }
    }

    /// Waits for the end and returns all complete lines that the worker printed.
    package func finish() async -> [String] {
        await waiting { self.hearTheRest() }
    }

    private func waiting(_ work: @escaping @Sendable () -> [String]) async -> [String] {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: work()) }
        }
    }

    private func hearTheRest() -> [String] {
        heard += remainingBytes(of: output.fileHandleForReading)
        process.waitUntilExit()
        return lines
    }

    package var endedWell: Bool { process.terminationReason == .exit && process.terminationStatus == 0 }

    private var heard = Data()

    private var lines: [String] {
        String(decoding: heard, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
            String.init)
    }

    /// The executable, built beside the test bundle.
    private static let executable: String = {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        let tests = bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])
        return tests.deletingLastPathComponent().appendingPathComponent("RecollectTestWorker").path
    }()
}

/// The path of `strace`, if it is installed and may trace here.
package let strace: String? = {
    let path = "/usr/bin/strace"
    guard FileManager.default.isExecutableFile(atPath: path) else { return nil }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = ["-qq", "-e", "trace=none", "true"]
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    process.waitUntilExit()
    return process.terminationStatus == 0 ? path : nil
}()
