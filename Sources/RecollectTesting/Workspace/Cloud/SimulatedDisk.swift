import Foundation
import RecollectCore
import RecollectWorkspace

/// The folder of one device, with the device's sync state.
struct SimulatedDisk {
    struct File {
        var bytes: [UInt8]
        var modified: Date
        /// The date by this device's clock.
        var changed: Date
        /// A number changed with every change of the file.
        var stamp: Int
        var state: FileState = .local
    }

    /// The files by the bytes of their paths, as spelled on disk.
    var files: [ByteString: File] = [:]
    /// The folders, including those now empty.
    var folders: Set<ByteString> = []
    /// The revision each path was last in sync with, including deletions.
    var known: [ByteString: Int] = [:]
    /// Paths changed here and not yet uploaded.
    var edited: Set<ByteString> = []
    /// Paths of partly downloaded files.
    var arriving: Set<ByteString> = []
    /// Bytes a slow program has yet to append, by path.
    var unwritten: [ByteString: [UInt8]] = [:]
    /// Versions resolved here, with the service not yet notified.
    var resolved: [ByteString: Set<Int>] = [:]

    var isOnline = true
    /// Whether the account of the files is signed in.
    var isSignedIn = true
    var isUnavailable = false
    /// The files from before a fault outside the sync service emptied the folder.
    var hidden: [ByteString: File]?
    var foldsCase = false
    var clockSkew: TimeInterval = 0
    /// The capacity in bytes; `nil` for unlimited.
    var capacity: Int?

    /// Whether the device can sync.
    var isSyncing: Bool { isOnline && isSignedIn && !isUnavailable && hidden == nil }

    /// Whether `count` bytes would fit in place of a file.
    func hasRoom(for count: Int, at path: ByteString) -> Bool {
        guard let capacity else { return true }
        let others = files.reduce(0) { $0 + ($1.key == path || $1.value.state != .local ? 0 : $1.value.bytes.count) }
        return others + count <= capacity
    }

    // MARK: - Names

    /// Whether a path is in the lineage folder, or in a duplicate of it by the service.
    static func isLineage(_ path: ByteString) -> Bool { path.string.hasPrefix(LineageFile.folderName) }

    /// Returns the disk's spelling of a file's path; `nil` if there is no such file.
    ///
    /// It may differ in Unicode normalization and, on a case-insensitive disk, in case.
    func spelling(of path: ByteString) -> ByteString? {
        if files[path] != nil { return path }
        let asked = Self.key(path, foldsCase: foldsCase)
        return files.keys.filter { Self.key($0, foldsCase: foldsCase) == asked }.min()
    }

    /// Whether there is a folder at the path, in any of its spellings.
    func isFolder(_ path: ByteString) -> Bool {
        let asked = Self.key(path, foldsCase: foldsCase)
        return folders.contains { Self.key($0, foldsCase: foldsCase) == asked }
    }

    /// Returns the local files with names that differ only in Unicode normalization.
    func otherForms(of path: ByteString) -> [ByteString] {
        guard path.string.utf8.contains(where: { $0 >= 0x80 }) else { return [] }
        let composed = Self.composed(path)
        return files.filter { $0.key != path && $0.value.state == .local && Self.composed($0.key) == composed }.keys
            .sorted()
    }

    /// Returns the disk's path for a program's path: in existing folders, as spelled on disk.
    func pathOnDisk(for path: ByteString) -> ByteString {
        if let there = spelling(of: path) { return there }
        guard foldsCase else { return path }
        for folder in Self.folders(above: path).reversed() {
            if folders.contains(folder) { return path }
            let asked = Self.key(folder, foldsCase: true)
            guard let there = folders.filter({ Self.key($0, foldsCase: true) == asked }).min() else { continue }
            return ByteString(there.string + path.string.dropFirst(folder.string.count))
        }
        return path
    }

    /// Returns the common key of all spellings of one name.
    static func key(_ path: ByteString, foldsCase: Bool) -> ByteString {
        let composed = composed(path)
        return foldsCase ? ByteString(composed.string.lowercased()) : composed
    }

    /// Returns the path in composed form.
    static func composed(_ path: ByteString) -> ByteString {
        var text = path.string
        // ASCII has only one form. Calling Foundation is slow.
        let isASCII = text.withUTF8 { bytes in
            for byte in bytes where byte >= 0x80 { return false }
            return true
        }
        return isASCII ? path : ByteString(text.precomposedStringWithCanonicalMapping)
    }

    /// Returns the folders above a path, the nearest last.
    static func folders(above path: ByteString) -> [ByteString] {
        let names = path.string.split(separator: "/").dropLast()
        return names.indices.map { ByteString(names[...$0].joined(separator: "/")) }
    }

    // MARK: - Changes

    /// Changes a file like a program. The sync service sees the change later; a download in progress ends.
    mutating func edit(_ path: ByteString, to bytes: [UInt8]?, modified: Date, stamp: Int) {
        put(bytes.map { File(bytes: $0, modified: modified, changed: modified, stamp: stamp) }, at: path)
        edited.insert(path)
        unwritten[path] = nil
    }

    /// Changes a file like the sync service, to a revision.
    mutating func sync(_ path: ByteString, to file: File?, revision: Int) {
        put(file, at: path)
        known[path] = revision
        edited.remove(path)
    }

    private mutating func put(_ file: File?, at path: ByteString) {
        files[path] = file
        arriving.remove(path)
        if file != nil { makeFolders(above: path) }
    }

    /// Makes the missing folders above a path. A folder with another spelling of a name is not missing.
    mutating func makeFolders(above path: ByteString) {
        for folder in Self.folders(above: path) where !isFolder(folder) { folders.insert(folder) }
    }
}
