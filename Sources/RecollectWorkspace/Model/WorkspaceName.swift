/// The rules for file names accepted and preserved by every system and every sync service.
enum WorkspaceName {
    /// Returns the reason why a composed (NFC) name is refused; `nil` for a valid name.
    static func refusal(of name: String) -> String? {
        isPlain(name) ? nil : refusalOfUnusual(name)
    }

    /// Whether a name is valid by its bytes alone: ASCII letters, digits, `_`, `-` and dots inside, and no name with a
    /// meaning on some system.
    ///
    /// Each name in each scan is checked, and nearly all are of this kind.
    static func isPlain(_ name: String) -> Bool {
        var name = name
        return name.withUTF8 { bytes in
            guard bytes.count <= 255, bytes.first != UInt8(ascii: "."), bytes.last != UInt8(ascii: ".") else {
                return false
            }
            var stemLength = bytes.count
            for (index, byte) in bytes.enumerated() {
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    continue
                case UInt8(ascii: "."):
                    stemLength = min(stemLength, index)
                    // Names with `.icloud`, `.ini`, `.nosync` and `.tmp` need a closer look.
                    let next = bytes[index + 1] | 0x20
                    if next == UInt8(ascii: "i") || next == UInt8(ascii: "n") { return false }
                    if next == UInt8(ascii: "t"), index + 2 < bytes.count, bytes[index + 2] | 0x20 == UInt8(ascii: "m")
                    {
                        return false
                    }
                default: return false
                }
            }
            // `con`, `com1` and `tmp` do, too.
            return stemLength > 4 || 1...2 ~= stemLength
        }
    }

    /// As `refusal(of:)`, without its shortcut.
    static func refusalOfUnusual(_ name: String) -> String? {
        guard !name.isEmpty else { return "it contains an empty name" }
        guard name.utf8.count <= 255 else { return "it contains a name longer than 255 bytes" }
        if let scalar = name.unicodeScalars.first(where: isForbidden) {
            return "it contains the character \(scalar.escaped(asASCII: true)), which some systems do not allow"
        }
        guard hasValidJoiners(name) else { return "it contains an invisible joining character in the wrong position" }
        if name == "." || name == ".." {
            return "'.' and '..' are not allowed: use a path relative to the workspace folder"
        }
        if name.utf8.first == UInt8(ascii: ".") {
            return "names that begin with a dot are hidden, and some services do not sync them"
        }
        if name.utf8.last == UInt8(ascii: ".") { return "Windows removes a dot at the end of a name" }
        if [name.unicodeScalars.first, name.unicodeScalars.last].contains(where: { $0.map(isBlank) ?? false }) {
            return "some systems remove spaces at the beginning or end of a name"
        }
        let lowercased = name.lowercased()
        if isDevice(lowercased) { return "the name is reserved for a device on Windows" }
        return isUnsynced(lowercased) ? "files with such a name are never synced" : nil
    }

    /// Whether a character is forbidden in names at any position.
    ///
    /// The list is fixed. Unicode's tables differ between versions, but all devices must refuse the same names.
    static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Control characters, line separators and paragraph separators.
        case 0...0x1F, 0x7F...0x9F, 0x2028, 0x2029: true
        // Invisible characters, and characters with an effect on the direction of their neighbors.
        case 0xAD, 0x61C, 0x180E, 0x200B, 0x200E...0x200F, 0x202A...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB,
            0xE0000...0xE007F:
            true
        // Noncharacters, refused by Apple's file system.
        case 0xFDD0...0xFDEF: true
        case let value where value & 0xFFFE == 0xFFFE: true
        // " * / : < > ? \ |
        case 0x22, 0x2A, 0x2F, 0x3A, 0x3C, 0x3E, 0x3F, 0x5C, 0x7C: true
        default: false
        }
    }

    /// Whether a character is a zero-width joiner or non-joiner, used in emoji and in the spelling of Persian and
    /// Hindi.
    static func isJoiner(_ scalar: Unicode.Scalar) -> Bool { 0x200C...0x200D ~= scalar.value }

    /// Whether each joiner is between two characters it can join. At other positions, joiners create names of the
    /// same appearance.
    private static func hasValidJoiners(_ name: String) -> Bool {
        guard name.unicodeScalars.contains(where: isJoiner) else { return true }
        let scalars = Array(name.unicodeScalars)
        func isJoined(_ index: Int) -> Bool {
            scalars.indices.contains(index) && !scalars[index].isASCII && !isJoiner(scalars[index])
        }
        return scalars.indices.allSatisfy { !isJoiner(scalars[$0]) || (isJoined($0 - 1) && isJoined($0 + 1)) }
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII ? scalar == " " : scalar.properties.isWhitespace
    }

    /// Whether a name is of a Windows device, with any extension, also after a blank.
    private static func isDevice(_ lowercased: String) -> Bool {
        // The first letter excludes most names.
        guard let first = lowercased.utf8.first, "acnlp".utf8.contains(first) else { return false }
        let stem = lowercased.prefix { $0 != "." }.reversed().drop { $0 == " " }.reversed()
        let name = String(stem)
        if ["con", "prn", "aux", "nul", "conin$", "conout$"].contains(name) { return true }
        guard name.count == 4, name.hasPrefix("com") || name.hasPrefix("lpt") else { return false }
        return name.last.map { "0123456789¹²³".contains($0) } ?? false
    }

    /// Whether a name is never synced. Compares bytes: this runs for each name in each scan, and comparing
    /// characters would dominate its cost.
    private static func isUnsynced(_ lowercased: String) -> Bool {
        let bytes = lowercased.utf8
        func ends(_ end: String) -> Bool { bytes.suffix(end.utf8.count).elementsEqual(end.utf8) }
        return lowercased == "tmp" || lowercased == "desktop.ini" || ends(".tmp") || ends(".icloud") || ends("~")
            || bytes.starts(with: "~$".utf8) || bytes.starts(with: "~syncthing~".utf8)
            || bytes.indices.contains { bytes[$0...].starts(with: ".nosync".utf8) }
    }
}
