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

/// The environment of a recorded workload: its folder, and calls to announce its changes.
///
/// An entry is any text to identify a stored message: its ID or, better, its ID and content, composed in the same
/// way by the workload and by `CrashScenario.reopen`. A list has an order of its own, like a scope or a session.
/// Each entry is added to a list once.
public final class CrashRun: Sendable {
    /// The folder of the workload's store.
    public let folder: URL

    private let recorder: FileRecorder
    private let changes = Locked(0)
    private let process: Int

    init(folder: URL, recorder: FileRecorder, process: Int = 0) {
        self.folder = folder
        self.recorder = recorder
        self.process = process
    }

    /// Declares entries saved by `CrashScenario.prepare`, in this order, before the recording.
    public func declareExisting(_ entries: [String], in list: String) {
        recorder.note(.existing(list: list, entries: entries))
    }

    /// Declares entries on intentionally damaged places. They may be lost, but the store must report it.
    public func allowLoss(of entries: [String], in list: String) {
        recorder.note(.allowedLoss(list: list, entries: entries))
    }

    /// Performs a change of the store.
    ///
    /// Until `body` returns, the change may be present or absent, as a whole. Afterwards it must be present. If
    /// `body` throws, both are valid.
    ///
    /// - Parameters:
    ///   - list: The changed list.
    ///   - adding: The entries to add, in this order, all or none.
    ///   - removing: The entries to remove.
    ///   - words: Words of the removed entries. They must be in no file after all of these entries are gone.
    ///   - body: Makes the change.
    public func change<Result>(
        _ list: String, adding: [String] = [], removing: [String] = [], erasing words: [String] = [],
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        let number = changes.withLock { changes in
            changes += 1
            return changes
        }
        let change = "\(process)-\(number)"
        recorder.note(.began(change: change, list: list, adding: adding, removing: removing, words: words))
        let result = try await body()
        recorder.note(.ended(change: change))
        return result
    }

    /// Overwrites bytes of a file, bypassing the store, as damage or another program does.
    public func overwrite(_ name: String, at offset: Int, with bytes: [UInt8]) throws {
        try OpenFolder(path: folder.path).file(name, forWriting: true).write(bytes, at: offset)
    }

    /// Removes a file, bypassing the store.
    public func remove(_ name: String) throws {
        try OpenFolder(path: folder.path).remove(name)
    }

    /// Gives a signal, for other processes of the run to wait for.
    public func signal(_ name: String) {
        recorder.note(.signal(name))
    }

    /// Waits for a signal of another process. That process's operations come first. In a run of one process,
    /// returns at once.
    public func wait(for name: String) async {
        await withCheckedContinuation { continuation in
            // Polling blocks, so it must not occupy a cooperative thread. Between two polls, other operations of
            // this process run.
            Thread.detachNewThread { [recorder] in
                while !recorder.isGiven(name) { usleep(500) }
                continuation.resume()
            }
        }
    }
}
