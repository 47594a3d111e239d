import Foundation
import RecollectCore
import RecollectFileSystem

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// One of several processes of a run. The program in `CrashProcess` calls it and does no other work.
///
/// ```swift
/// try await CrashWorker.run(in: folder) { run in
///     try await run.change("chat", adding: ["m1"]) { try await store.save(…) }
/// }
/// ```
public enum CrashWorker {
    /// Runs a workload, with each operation waiting for the explorer's permission.
    ///
    /// Communicates over standard input and output. The program must not use these otherwise.
    ///
    /// - Parameters:
    ///   - folder: The run's folder, the last argument of the program.
    ///   - workload: The operations of the worker.
    public static func run(
        in folder: URL, _ workload: @Sendable (CrashRun) async throws -> Void
    ) async throws {
        let gate = WorkerGate()
        let recorder = try FileRecorder(root: folder, gate: gate)
        try recorder.start()
        try await workload(
            CrashRun(folder: folder, recorder: recorder, process: Int(ProcessInfo.processInfo.processIdentifier)))
        // Background work is either recorded or does not happen: the process ends here.
        recorder.finish()
        exit(0)
    }
}

/// A message between a worker and the schedule: a length, JSON, another length, and bytes.
struct WorkerMessage: Codable, Sendable {
    enum Kind: String, Codable, Sendable {
        /// A request to perform an operation.
        case request
        /// A query for the signal in `wait`.
        case ask
        /// A recorded step of an operation.
        case entry
        /// The end of an operation.
        case finished
    }

    var kind: Kind
    var wait: String?
    var entry: RecordedStep?

    func write(to descriptor: Int32) throws {
        let head = try JSONEncoder().encode(self)
        let bytes = entry?.bytes ?? []
        var frame = Data()
        for part in [Data(head), Data(bytes)] {
            withUnsafeBytes(of: UInt32(part.count).bigEndian) { frame.append(contentsOf: $0) }
            frame.append(part)
        }
        try frame.withUnsafeBytes { buffer in
            var written = 0
            while written < buffer.count, let start = buffer.baseAddress {
                let count = Self.writeBytes(descriptor, start + written, buffer.count - written)
                guard count > 0 else { throw POSIXFailure.last }
                written += count
            }
        }
    }

    private static func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int {
        #if canImport(Darwin)
            Darwin.write(descriptor, start, count)
        #elseif canImport(Musl)
            Musl.write(descriptor, start, count)
        #else
            Glibc.write(descriptor, start, count)
        #endif
    }

    /// Returns the next message; `nil` at the end.
    static func read(from descriptor: Int32) throws -> WorkerMessage? {
        guard let head = try readPart(descriptor), let bytes = try readPart(descriptor) else { return nil }
        var message = try JSONDecoder().decode(WorkerMessage.self, from: head)
        message.entry?.bytes = Array(bytes)
        return message
    }

    private static func readPart(_ descriptor: Int32) throws -> Data? {
        guard let length = readBytes(descriptor, count: 4) else { return nil }
        return readBytes(descriptor, count: length.reduce(0) { $0 << 8 | Int($1) })
    }

    /// Returns `count` bytes; `nil` if the other side has ended.
    static func readBytes(_ descriptor: Int32, count: Int) -> Data? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.map { systemRead(descriptor, $0 + filled, count - filled) } ?? 0
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return nil }
            filled += got
        }
        return Data(bytes)
    }

    private static func systemRead(_ descriptor: Int32, _ start: UnsafeMutableRawPointer, _ count: Int) -> Int {
        #if canImport(Darwin)
            Darwin.read(descriptor, start, count)
        #elseif canImport(Musl)
            Musl.read(descriptor, start, count)
        #else
            Glibc.read(descriptor, start, count)
        #endif
    }
}

/// The worker's connection to the schedule. Only the thread with the recorder's turn calls it.
private struct WorkerGate: RecordingGate {
    func request() {
        send(WorkerMessage(kind: .request))
        _ = answer()
    }

    func isGiven(_ signal: String) -> Bool {
        send(WorkerMessage(kind: .ask, wait: signal))
        return answer() == 1
    }

    private func answer() -> UInt8 {
        guard let byte = WorkerMessage.readBytes(STDIN_FILENO, count: 1)?.first else { exit(3) }
        return byte
    }

    func finish(_ entries: [RecordedStep]) {
        for entry in entries { send(WorkerMessage(kind: .entry, entry: entry)) }
        send(WorkerMessage(kind: .finished))
    }

    /// Exits if the explorer has ended.
    private func send(_ message: WorkerMessage) {
        do { try message.write(to: STDOUT_FILENO) } catch { exit(3) }
    }
}
