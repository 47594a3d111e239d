import Dispatch
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

/// The writers of streaming replies: each process has a lock file `writers/<UUID>.lock`, and holds its lock from
/// its first streaming reply until the last has ended.
///
/// A streaming reply names its writer. The system releases the lock of an ended process, however it ended. A
/// stopped process keeps its lock. So if another process can acquire the lock, the writer cannot finish its replies
/// any more, and they are saved as interrupted.
///
/// Lock files are created, and replies of other writers saved, only inside write transactions and thus under the
/// process lock: no process sees a file between its creation and its locking, and no two processes save the same
/// reply. All methods block.
final class ReplyWriterLocks: Sendable {
    private struct Held {
        let writer: String
        let file: OpenFile
        var replyCount = 0
    }

    private let folder: URL
    private let held = Locked<Held?>(nil)

    /// Creates the writers of a history.
    /// - Parameter folder: The folder of the lock files, created with the first.
    init(folder: URL) {
        self.folder = folder
    }

    /// Acquires this process's lock for one more reply. In a write transaction.
    func enter() throws -> ReplyWriterLock {
        let writer = try held.withLock { held in
            // A lock on a deleted file protects no reply.
            if let writer = held?.writer, hasEnded(writer) { held = nil }
            var now = try held ?? lockNewFile()
            now.replyCount += 1
            held = now
            return now.writer
        }
        return ReplyWriterLock(writer: writer, of: self)
    }

    /// Releases the lock if this was its last reply.
    fileprivate func leave(_ writer: String) {
        held.withLock { held in
            guard let now = held, now.writer == writer else { return }
            held?.replyCount -= 1
            guard now.replyCount == 1 else { return }
            // A remaining file does no harm. The next opening removes it.
            try? remove(writer)
            held = nil
        }
    }

    private func lockNewFile() throws -> Held {
        try HistoryFiles.onDisk(folder, doing: "lock a file in") {
            let history = try OpenFolder(path: folder.deletingLastPathComponent().path)
            try history.makeFolder(folder.lastPathComponent)
            let writer = UUID.random().uuidString
            let file = try history.folder(folder.lastPathComponent).makeFile(Self.file(of: writer))
            guard try file.lockIfFree() else { throw POSIXFailure(EWOULDBLOCK) }
            return Held(writer: writer, file: file)
        }
    }

    /// Whether the process of this writer has ended, or has no replies any more. False in doubt.
    func hasEnded(_ writer: String) -> Bool {
        // An invalid name belongs to no process, and is not used as a file name.
        guard Self.isName(writer) else { return true }
        do {
            return try open().file(Self.file(of: writer), forWriting: true).lockIfFree()
        } catch {
            return (error as? POSIXFailure)?.number == ENOENT
        }
    }

    /// Removes the lock file of an ended writer, if it exists.
    func remove(_ writer: String) throws {
        guard Self.isName(writer) else { return }
        do {
            try open().remove(Self.file(of: writer))
        } catch let failure as POSIXFailure where failure.number == ENOENT {
            return
        }
    }

    /// Returns the writers with a lock file, living or not. Ignores other files.
    func all() throws -> [String] {
        do {
            return try open().names().compactMap { name in
                guard name.hasSuffix(Self.suffix) else { return nil }
                let writer = String(name.dropLast(Self.suffix.count))
                return Self.isName(writer) ? writer : nil
            }
        } catch let failure as POSIXFailure where failure.number == ENOENT {
            return []
        }
    }

    /// Opens the folder of the lock files, without following links.
    private func open() throws -> OpenFolder {
        try OpenFolder(path: folder.deletingLastPathComponent().path).folder(folder.lastPathComponent)
    }

    private static let suffix = ".lock"

    private static func file(of writer: String) -> String { writer + suffix }

    private static func isName(_ writer: String) -> Bool {
        UUID(uuidString: writer)?.uuidString == writer
    }
}

/// One reply's share of its process's lock, from its beginning to its end.
final class ReplyWriterLock: Sendable {
    /// The name of the lock.
    let writer: String

    private let writers: ReplyWriterLocks
    private let hasEnded = Locked(false)
    private static let queue = DispatchQueue(label: "recollect.history.writers")

    fileprivate init(writer: String, of writers: ReplyWriterLocks) {
        self.writer = writer
        self.writers = writers
    }

    deinit {
        guard !hasEnded.withLock({ $0 }) else { return }
        Self.queue.async { [writers, writer] in writers.leave(writer) }
    }

    /// Ends the share once. At its return, the lock is released if this was the last one.
    func end() async {
        let isFirst = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        guard isFirst else { return }
        await Self.queue.run { [writers, writer] in writers.leave(writer) }
    }
}
