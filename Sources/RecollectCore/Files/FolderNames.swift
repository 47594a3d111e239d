import Foundation

/// The names in one folder, and which of them belongs to an id.
///
/// A name is looked for in the listing, byte by byte: a file system that is asked for `bob` may give `Bob`.
struct FolderNames {
    let all: [String]
    /// What our names in this folder end with: `.json` for files, nothing for folders.
    let suffix: String
    private let lookup: Set<ByteString>

    init(_ all: [String], suffix: String = "") {
        self.all = all
        lookup = Set(all.map { ByteString($0) })
        self.suffix = suffix
    }

    /// The name that is there for an id. Those that Recollect alone gives come before those that other programs give too, and of these
    /// the one that Agent Squad gives comes last, so that what has been saved here stays in sight whatever another program adds.
    func existing(for id: String) -> String? {
        Self.candidates(for: id).lazy.map { $0 + suffix }.first { lookup.contains(ByteString($0)) }
    }

    private static func candidates(for id: String) -> [String] {
        [EscapedName.hashed(id), EscapedName.fullyEscaped(id), EscapedName.escaped(id), EscapedName.agentSquad(id)]
    }

    /// The name that is there for an id in a folder, without listing it where the file system tells names apart by their case.
    static func existing(for id: String, in folder: OpenFolder) throws -> String? {
        for name in candidates(for: id) where try folder.entry(name) != nil {
            let other = String(decoding: name.utf8.map { Self.otherCase($0) }, as: UTF8.self)
            // One thing under both names: the file system has no case, and the listing tells which name is meant.
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

    /// The name to give an id that has none yet.
    func new(for id: String) -> String {
        let escaped = EscapedName.escaped(id) + suffix
        let folded = all.contains { EscapedName.foldsTogether($0, escaped) }
        let name = folded ? EscapedName.fullyEscaped(id) + suffix : escaped
        return name.utf8.count <= Self.longest ? name : EscapedName.hashed(id) + suffix
    }

    /// The id that a name stands for; `nil` for names that are not ours, or not the one that counts for that id.
    /// - Throws: `damaged` for a hashed name whose id is not beside it any more; a failed system call.
    func id(of name: String, in folder: OpenFolder) throws -> String? {
        guard name.hasSuffix(suffix) else { return nil }
        let id =
            if let idFile = idFile(of: name) {
                try keptID(in: idFile, of: name, in: folder)
            } else {
                EscapedName.id(of: String(name.dropLast(suffix.count)))
            }
        return id.flatMap { existing(for: $0) }?.hasSameBytes(as: name) == true ? id : nil
    }

    /// Keeps an id beside its name where the name does not say it, and puts it there again where it is lost. For new names, before
    /// they are made.
    func keep(_ id: String, of name: String, in folder: OpenFolder) throws {
        guard let idFile = idFile(of: name) else { return }
        let bytes = Array(id.utf8)
        let file = try ifThere { try folder.file(idFile, forWriting: true) } ?? folder.makeFile(idFile)
        let size = try file.size()
        if size == bytes.count, try file.read(at: 0, count: size) == bytes { return }
        try file.write(bytes, at: 0)
        try file.truncate(to: bytes.count)
        try file.synchronize()
    }

    private func keptID(in idFile: String, of name: String, in folder: OpenFolder) throws -> String {
        do {
            let file = try folder.file(idFile, forWriting: false)
            let id = String(decoding: try file.read(at: 0, count: file.size()), as: UTF8.self)
            if (EscapedName.hashed(id) + suffix).hasSameBytes(as: name) { return id }
        } catch let failure as POSIXFailure where [ENOENT, EISDIR, ENXIO, ELOOP].contains(failure.number) {
            // Whatever is in its place, it tells nothing.
        }
        throw RecollectError(
            .damaged,
            "\(folder.path(of: idFile)) does not tell whose \(name) is, which is left out; the next message that is saved in \(name) "
                + "mends that, if nothing else is in the way")
    }

    private func idFile(of name: String) -> String? {
        let base = name.dropLast(suffix.count)
        return EscapedName.isHashed(base) ? base + ".id" : nil
    }

    /// The longest name to give, in bytes: file systems take 255, and what is set aside has a longer one.
    static let longest = 200
}
