import Foundation
import RecollectCore
import RecollectFileSystem
import RecollectTestSupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A real Syncthing, a process with a home, an identity and one shared folder of its own, that talks to others on loopback alone.
///
/// Discovery, relays, address translation, upgrades and all reports are off. It ends with the test process, also where that is
/// killed: a shell beside it waits for the end of a pipe.
///
/// `@unchecked Sendable`: the process and its pipe are touched by `start`, `stop` and `deinit` alone.
final class SyncthingDevice: @unchecked Sendable {
    /// What its owner shares.
    let folder: URL
    /// Who it is, as others know it.
    let id: String

    private let home: URL
    private let listeningPort: Int
    private let controlPort: Int
    private let key = UUID().uuidString
    private let process = Process()
    private let life = Pipe()

    /// Makes an identity; nothing runs yet.
    init(home: URL) throws {
        self.home = home
        folder = home.appendingPathComponent("shared", isDirectory: true)
        (listeningPort, controlPort) = (try Self.freePort(), try Self.freePort())
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent(".stfolder"), withIntermediateDirectories: true)
        let syncthing = try Self.found ?? { throw RecollectError(.notFound, "there is no syncthing here") }()
        let options = ["--no-default-folder", "--skip-port-probing"]
        _ = try Self.output(of: syncthing, ["generate", "--home=\(home.path)"] + options)
        id = try Self.output(of: syncthing, ["--home=\(home.path)", "--device-id"])
    }

    deinit { stop() }

    /// Ends the process, and waits for that.
    func stop() {
        // A pipe that is closed already has ended it.
        try? life.fileHandleForWriting.close()
        if process.isRunning { process.waitUntilExit() }
    }

    /// Where `syncthing` is installed; `nil` where it is not.
    static let found: URL? = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        .map { URL(fileURLWithPath: String($0)).appendingPathComponent("syncthing") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    /// Runs it, sharing its folder with others, until it answers.
    /// - Parameter delay: How many seconds after a change in its folder it looks there; `nil` if it looks only when asked to
    ///   (`scan`), so that a test decides what it sees together.
    func start(with others: [SyncthingDevice], watchingAfter delay: Int? = nil) async throws {
        try configuration(with: others, watchingAfter: delay).write(
            to: home.appendingPathComponent("config.xml"), atomically: true, encoding: .utf8)
        // No `wait`: signals that a shell waits for may be blocked in what a test starts.
        let guardian = """
            "$@" </dev/null & read -r _; kill -9 $!
            """
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let command = [Self.found?.path ?? "", "serve", "--home=\(home.path)", "--no-browser", "--no-upgrade"]
        process.arguments = ["-c", guardian, "sh"] + command
        // As if monitored: one process that ends when it is told to, instead of two.
        process.environment = ProcessInfo.processInfo.environment.merging(["STMONITORED": "yes", "GOMAXPROCS": "2"]) {
            $1
        }
        process.standardInput = life
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        // Minutes, for what takes a second where nobody else works.
        for _ in 0..<6_000 where process.isRunning {
            if (try? await ask("GET", "system/ping")) != nil { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw RecollectError(.timedOut, "syncthing did not start")
    }

    // MARK: What it is told and asked

    /// Looks at the folder now, and returns when it has.
    func scan() async throws {
        try await ask("POST", "db/scan?folder=\(Self.folderId)")
    }

    /// Stops or begins again to talk to another device; both go on looking at their folders.
    func setPaused(_ isPaused: Bool, _ other: SyncthingDevice) async throws {
        try await ask("POST", "system/\(isPaused ? "pause" : "resume")?device=\(other.id)")
    }

    /// Whether it talks to another device now.
    func isConnected(to other: SyncthingDevice) async throws -> Bool {
        try await ask("GET", "system/connections")["connections"]?[other.id]?["connected"] == true
    }

    /// Whether it neither does anything nor knows of anything to be done.
    func isIdle() async throws -> Bool {
        let status = try await ask("GET", "db/status?folder=\(Self.folderId)")
        return status["state"] == "idle" && status["needTotalItems"] == 0
    }

    /// Returns when something has happened since an event, at the latest after a second. Returns the last event.
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

    // MARK: Making one

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

    /// A port that nobody listens at.
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
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
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
