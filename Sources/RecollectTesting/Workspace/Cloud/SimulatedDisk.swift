import Foundation
import RecollectCore
import RecollectWorkspace

/// What lies in the folder of one device, and what the sync on that device knows of it.
struct SimulatedDisk {
    struct File {
        var bytes: [UInt8]
        var modified: Date
        /// Another number whenever the file changes.
        var stamp: Int
        var state: FileState = .local
    }

    /// The files by the bytes of their paths, as the disk spells them.
    var files: [ByteString: File] = [:]
    /// Folders that were made; those that became empty are still here.
    var folders: Set<ByteString> = []
    /// The revision that each path was last in step with; a deletion is one as well.
    var known: [ByteString: Int] = [:]
    /// Paths that were changed here, and that the service does not know yet.
    var edited: Set<ByteString> = []
    /// Paths of which a part has arrived.
    var arriving: Set<ByteString> = []
    /// What a slow program has still to write to the end of a file.
    var unwritten: [ByteString: [UInt8]] = [:]
    /// Versions that were resolved here, and that the service does not know of yet.
    var resolved: [ByteString: Set<Int>] = [:]

    var isOnline = true
    /// Whether the account whose files these are is signed in.
    var isSignedIn = true
    var isUnavailable = false
    /// What was here before the folder was emptied by a mishap that is none of the sync's.
    var hidden: [ByteString: File]?
    var foldsCase = false
    var clockSkew: TimeInterval = 0
    /// How many bytes fit; `nil` for any number.
    var capacity: Int?

    /// Whether the sync works here.
    var isSyncing: Bool { isOnline && isSignedIn && !isUnavailable && hidden == nil }

    /// Whether so many bytes in place of a file would fit.
    func hasRoom(for count: Int, at path: ByteString) -> Bool {
        guard let capacity else { return true }
        let others = files.reduce(0) { $0 + ($1.key == path || $1.value.state != .local ? 0 : $1.value.bytes.count) }
        return others + count <= capacity
    }

    // MARK: - Names

    /// Whether a path lies in the lineage folder, or in what the service made of it.
    static func isLineage(_ path: ByteString) -> Bool { path.string.hasPrefix(LineageFile.folderName) }

    /// How the disk spells the name of a file that a program asks for: as it does, or in another composition, or, where the disk folds
    /// case, in another case.
    func spelling(of path: ByteString) -> ByteString? {
        if files[path] != nil { return path }
        let asked = Self.key(path, foldsCase: foldsCase)
        return files.keys.filter { Self.key($0, foldsCase: foldsCase) == asked }.min()
    }

    /// A folder's spelling; a file's path is resolved with its folders.
    func isFolder(_ path: ByteString) -> Bool {
        let asked = Self.key(path, foldsCase: foldsCase)
        return folders.contains { Self.key($0, foldsCase: foldsCase) == asked }
    }

    /// The files here whose names differ from one in the form of their letters alone.
    func otherForms(of path: ByteString) -> [ByteString] {
        guard path.string.utf8.contains(where: { $0 >= 0x80 }) else { return [] }
        let composed = Self.composed(path)
        return files.filter { $0.key != path && $0.value.state == .local && Self.composed($0.key) == composed }.keys
            .sorted()
    }

    /// Where a program's file lies that it asks for by some path: in the folders that are there, as the disk spells them.
    func place(for path: ByteString) -> ByteString {
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

    /// What all spellings share that are one name.
    static func key(_ path: ByteString, foldsCase: Bool) -> ByteString {
        let composed = composed(path)
        return foldsCase ? ByteString(composed.string.lowercased()) : composed
    }

    /// A path in the composed form.
    static func composed(_ path: ByteString) -> ByteString {
        var text = path.string
        // What is ASCII has no other form; asking Foundation takes long.
        let isASCII = text.withUTF8 { bytes in
            for byte in bytes where byte >= 0x80 { return false }
            return true
        }
        return isASCII ? path : ByteString(text.precomposedStringWithCanonicalMapping)
    }

    /// The folders above a path, the nearest last.
    static func folders(above path: ByteString) -> [ByteString] {
        let names = path.string.split(separator: "/").dropLast()
        return names.indices.map { ByteString(names[...$0].joined(separator: "/")) }
    }

    // MARK: - Changes

    /// As a program changes a file: the sync sees it later. What was arriving is cut short by it.
    mutating func edit(_ path: ByteString, to bytes: [UInt8]?, modified: Date, stamp: Int) {
        put(bytes.map { File(bytes: $0, modified: modified, stamp: stamp) }, at: path)
        edited.insert(path)
        unwritten[path] = nil
    }

    /// As the sync changes a file: in step with a revision.
    mutating func sync(_ path: ByteString, to file: File?, revision: Int) {
        put(file, at: path)
        known[path] = revision
        edited.remove(path)
    }

    private mutating func put(_ file: File?, at path: ByteString) {
        files[path] = file
        arriving.remove(path)
        if file != nil { folders.formUnion(Self.folders(above: path)) }
    }
}
