import Foundation
import RecollectFileSystem

/// The names of a writer's temporary files in a workspace folder. Syncthing ignores names with their prefix,
/// iCloud names with their suffix.
///
/// A **draft**, `.syncthing.recollect-draft-….tmp`, is a file being written. Its content also exists elsewhere. An
/// **aside file**, `.syncthing.recollect-<16 digits>-notes.md.tmp`, has exchanged names with `notes.md`, or is
/// about to. It may have the only copy of a content saved by another program. Half of its digits are random. The others
/// begin the hash of the content that the writer expects in `notes.md`.
enum TemporaryName {
    /// Returns a new name for a draft.
    static func draft() -> String { "\(prefix)\(draftMark)\(UUID.random().uuidString)\(suffix)" }

    /// Returns a new name for the aside file of a name. A long name is shortened to its beginning and its
    /// extension.
    /// - Parameter expected: The hash of the content expected under the name.
    static func aside(for name: String, expecting expected: ContentHash) -> String {
        let random = UUID.random().uuidString.prefix(digitCount / 2).lowercased()
        let start = prefix + random + expected.rawValue.prefix(digitCount / 2)
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

    /// Whether a name belongs to the aside file of a writer that expected a content.
    static func isAside(_ name: String, expecting expected: ContentHash) -> Bool {
        original(of: name) != nil
            && name.dropFirst(prefix.count + digitCount / 2).hasPrefix(expected.rawValue.prefix(digitCount / 2))
    }

    private static let prefix = ".syncthing.recollect-"
    private static let draftMark = "draft-"
    private static let suffix = ".tmp"
    private static let digitCount = 16
}
