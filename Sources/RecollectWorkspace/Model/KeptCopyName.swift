import Foundation
import RecollectCore

/// The name of a kept copy: `name (kept 1a2b3c4d).md`. Its content could not be merged into the file.
///
/// The name depends only on the file's name and the content, so all devices create the same file. No sync service
/// names its copies this way.
enum KeptCopyName {
    /// The possible numbers of hash digits in a name. A longer hash is used if other content has the shorter
    /// name.
    static let lengths = [8, 16, 64]

    /// Returns the possible paths for content beside a file, in order of preference. They are in the file's
    /// folder, or in its nearest parent with room for the path.
    static func paths(for hash: ContentHash, beside path: WorkspacePath) -> [WorkspacePath] {
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

    /// Returns the name for content beside a file, up to 255 bytes.
    static func name(for name: String, holding hash: ContentHash, digits: Int = lengths[0]) -> String {
        let mark = mark(hash, digits)
        // One scalar of the name always has enough room.
        return shortened(name, adding: mark, room: 255) ?? mark
    }

    /// Returns the name for content in a folder; `nil` if its path would be too long.
    static func name(
        for name: String, holding hash: ContentHash, digits: Int, in folder: WorkspacePath
    ) -> String? {
        let above = folder == .root ? 0 : folder.description.utf8.count + 1
        let room = min(255, WorkspacePath.longest - above)
        return shortened(name, adding: mark(hash, digits), room: room)
    }

    /// Adds a mark before the extension of a name. If the result is too long, characters before the mark are
    /// dropped from the end; of a single character, its last scalars.
    /// - Returns: `nil` without room for one scalar of the name, the mark and the extension.
    static func shortened(_ name: String, adding mark: String, room: Int) -> String? {
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let suffix = name[dot...].utf8.count <= 32 && dot > name.startIndex ? name[dot...] : ""
        var stem = name.dropLast(suffix.count)
        while stem.utf8.count + mark.utf8.count + suffix.utf8.count > room {
            let last = stem.index(before: stem.endIndex)
            if last > stem.startIndex {
                stem.removeLast()
            } else {
                guard stem.unicodeScalars.count > 1 else { return nil }
                stem.unicodeScalars.removeLast()
            }
        }
        return stem + mark + suffix
    }

    /// Whether a name without its extension ends with a mark of `KeptCopyName`.
    static func isMarked(_ stem: String) -> Bool {
        guard stem.hasSuffix(")"), let start = stem.range(of: " (kept ", options: .backwards)?.upperBound else {
            return false
        }
        let digits = stem[start...].dropLast()
        return lengths.contains(digits.utf8.count) && digits.allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }

    private static func mark(_ hash: ContentHash, _ digits: Int) -> String { " (kept \(hash.rawValue.prefix(digits)))" }
}
