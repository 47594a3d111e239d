/// Which names every system and every sync service takes, keeps and passes on as they are.
enum WorkspaceName {
    /// Why a composed (NFC) name is refused; `nil` for a good one.
    static func refusal(of name: String) -> String? {
        guard !name.isEmpty else { return "a name in it is empty" }
        guard name.utf8.count <= 255 else { return "a name in it is over 255 bytes long" }
        if let scalar = name.unicodeScalars.first(where: isForbidden) {
            return "the character \(scalar.escaped(asASCII: true)) in it is not taken by every system"
        }
        guard hasGoodJoiners(name) else { return "an invisible character in it joins nothing" }
        if name == "." || name == ".." { return "'.' and '..' are no names: name it from the workspace's folder on" }
        if name.utf8.first == UInt8(ascii: ".") {
            return "names that begin with a dot are hidden, and not synced everywhere"
        }
        if name.utf8.last == UInt8(ascii: ".") { return "Windows drops a dot at a name's end" }
        if [name.unicodeScalars.first, name.unicodeScalars.last].contains(where: { $0.map(isBlank) ?? false }) {
            return "blanks at a name's ends are lost on some systems"
        }
        let lowercased = name.lowercased()
        if isDevice(lowercased) { return "Windows keeps that name for a device" }
        return isUnsynced(lowercased) ? "names like that are never synced" : nil
    }

    /// Whether no name may have a character, wherever it stands.
    ///
    /// Listed rather than asked of Unicode's tables, which differ between versions: two devices refuse the same names.
    static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Control characters, and the ends of lines and paragraphs.
        case 0...0x1F, 0x7F...0x9F, 0x2028, 0x2029: true
        // Invisible characters, and those that change the direction of what stands around them.
        case 0xAD, 0x61C, 0x180E, 0x200B, 0x200E...0x200F, 0x202A...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB,
            0xE0000...0xE007F:
            true
        // No characters at all, which Apple's file system refuses.
        case 0xFDD0...0xFDEF: true
        case let value where value & 0xFFFE == 0xFFFE: true
        // " * / : < > ? \ |
        case 0x22, 0x2A, 0x2F, 0x3A, 0x3C, 0x3E, 0x3F, 0x5C, 0x7C: true
        default: false
        }
    }

    /// Whether a character is one of the two that join emoji to a family, and letters of Persian or Hindi as they are spelt.
    static func isJoiner(_ scalar: Unicode.Scalar) -> Bool { 0x200C...0x200D ~= scalar.value }

    /// Whether each joiner stands between two characters that it can join: anywhere else it makes names that look the same.
    private static func hasGoodJoiners(_ name: String) -> Bool {
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

    /// Names of devices with any extension, also where a blank stands before it.
    private static func isDevice(_ lowercased: String) -> Bool {
        // Most names are none for their first letter.
        guard let first = lowercased.utf8.first, "acnlp".utf8.contains(first) else { return false }
        let stem = lowercased.prefix { $0 != "." }.reversed().drop { $0 == " " }.reversed()
        let name = String(stem)
        if ["con", "prn", "aux", "nul", "conin$", "conout$"].contains(name) { return true }
        guard name.count == 4, name.hasPrefix("com") || name.hasPrefix("lpt") else { return false }
        return name.last.map { "0123456789¹²³".contains($0) } ?? false
    }

    /// Compared as bytes: each name of each look comes here, and as characters that costs more than all else.
    private static func isUnsynced(_ lowercased: String) -> Bool {
        let bytes = lowercased.utf8
        func ends(_ end: String) -> Bool { bytes.suffix(end.utf8.count).elementsEqual(end.utf8) }
        return lowercased == "tmp" || lowercased == "desktop.ini" || ends(".tmp") || ends(".icloud") || ends("~")
            || bytes.starts(with: "~$".utf8) || bytes.starts(with: "~syncthing~".utf8)
            || bytes.indices.contains { bytes[$0...].starts(with: ".nosync".utf8) }
    }
}
