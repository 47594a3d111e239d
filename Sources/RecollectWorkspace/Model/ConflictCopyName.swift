import RecollectCore

/// The name of a conflict copy, made by a sync service because two devices changed one file or folder.
///
/// In some dialects, the name alone is proof of a conflict copy (`isCertain`). In the others, people give such
/// names, too, and the caller needs more evidence, such as a fixed name of the original.
package struct ConflictCopyName: Hashable, Sendable {
    /// The naming scheme of a sync service.
    package struct Dialect: RawRepresentable, Hashable, Sendable {
        /// The dialect's name, stable across versions.
        package let rawValue: String

        /// Creates a dialect from its name.
        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// `name.sync-conflict-20250115-123456-ABCDEFG.md`, with the mark before the extension as defined by Go.
        /// Old versions omit the device. Source: `conflictName` in Syncthing's `lib/model/folder_sendrecv.go`.
        package static let syncthing = Dialect(rawValue: "syncthing")
        /// `name (Ann's conflicted copy 2025-01-15).md`, in the languages of the desktop app; also used by
        /// ownCloud, Nextcloud and Maestral. Includes `name (Case Conflict 1).md` and similar names. Sources:
        /// help.dropbox.com, and ignore lists of projects.
        package static let dropbox = Dialect(rawValue: "dropbox")
        /// `name-DESKTOP-AB12CD3.md`, `name-COMPUTER-2.md`. Source: issues of the Linux clients, which use the same
        /// names.
        package static let oneDrive = Dialect(rawValue: "oneDrive")
        /// `name 2.md`, `Journal 2`.
        package static let iCloud = Dialect(rawValue: "iCloud")
        /// `name (1).md`, `name(1)`; also used by OneDrive's website for the second file of a name.
        package static let iCloudForWindows = Dialect(rawValue: "iCloudForWindows")
    }

    /// The name of the original file or folder. Never empty, and shorter than the copy's.
    package let original: String
    /// The dialect of the name.
    package let dialect: Dialect
    /// Whether only a sync service gives such names.
    package let isCertain: Bool

    /// Creates a conflict name from a file name; `nil` if no dialect matches.
    ///
    /// For copies of copies, the result is the first original in the certain dialects, and the nearest in the
    /// others.
    package init?(_ name: String) {
        let whole = Array(name.utf8)
        var original = whole[...]
        var certain: Dialect?
        while let found = Self.match(original) {
            certain = certain ?? found.dialect
            original = found.original[...]
        }
        if let certain {
            self.init(original, certain, isCertain: true)
        } else if let found = Self.candidate(whole[...]) {
            self.init(found.original[...], found.dialect, isCertain: false)
        } else {
            return nil
        }
    }

    private init(_ original: ArraySlice<UInt8>, _ dialect: Dialect, isCertain: Bool) {
        self.original = String(decoding: original, as: UTF8.self)
        self.dialect = dialect
        self.isCertain = isCertain
    }

    private typealias Found = (original: [UInt8], dialect: Dialect)

    private static func match(_ name: ArraySlice<UInt8>) -> Found? {
        if let original = withoutSyncthingMark(name) { return (original, .syncthing) }
        if let group = Group(endOf: name), group.isAfterBlank, group.isDropbox(dated: true) {
            return (group.outside, .dropbox)
        }
        return nil
    }

    private static func candidate(_ name: ArraySlice<UInt8>) -> Found? {
        if let group = Group(endOf: name) {
            if group.isAfterBlank, group.isDropbox(dated: false) { return (group.outside, .dropbox) }
            if isCount(group.inside, from: 1) { return (group.outside, .iCloudForWindows) }
        }
        for (stem, suffix) in stems(of: name) {
            if let blank = stem.lastIndex(of: UInt8(ascii: " ")), isCount(stem[(blank + 1)...], from: 2) {
                let original = stem[..<blank]
                if original.contains(where: { $0 != UInt8(ascii: " ") }) {
                    return (Array(original + suffix), .iCloud)
                }
            }
            if let original = withoutComputer(stem) { return (original + suffix, .oneDrive) }
        }
        return nil
    }

    /// Returns two splits of a name: without an extension, and at the last dot.
    private static func stems(of name: ArraySlice<UInt8>) -> [(stem: ArraySlice<UInt8>, suffix: ArraySlice<UInt8>)] {
        let whole = (stem: name, suffix: name[name.endIndex...])
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return [whole] }
        return [whole, (name[..<dot], name[dot...])]
    }

    /// Whether the digits are a copy number of a sync service: one or two digits, at least `first`.
    private static func isCount(_ digits: ArraySlice<UInt8>, from first: Int) -> Bool {
        guard 1...2 ~= digits.count, digits.allSatisfy(isDigit), digits.first != UInt8(ascii: "0") else { return false }
        return Int(String(decoding: digits, as: UTF8.self)).map { $0 >= first } ?? false
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private static func isUppercase(_ byte: UInt8) -> Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte }
}

// MARK: - Syncthing

extension ConflictCopyName {
    private static let mark = Array(".sync-conflict-".utf8)

    /// Returns the name without its last mark; `nil` without a mark.
    private static func withoutSyncthingMark(_ name: ArraySlice<UInt8>) -> [UInt8]? {
        guard name.count > mark.count else { return nil }
        for start in (name.startIndex...(name.endIndex - mark.count)).reversed() where name[start...].starts(with: mark)
        {
            guard let end = endOfStamp(name, from: start + mark.count) else { continue }
            let original = Array(name[..<start] + name[end...])
            return original.isEmpty ? nil : original
        }
        return nil
    }

