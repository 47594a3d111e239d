import Foundation
import RecollectCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The bytes of attachments, each once, in a file named after its SHA-256 beside the database.
///
/// All functions block. A file is there, whole and on the disk, before a row names it; it goes after the last row is gone.
protocol AttachmentKeeping: Sendable {
    /// Keeps bytes and returns their hash; bytes that are kept already are not written again.
    func keep(_ bytes: Data) throws -> String
    /// The bytes of that hash, verified.
    func read(_ sha256: String) throws -> Data
    /// Whether they are kept.
    func has(_ sha256: String) -> Bool
    /// Removes them if they are kept.
    func remove(_ sha256: String) throws
    /// Removes what interrupted saves left in one of the folders, 0 to 255.
    func removeLeftovers(inFolder folder: Int) throws
}

extension ConversationMessage {
    /// The message with every inline attachment kept by hash. Blocks; the bytes are on the disk when this returns.
    func keepingAttachments(in attachments: any AttachmentKeeping) throws -> ConversationMessage {
        try mappingAttachments { content in
            guard case .inline(let bytes) = content else { return content }
            return .stored(sha256: try attachments.keep(bytes), byteCount: bytes.count)
        }
    }
}

/// Attachments as files in `attachments/ab/abcdef….`.
struct AttachmentFiles: AttachmentKeeping {
    let directory: URL
    /// The folders with durable names.
    private let durableFolders = DurableFolders()

    init(directory: URL) {
        self.directory = directory
    }

    func keep(_ bytes: Data) throws -> String {
        let hash = Attachment.sha256(of: bytes)
        let folder = url(of: hash).deletingLastPathComponent()
        if isWhole(hash) {
            // Its writer may not have synced the name yet, or was killed before that.
            try onDisk(folder, doing: "synchronise") {
                try OpenFolder(path: folder.path).synchronize()
                try synchronizeNames(of: folder)
            }
            return hash
        }
        // A damaged file gives way to these bytes, which also repairs older messages with this attachment.
        return try onDisk(folder, doing: "keep an attachment in") {
            let open = try OpenFolder.make(path: folder.path)
            try synchronizeNames(of: folder)
            for attempt in 1... {
                do {
                    _ = try open.replace(hash) { try $0.write(Array(bytes), at: 0) }
                    break
                } catch let failure as POSIXFailure where failure.number == ENOENT && attempt < 3 {
                    // Its temporary file was taken for a leftover and removed.
                    continue
                }
            }
            return hash
        }
    }

    /// Writes the names of a folder and of `attachments` to the disk. Another process may have made them a moment ago, or been killed
    /// before it synced them.
    private func synchronizeNames(of folder: URL) throws {
        for folder in [folder, directory] {
            try durableFolders.add(folder.path) {
                try OpenFolder(path: folder.deletingLastPathComponent().path).synchronize()
            }
        }
    }

    /// Turns the failure of a system call into an error. Where a file has a folder's name, the error names it.
    private func onDisk<Result>(_ place: URL, doing action: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try HistoryFiles.onDisk(place, doing: action, body)
        } catch let error as RecollectError where error.code == .cannotOpen {
            let file = [directory, place].first {
                FileManager.default.fileExists(atPath: $0.path) && !HistoryFiles.isFolder($0.path)
            }
            guard let file else { throw error }
            throw RecollectError(
                .cannotOpen,
                "\(file.path) is not a folder, and attachments are kept in a folder of that name; it was left untouched; "
                    + "move it away and try again", cause: error.cause)
        }
    }

    func read(_ sha256: String) throws -> Data {
        guard Self.isHash(sha256) else {
            throw RecollectError(.invalidArgument, "\(sha256.prefix(80)) is not the SHA-256 of an attachment")
        }
        let bytes: Data
        do {
            bytes = try Data(contentsOf: url(of: sha256))
        } catch {
            throw RecollectError(.notFound, "the attachment \(sha256) is not kept here", cause: error)
        }
        guard Attachment.sha256(of: bytes) == sha256 else {
            throw RecollectError(.damaged, "the attachment \(url(of: sha256).path) no longer has the bytes of its name")
        }
        return bytes
    }

    func has(_ sha256: String) -> Bool {
        Self.isHash(sha256) && access(url(of: sha256).path, R_OK) == 0
    }

    /// Whether the file of a hash has the bytes of its name.
    private func isWhole(_ sha256: String) -> Bool {
        guard has(sha256), let bytes = try? Data(contentsOf: url(of: sha256)) else { return false }
        return Attachment.sha256(of: bytes) == sha256
    }

    func remove(_ sha256: String) throws {
        guard Self.isHash(sha256) else { return }
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
        try HistoryFiles.onDisk(URL(fileURLWithPath: path), doing: "tidy") {
            let folder = try OpenFolder(path: path)
            try folder.removeLeftovers(among: folder.names())
        }
    }

    /// Every attachment that is kept. Files of other names are not Recollect's and are passed over.
    func all() throws -> [(hash: String, byteCount: Int)] {
        guard FileManager.default.fileExists(atPath: directory.path) else { return [] }
        return try onDisk(directory, doing: "list the attachments in") {
            try OpenFolder(path: directory.path).names().sorted().flatMap { name -> [(String, Int)] in
                let folder = directory.appendingPathComponent(name)
                guard name.utf8.count == 2, HistoryFiles.isFolder(folder.path) else { return [] }
                return try OpenFolder(path: folder.path).names().filter(Self.isHash)
                    .map { ($0, HistoryCheck.size(of: url(of: $0).path)) }
            }
        }
    }

    private func url(of hash: String) -> URL {
        directory.appendingPathComponent(String(hash.prefix(2))).appendingPathComponent(hash)
    }

    /// A name that comes from a row or a caller becomes a path only if it is a hash.
    static func isHash(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}

/// The folders with durable names, as far as one store knows.
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
final class AttachmentMemory: AttachmentKeeping {
    private let kept = Locked<[String: Data]>([:])

    func keep(_ bytes: Data) -> String {
        let hash = Attachment.sha256(of: bytes)
        kept.withLock { $0[hash] = bytes }
        return hash
    }

    func read(_ sha256: String) throws -> Data {
        guard let bytes = kept.withLock({ $0[sha256] }) else {
            throw RecollectError(.notFound, "the attachment \(sha256) is not kept here")
        }
        return bytes
    }

    func has(_ sha256: String) -> Bool { kept.withLock { $0[sha256] != nil } }

    func remove(_ sha256: String) { kept.withLock { $0[sha256] = nil } }

    func removeLeftovers(inFolder folder: Int) {}
}
