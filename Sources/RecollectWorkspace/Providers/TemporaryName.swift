import Foundation
import RecollectFileSystem

/// The names of a writer's temporary files in a workspace folder. Syncthing ignores names with their prefix,
/// iCloud names with their suffix.
///
/// A **draft**, `.syncthing.recollect-draft-….tmp`, is a file being written. Its content also exists elsewhere. An
/// **aside file**, `.syncthing.recollect-<24 digits>-notes.md.tmp`, has exchanged names with `notes.md`, or is
/// about to. It may have the only copy of content saved by another program. Its digits are eight random ones, and the
/// first eight of two hashes: of the writer's expected content of `notes.md`, and of the new content.
enum TemporaryName {
    /// Returns a new name for a draft.
    static func draft() -> String { "\(prefix)\(draftMark)\(UUID.random().uuidString)\(suffix)" }

    /// Returns a new name for the aside file of a name. A long name is shortened to its beginning and its
    /// extension.
    /// - Parameters:
    ///   - old: The hash of the content expected under the name; for a new file, of the new content.
    ///   - new: The hash of the new content; for a removal, of the expected one.
    static func aside(for name: String, from old: ContentHash, to new: ContentHash) -> String {
        let random = UUID.random().uuidString.lowercased()
        let start = prefix + [random, old.rawValue, new.rawValue].map { $0.prefix(partCount) }.joined()
        let room = 255 - start.utf8.count - 1 - suffix.utf8.count
        guard name.utf8.count > room else { return "\(start)-\(name)\(suffix)" }
        return "\(start)=\(KeptCopyName.shortened(name, adding: "", room: room) ?? "")\(suffix)"
    }

    /// Whether a name is a temporary one, including those of older versions.
    static func isOne(_ name: String) -> Bool { name.hasPrefix(prefix) && name.hasSuffix(suffix) }

    /// Whether a name belongs to a draft.
    static func isDraft(_ name: String) -> Bool { name.hasPrefix(prefix + draftMark) && name.hasSuffix(suffix) }

    /// Returns the original name of an aside file, and whether it is complete; `nil` if the name does not include
    /// it.
    static func original(of name: String) -> (name: String, isWhole: Bool)? {
        guard isOne(name) else { return nil }
        let rest = name.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
        let digits = rest.prefix(digitCount)
        guard digits.count == digitCount,
            digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
            let mark = rest.dropFirst(digitCount).first, mark == UInt8(ascii: "-") || mark == UInt8(ascii: "="),
            let original = String(rest.dropFirst(digitCount + 1)), !original.isEmpty
        else { return nil }
        return (original, mark == UInt8(ascii: "-"))
    }

    /// Whether some content is the expected or the new one of an aside file's writer, according to the name.
    static func isWriters(_ content: ContentHash, in name: String) -> Bool {
        guard original(of: name) != nil else { return false }
        let digits = name.dropFirst(prefix.count + partCount)
        return [digits, digits.dropFirst(partCount)].contains { $0.hasPrefix(content.rawValue.prefix(partCount)) }
    }

    private static let prefix = ".syncthing.recollect-"
    private static let draftMark = "draft-"
    private static let suffix = ".tmp"
    private static let partCount = 8
    private static let digitCount = 3 * partCount
}
