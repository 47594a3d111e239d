/// The names in one folder, and which of them belongs to an id.
///
/// A name is looked for in the listing, byte by byte, and never by asking the file system: that may take `bob` for `Bob`.
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

    /// The name that is there for an id. The one that Recollect gives comes before the one that Agent Squad gives, so that what
    /// has been saved here stays in sight whatever another program adds.
    func existing(for id: String) -> String? {
        [
            EscapedName.escaped(id), EscapedName.agentSquad(id), EscapedName.fullyEscaped(id), EscapedName.hashed(id),
        ].lazy.map { $0 + suffix }.first { lookup.contains(ByteString($0)) }
    }

    /// The name to give an id that has none yet.
    func new(for id: String) -> String {
        let escaped = EscapedName.escaped(id) + suffix
        let folded = all.contains { EscapedName.foldsTogether($0, escaped) }
        let name = folded ? EscapedName.fullyEscaped(id) + suffix : escaped
        return name.utf8.count <= Self.longest ? name : EscapedName.hashed(id) + suffix
    }

    /// The id that a name stands for; `nil` for names that are not ours, or not the one that counts for that id.
    func id(of name: String, in folder: OpenFolder) throws -> String? {
        guard name.hasSuffix(suffix) else { return nil }
        let id: String?
        if let idFile = idFile(of: name) {
            id = try ifThere {
                let file = try folder.file(idFile, forWriting: false)
                return String(decoding: try file.read(at: 0, count: file.size()), as: UTF8.self)
            }
        } else {
            id = EscapedName.id(of: String(name.dropLast(suffix.count)))
        }
        return id.flatMap { existing(for: $0) }?.hasSameBytes(as: name) == true ? id : nil
    }

    /// Keeps an id beside its name where the name does not say it. For new names, before they are made.
    func keep(_ id: String, of name: String, in folder: OpenFolder) throws {
        guard let idFile = idFile(of: name) else { return }
        let file = try ifThere { try folder.file(idFile, forWriting: true) } ?? folder.makeFile(idFile)
        try file.write(Array(id.utf8), at: 0)
        try file.synchronize()
    }

    private func idFile(of name: String) -> String? {
        name.hasPrefix("#") ? name.dropLast(suffix.count) + ".id" : nil
    }

    /// The longest name to give, in bytes: file systems take 255, and what is set aside has a longer one.
    static let longest = 200
}
