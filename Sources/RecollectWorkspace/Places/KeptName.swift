import RecollectCore

/// The name that a content gets beside the file that it could not be folded into: `name (kept 1a2b3c4d).md`.
///
/// The content alone decides it, so that all devices make one file of it, and no sync service names its copies like
/// that.
enum KeptName {
    /// How many digits of the hash a name may have: more where somebody has another content under the shorter name.
    static let lengths = [8, 16, 64]

    /// Where a content may lie beside a file, the first place first.
    static func places(for hash: ContentHash, beside path: WorkspacePath) -> [WorkspacePath] {
        lengths.map {
            WorkspacePath(checked: path.names.dropLast() + [name(for: path.name, holding: hash, digits: $0)])
        }
    }

    static func name(for name: String, holding hash: ContentHash, digits: Int = lengths[0]) -> String {
        let mark = " (kept \(hash.rawValue.prefix(digits)))"
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let suffix = name[dot...].utf8.count <= 32 && dot > name.startIndex ? name[dot...] : ""
        var stem = name.dropLast(suffix.count)
        while stem.utf8.count + mark.utf8.count + suffix.utf8.count > 255 { stem.removeLast() }
        return stem + mark + suffix
    }
}
