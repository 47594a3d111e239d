import Foundation
import RecollectCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// What a recorded workload works with: its folder, and the ways to say what it does.
///
/// An entry is any text that tells a stored message apart: its id, or better its id and its content, made the same way by the
/// workload and by `CrashScenario.reopen`. A list is what keeps an order of its own: a scope, a session. Each entry is added to
/// a list once.
public final class CrashRun: Sendable {
    /// Where the workload's store lies.
    public let folder: URL

    private let recorder: FileRecorder
    private let changes = Locked(0)
    private let process: Int

    init(folder: URL, recorder: FileRecorder, process: Int = 0) {
        self.folder = folder
        self.recorder = recorder
        self.process = process
    }

    /// Says that the store held entries, in this order, before anything was recorded: `CrashScenario.prepare` put them there.
    public func holds(_ entries: [String], in list: String) {
        recorder.note(.holds(list: list, entries: entries))
    }

    /// Says that entries lie where the store was damaged on purpose: they may be lost, but not without a word.
    public func mayLose(_ entries: [String], in list: String) {
        recorder.note(.mayLose(list: list, entries: entries))
    }

    /// Runs a change of the store. Until it returns, the change may have happened or not, whole; afterwards it must have. If it
    /// throws, either is right.
    /// - Parameters:
    ///   - list: The list that is changed.
    ///   - adding: Entries that it adds, in this order, all or none.
    ///   - removing: Entries that it removes.
    ///   - erasing: Words of the removed entries that must be in no file when all of those entries are gone.
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

    /// Changes bytes of a file behind the store's back, as damage or another program does.
    public func overwrite(_ name: String, at offset: Int, with bytes: [UInt8]) throws {
        try OpenFolder(path: folder.path).file(name, forWriting: true).write(bytes, at: offset)
    }

    /// Removes a file behind the store's back.
    public func remove(_ name: String) throws {
        try OpenFolder(path: folder.path).remove(name)
    }

    /// Gives a signal that other processes of the run may wait for.
    public func signal(_ name: String) {
        recorder.note(.signal(name))
    }

    /// Waits until another process has given a signal; its operations come first. In a run of one process it returns at once.
    public func wait(for name: String) async {
        await withCheckedContinuation { continuation in
            // Asking blocks, and must not keep a cooperative thread; between two questions others of this process go on.
            Thread.detachNewThread { [recorder] in
                while !recorder.isGiven(name) { usleep(500) }
                continuation.resume()
            }
        }
    }
}