    /// Returns the end of `20250115-123456-ABCDEFG` at this position; `nil` unless only an extension follows.
    private static func endOfStamp(_ name: ArraySlice<UInt8>, from start: Int) -> Int? {
        var rest = name[start...]
        guard rest.prefix(8).count(where: isDigit) == 8, rest.dropFirst(8).first == UInt8(ascii: "-"),
            rest.dropFirst(9).prefix(6).count(where: isDigit) == 6
        else { return nil }
        rest = rest.dropFirst(15)
        if rest.first == UInt8(ascii: "-") {
            rest = rest.dropFirst()
            let device = rest.prefix { isUppercase($0) || isDigit($0) }
            guard device.isEmpty || device.count == 7 else { return nil }
            rest = rest.dropFirst(device.count)
        }
        return rest.isEmpty || rest.first == UInt8(ascii: ".") ? rest.startIndex : nil
    }
}

// MARK: - Words in parentheses

extension ConflictCopyName {
    /// The last parentheses of a name, followed only by an extension.
    private struct Group {
        let inside: ArraySlice<UInt8>
        /// The name without the parentheses and the blanks before them.
        let outside: [UInt8]
        let isAfterBlank: Bool

        init?(endOf name: ArraySlice<UInt8>) {
            guard let close = name.lastIndex(of: UInt8(ascii: ")")),
                close + 1 == name.endIndex || name[close + 1] == UInt8(ascii: ".")
            else { return nil }
            var depth = 0
            let open = name[...close].lastIndex { byte in
                if byte == UInt8(ascii: ")") { depth += 1 }
                if byte == UInt8(ascii: "(") { depth -= 1 }
                return depth == 0
            }
            guard let open else { return nil }
            var before = name[..<open]
            isAfterBlank = before.last == UInt8(ascii: " ")
            while before.last == UInt8(ascii: " ") { before.removeLast() }
            guard !before.isEmpty else { return nil }
            inside = name[(open + 1)..<close]
            outside = Array(before + name[(close + 1)...])
        }

        /// Whether the text is a mark of Dropbox: one of `kinds`, or a dated one of `copies`. If `dated` is `false`,
        /// the mark is undated, as only in help pages.
        func isDropbox(dated: Bool) -> Bool {
            let text = String(decoding: inside, as: UTF8.self).lowercased()
            guard dated else { return text.hasSuffix("conflicted copy") }
            let kind = text.utf8.last.map(ConflictCopyName.isDigit) == true ? text.prefix { !$0.isNumber } : text[...]
            if Self.kinds.contains(kind.last == " " ? String(kind.dropLast()) : String(kind)) { return true }
            return hasDate && Self.copies.contains { text.contains($0) }
        }

        private static let kinds: Set<String> = [
            "case conflict", "selective sync conflict", "unicode encoding conflict", "white space conflict",
            "shared folder conflict",
        ]

        private static let copies = [
            "conflicted copy", "konfliktkopie", "in konflikt stehende kopie", "copie en conflit", "copia in conflitto",
            "copia en conflicto", "copia conflictiva", "競合コピー", "コンフリクトコピー",
        ]

        private var hasDate: Bool {
            inside.indices.contains { start in
                let date = inside[start...].prefix(10)
                return date.count == 10
                    && zip(date, "0000-00-00".utf8).allSatisfy {
                        $1 == UInt8(ascii: "0") ? ConflictCopyName.isDigit($0) : $0 == $1
                    }
            }
        }
    }
}

// MARK: - Names of computers

extension ConflictCopyName {
    /// Returns the text before `-COMPUTER` or `-COMPUTER-2` at the end; `nil` without such an end.
    ///
    /// A computer name has the form of Windows: two to fifteen capitals, digits and hyphens, with a letter first.
    /// Of several matches, the longest counts (`DESKTOP-AB12CD3`).
    private static func withoutComputer(_ stem: ArraySlice<UInt8>) -> [UInt8]? {
        // The range covers the longest possible end, `-COMPUTERCOMPUTE-99`.
        let first = max(stem.startIndex + max(1, lengthOfUUID(stem)), stem.endIndex - 19)
        guard first < stem.endIndex else { return nil }
        for hyphen in stem[first...].indices where stem[hyphen] == UInt8(ascii: "-") {
            let computer = stem[(hyphen + 1)...]
            // A count after the computer name is not part of its fifteen characters.
            let parts = computer.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            let counted = parts.count > 1 && parts.last.map { isCount($0, from: 1) } == true
            let bare = counted ? computer.dropLast((parts.last?.count ?? 0) + 1) : computer
            if isComputer(bare) { return Array(stem[..<hyphen]) }
        }
        return nil
    }

    private static func isComputer(_ name: ArraySlice<UInt8>) -> Bool {
        guard 2...15 ~= name.count, let first = name.first, isUppercase(first), name.last != UInt8(ascii: "-") else {
            return false
        }
        return name.allSatisfy { isUppercase($0) || isDigit($0) || $0 == UInt8(ascii: "-") }
    }

    /// Returns 36 for a UUID at the start, because its capitals and hyphens are not a computer name; otherwise 0.
    private static func lengthOfUUID(_ stem: ArraySlice<UInt8>) -> Int {
        let start = stem.prefix(36)
        guard start.count == 36 else { return 0 }
        let isUUID = zip(start, "00000000-0000-0000-0000-000000000000".utf8).allSatisfy { byte, form in
            form == UInt8(ascii: "-") ? byte == form : isDigit(byte) || UInt8(ascii: "A")...UInt8(ascii: "F") ~= byte
        }
        return isUUID ? 36 : 0
    }
}
