import RecollectCore
import RecollectFileSystem

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The file at a path in a folder, with its name on disk in any normalization.
struct FoundFile {
    let folder: OpenFolder
    /// The name on disk.
    let name: String
    let entry: FolderEntry

    /// Creates the file at a path; `nil` if there is none.
    /// - Throws: `notLocal` if only its placeholder exists.
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

    /// Returns the whole content; `nil` if the file has been removed.
    /// - Throws: `notLocal`, without starting a download; `tooLarge`.
    func read(limit: Int = Self.maxFileSize) throws -> [UInt8]? {
        try open().map { try Self.read($0, limit: limit) }
    }

    /// Opens the file for reading; `nil` if it has been removed.
    /// - Throws: `notLocal`, without starting a download.
    func open() throws -> OpenFile? {
        guard !entry.isDataless else { throw Self.notLocal(folder.path(of: name)) }
        return try nilIfMissing { try folder.file(name, forWriting: false) }
    }

    /// Returns the whole content of the file with a name on disk.
    static func read(_ name: String, in folder: OpenFolder, limit: Int = Self.maxFileSize) throws -> [UInt8] {
        try read(folder.file(name, forWriting: false), limit: limit)
    }

    /// Returns the whole content of a file, even if it grows during the read, up to a limit in bytes.
    static func read(_ file: OpenFile, limit: Int = Self.maxFileSize) throws -> [UInt8] {
        let size = try file.size()
        guard size <= limit else { throw tooLarge(file.path, limit) }
        var bytes = try file.read(at: 0, count: size + 1)
        while bytes.count <= limit, case let more = try file.read(at: bytes.count, count: 1 << 16), !more.isEmpty {
            bytes += more
        }
        guard bytes.count <= limit else { throw tooLarge(file.path, limit) }
        return bytes
    }

    /// The default limit, in bytes. It bounds reads of files put in place by other programs.
    static let maxFileSize = 1 << 30

    /// Returns the name on disk of a path's file or folder: the same name, else a canonically equivalent one, such
    /// as its decomposed form; `nil` if there is none.
    static func name(_ name: String, in folder: OpenFolder) throws -> String? {
        // On a file system without distinction of case or normalization, this finds the file under any spelling.
        if try folder.entry(name) != nil { return name }
        guard !name.isASCII else { return nil }
        return try forms(of: name, in: folder).min(by: byBytes)
    }

    /// Returns the name on disk of a file found by the file system under another spelling.
    static func spelling(of name: String, in folder: OpenFolder) throws -> String {
        // The names are searched only if the name in the other case exists, too.
        let other = [name.uppercased(), name.lowercased()].first { !$0.hasSameBytes(as: name) }
        guard let other, try folder.entry(other) != nil else { return name }
        return try folder.names().spelling(of: name)
    }

    /// Returns the other files of a path, or its other folders, with other forms of its name.
    static func otherForms(
        of path: WorkspacePath, in folder: OpenFolder, kind: FolderEntry.Kind = .file
    ) throws -> [String] {
        guard !path.name.isASCII else { return [] }
        var forms = try forms(of: path.name, in: folder)
        // The file itself is one of them, in any form.
        guard forms.count > 1, let own = try name(path.name, in: folder) else { return [] }
        forms.removeAll { $0.hasSameBytes(as: own) }
        return try forms.filter { try folder.entry($0)?.kind == kind }.sorted(by: byBytes)
    }

    private static func byBytes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    private static func forms(of name: String, in folder: OpenFolder) throws -> [String] {
        // `String` comparison ignores normalization.
        try folder.names().filter { $0 == name }
    }

    static func notLocal(_ path: String) -> RecollectError {
        RecollectError(.notLocal, "\(path) is not on this device; request its download and wait")
    }

    private static func tooLarge(_ path: String, _ limit: Int) -> RecollectError {
        RecollectError(
            .tooLarge, "\(path) is larger than \(limit) bytes; read it with another program, or raise the limit")
    }
}

extension [String] {
    /// Returns the name considered equal to another one by the file system; preferably the name itself.
    func spelling(of name: String) -> String {
        if contains(where: { $0.hasSameBytes(as: name) }) { return name }
        let key = WorkspacePath.caseFolded(name)
        return first { WorkspacePath.caseFolded($0) == key } ?? name
    }
}
