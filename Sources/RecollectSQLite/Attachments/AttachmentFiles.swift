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

/// Attachments as files in `attachments/ab/abcdef….`.
struct AttachmentFiles: AttachmentSaving {
    let directory: URL
    /// The folders with durable names.
    private let durableFolders = DurableFolders()

    init(directory: URL) {
        self.directory = directory
    }

    func save(_ bytes: Data) throws -> String {
        let hash = Attachment.sha256(of: bytes)
        let folder = url(of: hash).deletingLastPathComponent()
        if isWhole(hash) {
            // Its writer may not have synced the name yet, or was killed before.
            try onDisk(folder, doing: "sync") {
                try OpenFolder(path: folder.path).synchronize()
                try synchronizeNames(of: folder)
            }
            return hash
        }
        // These bytes replace a damaged file, which also repairs older messages with this attachment.
        return try onDisk(folder, doing: "save an attachment in") {
            let open = try OpenFolder.make(path: folder.path)
            try synchronizeNames(of: folder)
            for attempt in 1... {
                do {
                    _ = try open.replace(hash) { try $0.write(Array(bytes), at: 0) }
                    break
                } catch let failure as POSIXFailure where failure.number == ENOENT && attempt < 3 {
                    // Its temporary file was treated as a leftover and removed.
                    continue
                }
            }
            return hash
        }
    }

    /// Syncs the names of a folder and of `attachments`. Another process may have just created them, or been killed
    /// before it synced them.
    private func synchronizeNames(of folder: URL) throws {
        for folder in [folder, directory] {
            try durableFolders.add(folder.path) {
                try OpenFolder(path: folder.deletingLastPathComponent().path).synchronize()
            }
        }
    }

    /// Turns the failure of a system call into an error. If a file has a folder's name, the error names it.
    private func onDisk<Result>(_ url: URL, doing action: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try HistoryFiles.onDisk(url, doing: action, body)
        } catch let error as RecollectError where error.code == .cannotOpen {
            let file = [directory, url].first {
                FileManager.default.fileExists(atPath: $0.path) && !HistoryFiles.isFolder($0.path)
            }
            guard let file else { throw error }
            throw RecollectError(
                .cannotOpen,
                "\(file.path) is not a folder, but attachments require a folder with that name; it was left unchanged; "
                    + "move it away and try again", cause: error.cause)
        }
    }

    func read(_ sha256: String) throws -> Data {
        // A name from a row or a caller is used in a path only if it is a hash.
        guard Attachment.isHash(sha256) else { throw Attachment.missing(sha256) }
        let bytes: Data
        do {
            bytes = try Data(contentsOf: url(of: sha256))
        } catch {
            throw RecollectError(.notFound, "the attachment \(sha256) is not in this store", cause: error)
        }
        guard Attachment.sha256(of: bytes) == sha256 else {
            throw RecollectError(.damaged, "the attachment \(url(of: sha256).path) does not match its hash")
        }
        return bytes
    }

    func has(_ sha256: String) -> Bool {
        Attachment.isHash(sha256) && access(url(of: sha256).path, R_OK) == 0
    }

    /// Whether the file of a hash has the bytes of its name.
    private func isWhole(_ sha256: String) -> Bool {
        guard has(sha256), let bytes = try? Data(contentsOf: url(of: sha256)) else { return false }
        return Attachment.sha256(of: bytes) == sha256
    }

    func remove(_ sha256: String) throws {
        guard Attachment.isHash(sha256) else { return }
        let url = url(of: sha256)
        let folder = url.deletingLastPathComponent()
        try HistoryFiles.onDisk(url, doing: "remove the attachment") {
            do {
                let folder = try OpenFolder(path: folder.path)
                try folder.remove(sha256)
                try folder.synchronize()
            } catch let failure as POSIXFailure where failure.number == ENOENT || failure.number == ENOTDIR {
                return
            }
        }
    }

    func removeLeftovers(inFolder folder: Int) throws {
        let name = String(folder, radix: 16)
        let path = directory.appendingPathComponent(name.count == 1 ? "0" + name : name).path
        guard access(path, F_OK) == 0 else { return }
        try HistoryFiles.onDisk(URL(fileURLWithPath: path), doing: "clean up") {
            let folder = try OpenFolder(path: path)
            try folder.removeLeftovers(among: folder.names())
        }
    }

    /// Returns all stored attachments. Skips foreign files, recognized by other names.
    func all() throws -> [(hash: String, byteCount: Int)] {
        guard FileManager.default.fileExists(atPath: directory.path) else { return [] }
        return try onDisk(directory, doing: "list the attachments in") {
            try OpenFolder(path: directory.path).names().sorted().flatMap { name -> [(String, Int)] in
                let folder = directory.appendingPathComponent(name)
                guard name.utf8.count == 2, HistoryFiles.isFolder(folder.path) else { return [] }
                return try OpenFolder(path: folder.path).names().filter(Attachment.isHash)
                    .map { ($0, OpenFile.size(at: url(of: $0).path)) }
            }
        }
    }

    private func url(of hash: String) -> URL {
        directory.appendingPathComponent(String(hash.prefix(2))).appendingPathComponent(hash)
    }
}

/// The folders known by one store to have durable names.
private final class DurableFolders: Sendable {
    private let known = Locked<Set<FileID>>([])

    /// Adds a folder after syncing its name, unless it is known.
    func add(_ path: String, synchronizing synchronize: () throws -> Void) throws {
        guard let id = FileID(at: path), !known.withLock({ $0.contains(id) }) else { return }
        try synchronize()
        known.withLock { _ = $0.insert(id) }
    }
}

/// Attachments of a history in memory.
final class AttachmentMemory: AttachmentSaving {
    private let kept = Locked<[String: Data]>([:])

    func save(_ bytes: Data) -> String {
        let hash = Attachment.sha256(of: bytes)
        kept.withLock { $0[hash] = bytes }
        return hash
    }

    func read(_ sha256: String) throws -> Data {
        guard let bytes = kept.withLock({ $0[sha256] }) else {
            throw Attachment.missing(sha256)
        }
        return bytes
    }

    func has(_ sha256: String) -> Bool { kept.withLock { $0[sha256] != nil } }

    func remove(_ sha256: String) { kept.withLock { $0[sha256] = nil } }

    func removeLeftovers(inFolder folder: Int) {}
}
