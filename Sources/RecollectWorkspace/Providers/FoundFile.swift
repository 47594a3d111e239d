import RecollectCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The file that a path stands for in a folder, under whichever form of its name it lies there.
struct FoundFile {
    let folder: OpenFolder
    /// The name on the disk.
    let name: String
    let entry: FolderEntry

    /// Looks for a file; `nil` where there is none.
    /// - Throws: `notLocal` where only its placeholder is there.
    init?(_ path: WorkspacePath, in folder: OpenFolder) throws {
        guard let name = try Self.name(path.name, in: folder), let entry = try folder.entry(name) else {
            guard try folder.entry(Placeholder.name(for: path.name)) == nil else {
                throw Self.notLocal(folder.path(of: path.name))
            }
            return nil
        }
        self.folder = folder
        self.name = name
        self.entry = entry
    }

    /// All of its content; `nil` where it was removed since it was found.
    /// - Throws: `notLocal` without starting a download, `tooLarge`.
    func read(limit: Int = Self.largest) throws -> [UInt8]? {
        try open().map { try Self.read($0, limit: limit) }
    }

    /// Opens it for reading; `nil` where it was removed since it was found.
    /// - Throws: `notLocal` without starting a download.
    func open() throws -> OpenFile? {
        guard !entry.isDataless else { throw Self.notLocal(folder.path(of: name)) }
        return try ifThere { try folder.file(name, forWriting: false) }
    }

    /// All that the file of a name holds.
    static func read(_ name: String, in folder: OpenFolder, limit: Int = Self.largest) throws -> [UInt8] {
        try read(folder.file(name, forWriting: false), limit: limit)
    }

    /// All that a file holds, also where it grows meanwhile, up to a limit.
    static func read(_ file: OpenFile, limit: Int = Self.largest) throws -> [UInt8] {
        let size = try file.size()
        guard size <= limit else { throw tooLarge(file.path, limit) }
        var bytes = try file.read(at: 0, count: size + 1)
        while bytes.count <= limit, case let more = try file.read(at: bytes.count, count: 1 << 16), !more.isEmpty {
            bytes += more
        }
        guard bytes.count <= limit else { throw tooLarge(file.path, limit) }
        return bytes
    }

    /// What is read at most of a file that somebody put in the place of another one.
    static let largest = 1 << 30

    /// The name of a path's file or folder on the disk: its own, else the one that is its decomposed form; `nil` where
    /// there is neither.
    static func name(_ name: String, in folder: OpenFolder) throws -> String? {
        // On a file system that folds case or forms this finds what it takes for the name.
        if try folder.entry(name) != nil { return name }
        guard !name.isASCII else { return nil }
        return try forms(of: name, in: folder).min(by: byBytes)
    }

    /// The name under which a file lies that the file system found by another one.
    static func spelling(of name: String, in folder: OpenFolder) throws -> String {
        // Names are looked through only where one in the other case is there too.
        let other = [name.uppercased(), name.lowercased()].first { !$0.hasSameBytes(as: name) }
        guard let other, try folder.entry(other) != nil else { return name }
        return try folder.names().spelling(of: name)
    }

    /// The files that lie beside a path's file under other forms of its name.
    static func otherForms(of path: WorkspacePath, in folder: OpenFolder) throws -> [String] {
        guard !path.name.isASCII else { return [] }
        var forms = try forms(of: path.name, in: folder)
        // The file itself is one of them, under whichever form it lies there.
        guard forms.count > 1, let own = try name(path.name, in: folder) else { return [] }
        forms.removeAll { $0.hasSameBytes(as: own) }
        return try forms.filter { try folder.entry($0)?.kind == .file }.sorted(by: byBytes)
    }

    private static func byBytes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    private static func forms(of name: String, in folder: OpenFolder) throws -> [String] {
        // Swift takes all forms of a text for equal.
        try folder.names().filter { $0 == name }
    }

    static func notLocal(_ path: String) -> RecollectError {
        RecollectError(.notLocal, "the content of \(path) is not on this device; ask for it and wait")
    }

    private static func tooLarge(_ path: String, _ limit: Int) -> RecollectError {
        RecollectError(.tooLarge, "\(path) has over \(limit) bytes; read it with another program, or raise the limit")
    }
}

extension [String] {
    /// The name among those of a folder that its file system took for another one; that one itself where it is there.
    func spelling(of name: String) -> String {
        if contains(where: { $0.hasSameBytes(as: name) }) { return name }
        let key = WorkspacePath.folded(name)
        return first { WorkspacePath.folded($0) == key } ?? name
    }
}
