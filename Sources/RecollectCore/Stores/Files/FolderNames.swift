import Foundation
import RecollectFileSystem

/// The names in one folder, with a lookup by ID.
///
/// The lookup compares the bytes of listed names: a file system asked for `bob` may open `Bob`.
struct FolderNames {
    let all: [String]
    /// The suffix of Recollect's names in this folder: `.json` for files, empty for folders.
    let suffix: String
    private let lookup: Set<ByteString>

    init(_ all: [String], suffix: String = "") {
        self.all = all
        lookup = Set(all.map { ByteString($0) })
        self.suffix = suffix
    }

    /// Returns the existing name of an ID.
    ///
    /// Names from Recollect alone come before names also used by other programs, and Agent Squad's name comes
    /// last. So saved messages stay visible if another program adds a file.
    func existing(for id: String) -> String? {
        Self.candidates(for: id).lazy.map { $0 + suffix }.first { lookup.contains(ByteString($0)) }
    }

    private static func candidates(for id: String) -> [String] {
        [NameEscaping.hashed(id), NameEscaping.fullyEscaped(id), NameEscaping.escaped(id), NameEscaping.agentSquad(id)]
    }

    /// Returns the existing name of an ID in a folder, without listing it on a case-sensitive file system.
    static func existing(for id: String, in folder: OpenFolder) throws -> String? {
        for name in candidates(for: id) where try folder.entry(name) != nil {
            let other = String(decoding: name.utf8.map { Self.otherCase($0) }, as: UTF8.self)
            // One file under both names: the file system ignores case, and only a listing has the actual name.
            if name != other, try folder.isOneEntry(name, other) {
                return FolderNames(try folder.names()).existing(for: id)
            }
            return name
        }
        return nil
    }

    private static func otherCase(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): byte ^ 0x20
        default: byte
        }
    }

    /// Returns the name to use for an ID without a name.
    func new(for id: String) -> String {
        let escaped = NameEscaping.escaped(id) + suffix
        let folded = all.contains { NameEscaping.foldsTogether($0, escaped) }
        let name = folded ? NameEscaping.fullyEscaped(id) + suffix : escaped
        return name.utf8.count <= Self.longest ? name : NameEscaping.hashed(id) + suffix
    }

    /// Returns the ID of a name; `nil` for a foreign name, and for all but the first name of an ID in order of
    /// precedence.
    /// - Throws: `damaged` for a hashed name without its saved ID; `POSIXFailure` for a failed system call.
    func id(of name: String, in folder: OpenFolder) throws -> String? {
        guard name.hasSuffix(suffix) else { return nil }
        let id =
            if let idFile = idFile(of: name) {
                try keptID(in: idFile, of: name, in: folder)
            } else {
                NameEscaping.id(of: String(name.dropLast(suffix.count)))
            }
        return id.flatMap { existing(for: $0) }?.hasSameBytes(as: name) == true ? id : nil
    }

    /// Saves an ID beside its hashed name, and replaces a lost one. Does nothing for other names, which contain
    /// the ID.
    ///
    /// For a new name, call this before creating its file or folder.
    func save(_ id: String, of name: String, in folder: OpenFolder) throws {
        guard let idFile = idFile(of: name) else { return }
        let bytes = Array(id.utf8)
        let file = try Self.file(idFile, in: folder)
        let size = try file.size()
        if size == bytes.count, try file.readAll() == bytes { return }
        try file.write(bytes, at: 0)
        try file.truncate(to: bytes.count)
        try file.synchronize()
    }

    /// Opens a file, and creates it if it is missing.
    private static func file(_ name: String, in folder: OpenFolder) throws -> OpenFile {
        while true {
            if let file = try nilIfMissing({ try folder.file(name, forWriting: true) }) { return file }
            do {
                return try folder.makeFile(name)
            } catch let failure as POSIXFailure where failure.number == EEXIST {
                // Another writer has just created it.
            }
        }
    }

    private func keptID(in idFile: String, of name: String, in folder: OpenFolder) throws -> String {
        do {
            let file = try folder.file(idFile, forWriting: false)
            let id = String(decoding: try file.readAll(), as: UTF8.self)
            if (NameEscaping.hashed(id) + suffix).hasSameBytes(as: name) { return id }
        } catch let failure as POSIXFailure where [ENOENT, EISDIR, ENXIO, ELOOP].contains(failure.number) {
            // There is no readable ID at this name.
        } catch let error as RecollectError where error.code == .tooLarge {
            // No program wrote these bytes as an ID.
        }
        throw RecollectError(
            .damaged,
            "\(folder.path(of: idFile)) does not contain the ID of \(name), so \(name) is skipped; the next message saved in \(name) "
                + "restores it, unless another file is in the way")
    }

    private func idFile(of name: String) -> String? {
        let base = name.dropLast(suffix.count)
        return NameEscaping.isHashed(base) ? base + ".id" : nil
    }

    /// The longest name to use, in bytes. File systems allow 255, and the names of files set aside are longer.
    static let longest = 200
}
