import Foundation
import RecollectCore

/// The name that a content gets beside the file that it could not be folded into: `name (kept 1a2b3c4d).md`.
///
/// The content alone decides it, so that all devices make one file of it, and no sync service names its copies like
/// that.
enum KeptName {
    /// How many digits of the hash a name may have: more where somebody has another content under the shorter name.
    static let lengths = [8, 16, 64]

    /// Where a content may lie beside a file, the first place first: in the file's folder, or in the nearest one above it in which the
    /// place has a path that is not too long.
    static func places(for hash: ContentHash, beside path: WorkspacePath) -> [WorkspacePath] {
        lengths.map { digits in
            var folder = path.parent ?? .root
            while true {
                if let name = name(for: path.name, holding: hash, digits: digits, in: folder) {
                    return WorkspacePath(checked: folder.names + [name])
                }
                folder = folder.parent ?? .root
            }
        }
    }

    /// The name that a content gets beside a file of some name, up to 255 bytes.
    static func name(for name: String, holding hash: ContentHash, digits: Int = lengths[0]) -> String {
        let mark = mark(hash, digits)
        // All but a character of the name has room to go.
        return shortened(name, adding: mark, room: 255) ?? mark
    }

    /// The name that a content gets in a folder; `nil` where its path would be too long.
    static func name(
        for name: String, holding hash: ContentHash, digits: Int, in folder: WorkspacePath
    ) -> String? {
        let above = folder == .root ? 0 : folder.description.utf8.count + 1
        let room = min(255, WorkspacePath.longest - above)
        return shortened(name, adding: mark(hash, digits), room: room)
    }

    /// A name with a mark before its extension; of what is too long the end of what stands before the mark is left out.
    /// - Returns: `nil` where there is no room for a character of the name, the mark and the extension.
    static func shortened(_ name: String, adding mark: String, room: Int) -> String? {
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let suffix = name[dot...].utf8.count <= 32 && dot > name.startIndex ? name[dot...] : ""
        var stem = name.dropLast(suffix.count)
        while stem.utf8.count + mark.utf8.count + suffix.utf8.count > room {
            guard stem.count > 1 else { return nil }
            stem.removeLast()
        }
        return stem + mark + suffix
    }

    /// Whether a name without its extension ends with such a mark.
    static func isMarked(_ stem: String) -> Bool {
        guard stem.hasSuffix(")"), let start = stem.range(of: " (kept ", options: .backwards)?.upperBound else {
            return false
        }
        let digits = stem[start...].dropLast()
        return lengths.contains(digits.utf8.count) && digits.allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }

    private static func mark(_ hash: ContentHash, _ digits: Int) -> String { " (kept \(hash.rawValue.prefix(digits)))" }
}
