import Foundation
import RecollectCore

/// Where a file lies in a workspace: names from the root on, `Research/moby-dick/full_text.txt`.
///
/// No path leaves the root, and every path can be a file on all systems that sync it. Compared as bytes, in the order
/// of their bytes; text in decomposed form (NFD) is composed (NFC) first, so that both spellings are one path.
public struct WorkspacePath: Hashable, Sendable {
    /// The names, from the root on; empty for the root itself.
    public let names: [String]
    /// The names with `/` between them.
    public let description: String

    /// The root.
    public static let root = WorkspacePath(checked: [])

    /// Reads a path whose names are parted by `/`.
    /// - Throws: `invalidArgument`, with the reason, for a path that is empty, absolute, over 1,000 bytes or 64 names, has `.` or
    ///   `..` or an empty name in it, a name over 255 bytes, or one that some system or sync service refuses, skips or
    ///   changes: control characters, invisible ones that join no letters or emoji, `\ : * ? " < > |`, a hidden name, a
    ///   blank or a dot at its end, a name of Windows' devices, `.icloud` placeholders and what iCloud never syncs
    ///   (`*.tmp`, `~$…`, `name~`, `*.nosync`), and what sync services call their own.
    public init(_ text: String) throws {
        func refuse(_ reason: String) -> RecollectError {
            RecollectError(.invalidArgument, "\(Self.shown(text)) is no path in a workspace: \(reason)")
        }
        let composed = text.composed
        guard !composed.isEmpty else { throw refuse("it is empty") }
        guard composed.utf8.first != UInt8(ascii: "/") else {
            throw refuse("it begins with '/': name it from the workspace's folder on")
        }
        guard composed.utf8.count <= Self.longest else { throw refuse("it is over \(Self.longest) bytes long") }
        let names = composed.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard names.count <= Self.deepest else { throw refuse("it has over \(Self.deepest) names") }
        for name in names {
            if let reason = WorkspaceName.refusal(of: name) { throw refuse(reason) }
        }
        self.init(checked: names)
    }

    /// Takes names that are known to be valid.
    init(checked names: [String]) {
        self.init(names: names, description: names.joined(separator: "/"))
    }

    private init(names: [String], description: String) {
        self.names = names
        self.description = description
    }

    /// The last name; empty for the root.
    public var name: String { names.last ?? "" }

    /// The folder that it lies in; `nil` for the root.
    public var parent: WorkspacePath? {
        names.isEmpty ? nil : WorkspacePath(checked: names.dropLast())
    }

    /// The path of a name in this folder.
    /// - Throws: `invalidArgument` for a name that is none, or has a `/` in it.
    public func appending(_ name: String) throws -> WorkspacePath {
        guard !name.utf8.contains(UInt8(ascii: "/")) else {
            throw RecollectError(.invalidArgument, "\(Self.shown(name)) is no name in a folder: it has a '/' in it")
        }
        let name = name.composed
        let description = names.isEmpty ? name : "\(description)/\(name)"
        // Only the name is new. Where it is no good, the whole path says so.
        guard names.count < Self.deepest, description.utf8.count <= Self.longest, WorkspaceName.refusal(of: name) == nil
        else { return try WorkspacePath(description) }
        return WorkspacePath(names: names + [name], description: description)
    }

    /// What systems that ignore case, the form of letters or what joins them take for one path has one key.
    ///
    /// Takes more for one than any single system does (`ß` and `SS`): for finding twins, not for finding files.
    public var key: String { Self.folded(description) }

    /// The folding of `key`, for any name.
    static func folded(_ text: String) -> String {
        if text.isASCII { return text.lowercased() }
        var folded = text.uppercased().lowercased()
        if folded.unicodeScalars.contains(where: WorkspaceName.isJoiner) {
            folded.unicodeScalars.removeAll(where: WorkspaceName.isJoiner)
        }
        return folded.composed
    }

    /// A text as messages show it: in one line and bounded.
    private static func shown(_ text: String) -> String {
        let start = text.unicodeScalars.prefix(80)
        return start.reduce(into: "'") { $0 += $1.escaped(asASCII: false) } + (start.count < 80 ? "'" : "…'")
    }

    /// Bytes of all names with the `/` between them: what all systems take with a root before it.
    static let longest = 1_000

    /// Each folder on the way to a file is open while that is: a device lets a program have few.
    private static let deepest = 64
}

extension WorkspacePath: CustomStringConvertible {}

extension WorkspacePath: Comparable {
    /// Whether one path's bytes come before the other's.
    public static func < (left: WorkspacePath, right: WorkspacePath) -> Bool {
        left.description.precedesByBytes(right.description)
    }

    /// Whether the bytes are the same.
    public static func == (left: WorkspacePath, right: WorkspacePath) -> Bool {
        left.description.hasSameBytes(as: right.description)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(description)
    }
}

extension WorkspacePath: Codable {
    /// Reads a path from its text; the empty text is the root.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        self = try text.isEmpty ? .root : WorkspacePath(text)
    }

    /// Writes the path as its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension String {
    /// Whether the text has but one form.
    var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }

    /// The text in composed form (NFC).
    var composed: String { isOfComposedBlocks ? self : precomposedStringWithCanonicalMapping }

    /// Whether all characters are of blocks in which each is composed and none combines with one before it: most texts, for which
    /// this is much faster than composing them. (Quick check of UAX #15, 9.)
    var isOfComposedBlocks: Bool {
        unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0..<0x300, 0x400..<0x483, 0x2010..<0x2028, 0x3003..<0x302A, 0x3041..<0x3097, 0x30A1..<0x30FB: true
            case 0x4E00..<0xA000, 0xAC00..<0xD7A4, 0xFF01..<0xFF60, 0x1F300..<0x1F650: true
            default: false
            }
        }
    }
}
