import Foundation

/// The names of the files that a writer makes for a moment in a folder of a workspace: Syncthing passes over names that begin like these,
/// iCloud over those that end like these.
///
/// A **draft**, `.syncthing.recollect-draft-….tmp`, is being written, and holds nothing else than what its writer has elsewhere. A file
/// **aside**, `.syncthing.recollect-<16 digits>-notes.md.tmp`, has exchanged names with `notes.md`, or is about to: it may hold the only
/// copy of what another program saved there.
enum TemporaryName {
    /// A new name for a draft.
    static func draft() -> String { "\(prefix)\(draftMark)\(UUID().uuidString)\(suffix)" }

    /// A new name for what lies, or lay, under a name; of a long name it has the beginning and the extension.
    static func aside(for name: String) -> String {
        let digits = UUID().uuidString.utf8.filter { $0 != UInt8(ascii: "-") }.prefix(digitCount)
        let start = prefix + String(decoding: digits, as: UTF8.self).lowercased()
        let room = 255 - start.utf8.count - 1 - suffix.utf8.count
        guard name.utf8.count > room else { return "\(start)-\(name)\(suffix)" }
        return "\(start)=\(KeptName.shortened(name, adding: "", room: room) ?? "")\(suffix)"
    }

    /// Whether a name is one of these, or one that an older version made.
    static func isOne(_ name: String) -> Bool { name.hasPrefix(prefix) && name.hasSuffix(suffix) }

    /// Whether a name is a draft's.
    static func isDraft(_ name: String) -> Bool { name.hasPrefix(prefix + draftMark) && name.hasSuffix(suffix) }

    /// The name that a file aside was made for, and whether it is the whole name; `nil` for one that does not tell.
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

    private static let prefix = ".syncthing.recollect-"
    private static let draftMark = "draft-"
    private static let suffix = ".tmp"
    private static let digitCount = 16
}
