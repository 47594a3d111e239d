import CRecordingVFS
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

/// A gate for this process's operations, controlled by a scheduler of several processes.
protocol RecordingGate: Sendable {
    /// Blocks until the next operation may run.
    func request()
    /// Whether another process has given a signal.
    func isGiven(_ signal: String) -> Bool
    /// Reports the end of an operation, with its recorded steps.
    func finish(_ entries: [RecordedStep])
}

/// Records, in one total order, all operations on the files of a folder by SQLite or Recollect's own code in this
/// process.
///
/// `@unchecked Sendable`: `turn` guards the entries. It is held from before an operation until after its recording.
final class FileRecorder: FileObserver, @unchecked Sendable {
    /// The folder's path, without symbolic links.
    let root: String

    private let gate: (any RecordingGate)?
    private let turn = NSLock()
    private var entries: [RecordedStep] = []
    private var unsent = 0
    private let pauses: Locked<SeededGenerator>?

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - pauses: Draws the operations to pause before, so that other threads' operations come between; `nil` for
    ///     none.
    ///   - gate: The gate each operation waits at; `nil` in a run of one process.
    init(root: URL, pauses: SeededGenerator? = nil, gate: (any RecordingGate)? = nil) throws {
        self.root = try Self.canonicalPath(root.path)
        self.gate = gate
        self.pauses = pauses.map { Locked($0) }
    }

    /// The steps recorded so far.
    var journal: [RecordedStep] {
        turn.lock()
        defer { turn.unlock() }
        return entries
    }

    /// Records a note of the workload.
    func note(_ note: CrashNote) {
        begin()
        record(RecordedStep(action: .note, note: note))
        end()
    }

    /// Whether another process has given a signal; always `true` in a run of one process.
    func isGiven(_ signal: String) -> Bool {
        turn.lock()
        defer { turn.unlock() }
        return gate?.isGiven(signal) ?? true
    }

    /// Blocks all further operations.
    func finish() {
        turn.lock()
    }

    // MARK: Recollect's own operations

    func willPerform(_ operation: FileOperation) -> Bool {
        guard relative(operation.path) != nil else { return false }
        begin()
        return true
    }

    func didPerform(_ operation: FileOperation, succeeded: Bool) {
        if succeeded, let entry = entry(operation) { record(entry) }
        end()
        // Holding a lock longer reveals threads not excluded by it.
        if case .lock = operation { pause(oneIn: 2, microseconds: 2000) }
    }

    private func entry(_ operation: FileOperation) -> RecordedStep? {
        guard let path = relative(operation.path) else { return nil }
        switch operation {
        case .makeFolder: return RecordedStep(action: .makeFolder, path: path)
        case .makeFile(let path): return entry(.makeFile, path, file: Self.identity(at: path))
        case .write(let descriptor, let path, let offset, let bytes):
            return entry(.write, path, file: Self.identity(of: descriptor), number: offset, bytes: bytes)
        case .truncate(let descriptor, let path, let size):
            return entry(.truncate, path, file: Self.identity(of: descriptor), number: size)
        case .synchronizeFile(let descriptor, let path):
            return entry(.syncFile, path, file: Self.identity(of: descriptor))
        case .synchronizeFolder: return RecordedStep(action: .syncFolder, path: path)
        case .rename(_, let target): return RecordedStep(action: .rename, path: path, target: relative(target) ?? "")
        case .link(_, let target): return RecordedStep(action: .link, path: path, target: relative(target) ?? "")
        case .remove: return RecordedStep(action: .remove, path: path)
        case .lock(_, let holder): return RecordedStep(action: .lock, path: path, number: Int(holder))
        case .unlock(_, let holder): return RecordedStep(action: .unlock, path: path, number: Int(holder))
        }
    }

    private func entry(
        _ action: RecordedStep.Action, _ path: String, file: FileIdentity?, number: Int = 0, bytes: [UInt8] = []
    ) -> RecordedStep? {
        guard let path = relative(path), let file else { return nil }
        return RecordedStep(action: action, path: path, file: file, number: number, bytes: bytes)
    }

    // MARK: SQLite's operations

    fileprivate func records(_ path: String) -> Bool { relative(path) != nil }

