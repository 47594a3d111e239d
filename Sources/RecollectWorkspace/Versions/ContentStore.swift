import Foundation
import RecollectCore
import RecollectFileSystem

/// The contents of an archive, each in a file named by its hash: `objects/ab/cdef…`.
///
/// A file with such a name is complete: content is written under another name, and renamed after it has reached
/// the disk. Calls that change files require the archive's lock. All calls block.
struct ContentStore {
    /// The archive's folder.
    private let folder: OpenFolder

    init(in folder: OpenFolder) {
        self.folder = folder
    }

    /// Returns the bytes of content; `nil` if it is not in the archive.
    /// - Throws: `damaged` if its file has other bytes.
    func bytes(of hash: ContentHash) throws -> [UInt8]? {
        try nilIfMissing {
            let hashFolder = try folder.folder(Self.name).folder(hash.folderName)
            let file = try hashFolder.file(hash.fileName, forWriting: false)
            let bytes = try file.readAll()
            guard ContentHash(of: bytes) == hash else {
                throw RecollectError(
                    .damaged, "the content of \(hashFolder.path(of: hash.fileName)) does not match its hash")
            }
            return bytes
        }
    }

    /// Returns the size of content in bytes; `nil` if it is not in the archive.
    func size(of hash: ContentHash) throws -> Int? {
        try nilIfMissing { try folder.folder(Self.name).folder(hash.folderName).entry(hash.fileName)?.size } ?? nil
    }

    /// Saves contents. No later write reaches the disk before them.
    ///
    /// Many contents are written first and synced together, in about the time for one.
    func save(_ contents: [ContentHash: [UInt8]]) throws {
        guard !contents.isEmpty else { return }
        let isTogether = contents.count >= Self.batchSyncThreshold && OpenFolder.canSynchronizeFileSystem
        let (objects, isNew) = try made(Self.name, in: folder)
        if isNew, !isTogether { try folder.orderWrites() }
        var hasNewFolders = false
        var staged: [ContentHash: String] = [:]
        do {
            for (name, hashes) in Self.folders(of: contents.keys) {
                let (hashFolder, isNew) = try made(name, in: objects)
                if isNew { hasNewFolders = true }
                for hash in hashes {
                    guard let bytes = contents[hash], try !Self.holds(bytes, hash.fileName, in: hashFolder) else {
                        continue
                    }
                    staged[hash] =
                        try hashFolder.stage { file in
                            try file.write(bytes, at: 0)
                            if !isTogether { try file.orderWrites() }
                        }.name
                }
            }
            guard !staged.isEmpty else { return }
            if isTogether { try folder.synchronizeFileSystem() }
            for (name, hashes) in Self.folders(of: staged.keys) {
                let hashFolder = try objects.folder(name)
                for hash in hashes {
                    if let name = staged[hash] { try hashFolder.rename(name, to: hash.fileName) }
                }
                if !isTogether { try hashFolder.orderWrites() }
            }
            // The names of new folders reach the disk last: a file system with one journal has written them by now.
            if !isTogether, hasNewFolders { try objects.orderWrites() }
            if isTogether { try folder.synchronizeFileSystem() }
        } catch {
            for (hash, name) in staged { try? objects.folder(hash.folderName).remove(name) }
            // A later save finds the new folders and does not sync their names. The caller gets the first error.
            if !isTogether, hasNewFolders { try? objects.orderWrites() }
            throw error
        }
    }

    /// Returns the number of contents, and their total size in bytes.
    func size() throws -> (contents: Int, bytes: Int) {
        var size = (contents: 0, bytes: 0)
        try forEachFolder { prefix, hashFolder, names in
            for name in names where ContentHash(hexadecimal: prefix + name) != nil {
                guard let entry = try hashFolder.entry(name) else { continue }
                size.contents += 1
                size.bytes += entry.size
            }
        }
        return size
    }

    /// Returns all contents, each with the date of its last write.
    func all() throws -> [ContentHash: Date] {
        var all: [ContentHash: Date] = [:]
        try forEachFolder { prefix, hashFolder, names in
            for name in names {
                guard let hash = ContentHash(hexadecimal: prefix + name) else { continue }
                all[hash] = try hashFolder.entry(name)?.modified
            }
        }
        return all
    }

    /// Whether the first 64 KiB of content are without NUL bytes, as in text. `false` if it is not in the
    /// archive.
    func beginsAsText(_ hash: ContentHash) throws -> Bool {
        try nilIfMissing {
            let file = try folder.folder(Self.name).folder(hash.folderName).file(hash.fileName, forWriting: false)
            return try !file.read(at: 0, count: 1 << 16).contains(0)
        } ?? false
    }

    /// Removes all contents except some, and temporary files of killed writers.
    func removeAll(but kept: Set<ContentHash>) throws {
        try forEachFolder { prefix, hashFolder, names in
            try hashFolder.removeLeftovers(among: names)
            for name in names {
                if let hash = ContentHash(hexadecimal: prefix + name), !kept.contains(hash) {
                    try hashFolder.remove(name)
                }
            }
        }
    }

    /// Erases content, and removes the temporary files of killed writers beside it, which may have the same bytes.
    func erase(_ hash: ContentHash) throws {
        guard let hashFolder = try nilIfMissing({ try folder.folder(Self.name).folder(hash.folderName) }) else {
            return
        }
        try hashFolder.removeLeftovers(among: hashFolder.names())
        try hashFolder.erase(hash.fileName)
    }

    private static let name = "objects"

    /// The number of contents from which they are synced together. This sync includes writes of other programs, so
    /// it is not used for the few contents of a single write.
    private static let batchSyncThreshold = 8

    /// Returns the folders of contents, each with its contents.
    private static func folders(of hashes: some Sequence<ContentHash>) -> [(name: String, hashes: [ContentHash])] {
        Dictionary(grouping: hashes, by: \.folderName).map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
    }

    /// Whether a file has these bytes. A damaged file does not, and is written again.
    private static func holds(_ bytes: [UInt8], _ name: String, in folder: OpenFolder) throws -> Bool {
        guard try folder.entry(name)?.size == bytes.count else { return false }
        return try nilIfMissing { try folder.file(name, forWriting: false).read(at: 0, count: bytes.count) == bytes }
            ?? false
    }

    /// Opens a folder, and creates it if missing.
    private func made(_ name: String, in folder: OpenFolder) throws -> (folder: OpenFolder, isNew: Bool) {
        if let existing = try nilIfMissing({ try folder.folder(name) }) { return (existing, false) }
        try folder.makeFolder(name)
        return (try folder.folder(name), true)
    }

    private func forEachFolder(_ body: (_ prefix: String, OpenFolder, _ names: [String]) throws -> Void) throws {
        guard let objects = try nilIfMissing({ try folder.folder(Self.name) }) else { return }
        for name in try objects.names() where try objects.entry(name)?.kind == .folder {
            let hashFolder = try objects.folder(name)
            try body(name, hashFolder, try hashFolder.names())
        }
    }
}

extension ContentHash {
    fileprivate var folderName: String { String(rawValue.prefix(2)) }
    fileprivate var fileName: String { String(rawValue.dropFirst(2)) }
}
