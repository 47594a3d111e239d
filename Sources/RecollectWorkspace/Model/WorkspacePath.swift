import Foundation
import RecollectCore

/// The path of a file in a workspace, relative to the root: `Research/moby-dick/full_text.txt`.
///
/// No path leaves the root, and every path is valid on all systems with a copy of the workspace. Paths are compared
/// and sorted by their bytes. Text in decomposed form (NFD) is composed (NFC) first, so both spellings are one
/// path.
public struct WorkspacePath: Hashable, Sendable {
    /// The names of the folders and of the file, from the root on; empty for the root itself.
    public let names: [String]
    /// The names with `/` between them.
    public let description: String

    /// The root.
    public static let root = WorkspacePath(checked: [])

    /// Creates a path from names separated by `/`.
    /// - Throws: `invalidArgument`, with the reason, for a path that is empty, absolute, over 1,000 bytes or over
    ///   64 names. Also for a path with `.`, `..`, an empty name, a name over 255 bytes, or a name refused, skipped
    ///   or changed by a system or sync service: control characters, invisible characters not joining letters or
    ///   emoji, `\ : * ? " < > |`, hidden names, a blank at either end, a dot at the end, names of Windows devices,
    ///   `.icloud` placeholders, names excluded by iCloud (`*.tmp`, `~$…`, `name~`, `*.nosync`), and reserved names
    ///   of sync services.
    public init(_ text: String) throws {
        func refuse(_ reason: String) -> RecollectError {
            RecollectError(.invalidArgument, "\(Self.shown(text)) is not a valid workspace path: \(reason)")
        }
        let composed = text.composed
        guard !composed.isEmpty else { throw refuse("it is empty") }
        guard composed.utf8.first != UInt8(ascii: "/") else {
            throw refuse("it begins with '/': use a path relative to the workspace folder")
        }
        guard composed.utf8.count <= Self.longest else { throw refuse("it is longer than \(Self.longest) bytes") }
        let names = composed.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard names.count <= Self.deepest else { throw refuse("it has more than \(Self.deepest) names") }
        for name in names {
            if let reason = WorkspaceName.refusal(of: name) { throw refuse(reason) }
        }
        self.init(checked: names)
    }

    /// Creates a path from valid names.
    init(checked names: [String]) {
        self.init(names: names, description: names.joined(separator: "/"))
    }

    private init(names: [String], description: String) {
        self.names = names
        self.description = description
    }

    /// The last name; empty for the root.
    public var name: String { names.last ?? "" }

    /// The parent folder; `nil` for the root.
    public var parent: WorkspacePath? {
        names.isEmpty ? nil : WorkspacePath(checked: names.dropLast())
    }

    /// Returns the path of a name in this folder.
    /// - Throws: `invalidArgument` for an invalid name, or one with a `/`; also for a path that is too long or too
    ///   deep.
    public func appending(_ name: String) throws -> WorkspacePath {
        guard !name.utf8.contains(UInt8(ascii: "/")) else {
            throw RecollectError(.invalidArgument, "\(Self.shown(name)) is not a valid name: it contains '/'")
        }
        let name = name.composed
        let description = names.isEmpty ? name : "\(description)/\(name)"
        // Only the name is new. If it is refused, the error is the one for the whole path.
        guard names.count < Self.deepest, description.utf8.count <= Self.longest, WorkspaceName.refusal(of: name) == nil
        else { return try WorkspacePath(description) }
        return WorkspacePath(names: names + [name], description: description)
    }

    /// A key shared by all paths treated as equal by systems that ignore case, normalization or joining characters.
    ///
    /// More paths share a key than on any single system (`ß` and `SS`). Use it to find name collisions, not to find
    /// files.
    public var key: String { Self.caseFolded(description) }

    /// Returns the caseFolded text of `key`, for any name.
    static func caseFolded(_ text: String) -> String {
        if text.isASCII { return text.lowercased() }
        var caseFolded = text.uppercased().lowercased()
        if caseFolded.unicodeScalars.contains(where: WorkspaceName.isJoiner) {
            caseFolded.unicodeScalars.removeAll(where: WorkspaceName.isJoiner)
        }
        return caseFolded.composed
    }

    /// Returns a string for messages: on one line, and of limited length.
    private static func shown(_ text: String) -> String {
        let start = text.unicodeScalars.prefix(80)
        return start.reduce(into: "'") { $0 += $1.escaped(asASCII: false) } + (start.count < 80 ? "'" : "…'")
    }

    /// The maximum number of bytes of a path. With a root before it, the path is still valid on all systems.
    static let longest = 1_000

    /// The maximum number of names. All parent folders of a file are open while it is, and some devices allow few
    /// descriptors.
    private static let deepest = 64
}

extension WorkspacePath: CustomStringConvertible {}

extension WorkspacePath: Comparable {
    /// Whether the bytes of one path come before those of the other.
    public static func < (left: WorkspacePath, right: WorkspacePath) -> Bool {
        left.description.precedesByBytes(right.description)
    }

    /// Whether two paths have the same bytes.
    public static func == (left: WorkspacePath, right: WorkspacePath) -> Bool {
        left.description.hasSameBytes(as: right.description)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(description)
    }
}

extension WorkspacePath: Codable {
    /// Creates a path from its text. The empty text is the root.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        self = try text.isEmpty ? .root : WorkspacePath(text)
    }

    /// Encodes the path as its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
