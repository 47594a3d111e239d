import RecollectCore

/// The name that a content gets beside the file that it could not be folded into: `name (kept 1a2b3c4d).md`.
///
/// The content alone decides it, so that all devices make one file of it, and no sync service names its copies like that.
enum KeptName {
    static func name(for name: String, holding hash: ContentHash) -> String {
        let mark = " (kept \(hash.rawValue.prefix(8)))"
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let suffix = name[dot...].utf8.count <= 32 && dot > name.startIndex ? name[dot...] : ""
        var stem = name.dropLast(suffix.count)
        while stem.utf8.count + mark.utf8.count + suffix.utf8.count > 255 { stem.removeLast() }
        return stem + mark + suffix
    }
}