    fileprivate func record(_ operation: recollect_file_operation) {
        guard let pointer = operation.path, let path = relative(String(cString: pointer)) else { return }
        let file = FileIdentity(device: operation.device, inode: operation.inode)
        let number = Int(operation.offset)
        switch UInt32(operation.action) {
        case RECOLLECT_FILE_MADE.rawValue: record(RecordedStep(action: .makeFile, path: path, file: file))
        case RECOLLECT_FILE_WRITTEN.rawValue:
            let bytes = [UInt8](UnsafeRawBufferPointer(start: operation.bytes, count: Int(operation.count)))
            record(RecordedStep(action: .write, path: path, file: file, number: number, bytes: bytes))
        case RECOLLECT_FILE_TRUNCATED.rawValue:
            record(RecordedStep(action: .truncate, path: path, file: file, number: number))
        case RECOLLECT_FILE_SYNCED.rawValue: record(RecordedStep(action: .syncFile, path: path, file: file))
        case RECOLLECT_FOLDER_SYNCED.rawValue:
            record(RecordedStep(action: .syncFolder, path: DiskImage.parent(of: path)))
        default: record(RecordedStep(action: .remove, path: path))
        }
    }

    // MARK: Turns

    fileprivate func begin() {
        pause(oneIn: 16, microseconds: 400)
        turn.lock()
        gate?.request()
    }

    private func pause(oneIn count: Int, microseconds: UInt32) {
        guard let pauses, pauses.withLock({ Int.random(in: 0..<count, using: &$0) }) == 0 else { return }
        usleep(microseconds)
    }

    private func record(_ entry: RecordedStep) { entries.append(entry) }

    fileprivate func end() {
        if let gate {
            gate.finish(Array(entries[unsent...]))
            unsent = entries.count
        }
        turn.unlock()
    }

    // MARK: Paths

    /// Returns a path relative to the root; `nil` for a path outside.
    private func relative(_ path: String) -> String? {
        if path == root { return "" }
        let url = URL(fileURLWithPath: path)
        guard let folder = try? Self.canonicalPath(url.deletingLastPathComponent().path) else { return nil }
        let canonical = folder + "/" + url.lastPathComponent
        guard canonical != root else { return "" }
        return canonical.hasPrefix(root + "/") ? String(canonical.dropFirst(root.count + 1)) : nil
    }

    private static func canonicalPath(_ path: String) throws -> String {
        guard let resolved = realpath(path, nil) else { throw POSIXFailure.last }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    static func identity(at path: String) -> FileIdentity? {
        var status = stat()
        return lstat(path, &status) == 0 ? FileIdentity(status) : nil
    }

    private static func identity(of descriptor: Int32) -> FileIdentity? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? FileIdentity(status) : nil
    }
}

extension FileIdentity {
    fileprivate init(_ status: stat) {
        self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}

// MARK: One recording at a time

extension FileRecorder {
    private static let current = Locked<FileRecorder?>(nil)

    /// Installs this recorder in the process, replacing any other. Files already open in SQLite are not recorded.
    func start() throws {
        Self.current.withLock { $0 = self }
        FileObservation.observe(with: self)
        // C calls these without a context. Only one recorder is installed, and it ignores files of other folders.
        var recorder = recollect_file_recorder(
            records: { path in
                guard let path, let recorder = FileRecorder.installed else { return 0 }
                return recorder.records(String(cString: path)) ? 1 : 0
            },
            begin: { FileRecorder.installed?.begin() },
            record: { operation in
                if let operation { FileRecorder.installed?.record(operation.pointee) }
            },
            end: { FileRecorder.installed?.end() })
        let result = recollect_record_files(&recorder)
        guard result == 0 else {
            stop()
            throw RecollectError(.cannotOpen, "cannot record the files of SQLite [\(result)]")
        }
    }

    /// Ends the recording. All files opened meanwhile must be closed.
    func stop() {
        FileObservation.observe(with: nil)
        _ = recollect_stop_recording_files()
        // An operation already begun is recorded to its end.
        turn.lock()
        defer { turn.unlock() }
        Self.current.withLock { $0 = nil }
    }

    private static var installed: FileRecorder? { current.withLock { $0 } }
}
