import Foundation
import RecollectCore
import RecollectFileSystem
import RecollectTestSupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A real Syncthing process with its own home, identity and shared folder. It connects to others only on loopback.
///
/// Discovery, relays, address translation, upgrades and all reports are off. It ends with the test process, even if
/// that is killed: a shell waits for the end of a pipe.
///
/// `@unchecked Sendable`: the process and its pipe are used only by `start`, `stop` and `deinit`.
final class SyncthingDevice: @unchecked Sendable {
    /// The shared folder.
    let folder: URL
    /// The device ID.
    let id: String

    private let home: URL
    private let listeningPort: Int
    private let controlPort: Int
    private let key = UUID().uuidString
    private let process = Process()
    private let life = Pipe()

    /// Generates an identity, without starting a process.
    init(home: URL) throws {
        self.home = home
        folder = home.appendingPathComponent("shared", isDirectory: true)
        (listeningPort, controlPort) = (try Self.freePort(), try Self.freePort())
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent(".stfolder"), withIntermediateDirectories: true)
        let syncthing = try Self.found ?? { throw RecollectError(.notFound, "syncthing is not installed") }()
        let options = ["--no-default-folder", "--skip-port-probing"]
        _ = try Self.output(of: syncthing, ["generate", "--home=\(home.path)"] + options)
        id = try Self.output(of: syncthing, ["--home=\(home.path)", "--device-id"])
    }

    deinit { stop() }

    /// Stops the process and waits for its end.
    func stop() {
        // If the pipe is closed already, the process has ended.
        try? life.fileHandleForWriting.close()
        if process.isRunning { process.waitUntilExit() }
    }

    /// The location of `syncthing`; `nil` if it is not installed.
    static let found: URL? = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        .map { URL(fileURLWithPath: String($0)).appendingPathComponent("syncthing") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    /// Starts the process, shares its folder with other devices, and waits for its first response.
    /// - Parameter delay: The seconds from a change in the folder to a scan by Syncthing. With `nil`, only `scan`
    ///   starts a scan, so that a test decides about the changes scanned together.
    func start(with others: [SyncthingDevice], watchingAfter delay: Int? = nil) async throws {
        try configuration(with: others, watchingAfter: delay).write(
            to: home.appendingPathComponent("config.xml"), atomically: true, encoding: .utf8)
        // No `wait`: the signals required by a shell's `wait` may be blocked in a process started by a test.
        let replacementWatch = """
            "$@" </dev/null & read -r _; kill -9 $!
            """
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let command = [Self.found?.path ?? "", "serve", "--home=\(home.path)", "--no-browser", "--no-upgrade"]
        process.arguments = ["-c", replacementWatch, "sh"] + command
        // As if monitored: one process that ends on request, instead of two.
        process.environment = ProcessInfo.processInfo.environment.merging(["STMONITORED": "yes", "GOMAXPROCS": "2"]) {
            $1
        }
        process.standardInput = life
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        // Minutes, for a start that takes a second on an idle machine.
        for _ in 0..<6_000 where process.isRunning {
            if (try? await ask("GET", "system/ping")) != nil { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw RecollectError(.timedOut, "syncthing did not start")
    }

    // MARK: Control

    /// Scans the folder, and returns after the scan.
    func scan() async throws {
        try await ask("POST", "db/scan?folder=\(Self.folderId)")
    }

    /// Pauses or resumes the connection to another device. Both devices continue to scan their folders.
    func setPaused(_ isPaused: Bool, _ other: SyncthingDevice) async throws {
        try await ask("POST", "system/\(isPaused ? "pause" : "resume")?device=\(other.id)")
    }

    /// Whether this device is connected to another one.
    func isConnected(to other: SyncthingDevice) async throws -> Bool {
        try await ask("GET", "system/connections")["connections"]?[other.id]?["connected"] == true
    }

    /// Whether this device is idle and has no pending changes.
    func isIdle() async throws -> Bool {
        let status = try await ask("GET", "db/status?folder=\(Self.folderId)")
        return status["state"] == "idle" && status["needTotalItems"] == 0
    }

    /// Waits for the next event after a given one, at most a second. Returns the last event.
    func wait(after event: Int64) async throws -> Int64 {
        let events = try await ask("GET", "events?since=\(event)&limit=1&timeout=1").arrayValue ?? []
        return events.compactMap { $0["id"]?.integerValue }.max() ?? event
    }

    @discardableResult
    private func ask(_ method: String, _ call: String) async throws -> JSONValue {
        guard let url = URL(string: "http://127.0.0.1:\(controlPort)/rest/\(call)") else {
            throw RecollectError(.invalidArgument, "no call: \(call)")
        }
        var request = URLRequest(url: url, timeoutInterval: 60)
        request.httpMethod = method
        request.setValue(key, forHTTPHeaderField: "X-API-Key")
        let (data, response) = try await URLSession.shared.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else {
            throw RecollectError(.inputOutput, "\(call): \(String(decoding: data, as: UTF8.self))")
        }
        return data.isEmpty ? .null : (try? JSONValue(parsing: String(decoding: data, as: UTF8.self))) ?? .null
    }

    // MARK: Setup

    private static let folderId = "workspace"

    private func configuration(with others: [SyncthingDevice], watchingAfter delay: Int?) -> String {
        func device(_ device: SyncthingDevice) -> String {
            """
            <device id="\(device.id)" compression="never"><address>tcp://127.0.0.1:\(device.listeningPort)</address></device>
            """
        }
        let all = [self] + others
        let watching =
            delay.map { "fsWatcherEnabled=\"true\" fsWatcherDelayS=\"\($0)\"" } ?? "fsWatcherEnabled=\"false\""
        return """
            <configuration version="36">
                <folder id="\(Self.folderId)" path="\(folder.path)" type="sendreceive" rescanIntervalS="0" \(watching) autoNormalize="true">
                    \(all.map { "<device id=\"\($0.id)\"></device>" }.joined())<maxConflicts>-1</maxConflicts>
                </folder>
                \(all.map(device).joined())
                <gui enabled="true" tls="false"><address>127.0.0.1:\(controlPort)</address><apikey>\(key)</apikey></gui>
                <options>
                    <listenAddress>tcp://127.0.0.1:\(listeningPort)</listenAddress>
                    <globalAnnounceEnabled>false</globalAnnounceEnabled><localAnnounceEnabled>false</localAnnounceEnabled>
                    <relaysEnabled>false</relaysEnabled><natEnabled>false</natEnabled><stunServer></stunServer>
                    <startBrowser>false</startBrowser><autoUpgradeIntervalH>0</autoUpgradeIntervalH>
                    <urAccepted>-1</urAccepted><crashReportingEnabled>false</crashReportingEnabled>
                    <reconnectionIntervalS>5</reconnectionIntervalS><progressUpdateIntervalS>-1</progressUpdateIntervalS>
                    <setLowPriority>false</setLowPriority>
                </options>
            </configuration>
            """
    }

    /// An unused port.
    private static func freePort() throws -> Int {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw POSIXFailure.last }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        guard result else { throw POSIXFailure.last }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func output(of command: URL, _ arguments: [String]) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = command
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let output = remainingBytes(of: pipe.fileHandleForReading)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw RecollectError(.inputOutput, "\(command.path) \(arguments) failed")
        }
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension Need {
    /// A `SyncthingDevice`.
    static let syncthing = Need("syncthing: .ci/run installs it") { SyncthingDevice.found != nil }
}
