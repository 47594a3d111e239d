import Dispatch
import Foundation
import RecollectCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Who writes replies: a lock file `writers/<UUID>.lock` for each process, which it holds from its first reply in flight until the
/// last has ended.
///
/// A draft names its writer. The system lets go of the lock when the process ends, however it ends, and of no other's: a stopped
/// process keeps its lock. So whoever can take the lock knows that nobody will finish the writer's drafts, and saves them.
///
/// Lock files are made, and drafts of others saved, inside write transactions alone, hence under the process lock: nobody sees a
/// file between its making and its locking, and no two processes save the same draft. Everything here blocks.
final class ReplyWriters: Sendable {
    private struct Held {
        let writer: String
        let file: OpenFile
        var leases = 0
    }

    private let folder: URL
    private let held = Locked<Held?>(nil)

    /// - Parameter folder: the folder of the locks, made with the first.
    init(folder: URL) {
        self.folder = folder
    }

    /// Holds this process's lock for one reply more. In a write transaction.
    func enter() throws -> ReplyLease {
        let writer = try held.withLock { held in
            // A lock whose file somebody removed protects nobody.
            if let writer = held?.writer, hasEnded(writer) { held = nil }
            var now = try held ?? lockNewFile()
            now.leases += 1
            held = now
            return now.writer
        }
        return ReplyLease(writer: writer, of: self)
    }

    /// Lets go of a lock if this was its last reply.
    fileprivate func leave(_ writer: String) {
        held.withLock { held in
            guard let now = held, now.writer == writer else { return }
            held?.leases -= 1
            guard now.leases == 1 else { return }
            // A file that stays behind is in nobody's way; the next opening removes it.
            try? remove(writer)
            held = nil
        }
    }

    private func lockNewFile() throws -> Held {
        try HistoryFiles.onDisk(folder, doing: "lock a file in") {
            let history = try OpenFolder(path: folder.deletingLastPathComponent().path)
            try history.makeFolder(folder.lastPathComponent)
            let writer = UUID().uuidString
            let file = try history.folder(folder.lastPathComponent).makeFile(Self.file(of: writer))
            guard try file.lockIfFree() else { throw POSIXFailure(EWOULDBLOCK) }
            return Held(writer: writer, file: file)
        }
    }

    /// Whether the process of that name has ended, or has no replies any more. In doubt it has not.
    func hasEnded(_ writer: String) -> Bool {
        // A name that we did not give is nobody's, and no name of a file.
        guard Self.isName(writer) else { return true }
        do {
            return try open().file(Self.file(of: writer), forWriting: true).lockIfFree()
        } catch {
            return (error as? POSIXFailure)?.number == ENOENT
        }
    }

    /// Removes the lock file of a writer that has ended, if it is there.
    func remove(_ writer: String) throws {
        guard Self.isName(writer) else { return }
        do {
            try open().remove(Self.file(of: writer))
        } catch let failure as POSIXFailure where failure.number == ENOENT {
            return
        }
    }

    /// The writers that have a lock file, living or not; names of other files are left out.
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

    /// Opens the folder of the locks, and nothing that a link leads to.
    private func open() throws -> OpenFolder {
        try OpenFolder(path: folder.deletingLastPathComponent().path).folder(folder.lastPathComponent)
    }

    private static let suffix = ".lock"

    private static func file(of writer: String) -> String { writer + suffix }

    private static func isName(_ writer: String) -> Bool {
        UUID(uuidString: writer)?.uuidString == writer
    }
}

/// One reply's part in its process's lock, from its beginning to its end.
final class ReplyLease: Sendable {
    /// The name of the lock.
    let writer: String

    private let writers: ReplyWriters
    private let hasEnded = Locked(false)
    private static let queue = DispatchQueue(label: "recollect.history.writers")

    fileprivate init(writer: String, of writers: ReplyWriters) {
        self.writer = writer
        self.writers = writers
    }

    deinit {
        guard !hasEnded.withLock({ $0 }) else { return }
        Self.queue.async { [writers, writer] in writers.leave(writer) }
    }

    /// Ends the lease, once; when this returns the lock is gone if this was the last.
    func end() async {
        let isFirst = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        guard isFirst else { return }
        await withCheckedContinuation { continuation in
            Self.queue.async { [writers, writer] in
                writers.leave(writer)
                continuation.resume()
            }
        }
    }
}
