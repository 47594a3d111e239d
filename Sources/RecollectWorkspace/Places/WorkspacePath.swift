import Foundation
import RecollectCore

/// Where a file lies in a workspace: names from the root on, `Research/moby-dick/full_text.txt`.
///
/// No path leaves the root, and every path can be a file on all systems that sync it. Compared as bytes, in the order of their bytes;
/// text in decomposed form (NFD) is composed (NFC) first, so that both spellings are one path.
public struct WorkspacePath: Hashable, Sendable {
    /// The names, from the root on; empty for the root itself.
    public let names: [String]

    /// The root.
    public static let root = WorkspacePath(checked: [])

    /// Reads a path whose names are parted by `/`.
    /// - Throws: `invalidArgument`, with the reason, for a path that is empty, absolute, has `.` or `..` or an empty name in it, a name
    ///   over 255 bytes, or one that some system or sync service refuses, skips or changes: control characters, `\ : * ? " < > |`,
    ///   a blank or a dot at its end, a name of Windows' devices, `.icloud` placeholders and what iCloud never syncs (`*.tmp`,
    ///   `~$…`, `name~`, `*.nosync`), and what sync services call their own.
    public init(_ text: String) throws {
        self.init(checked: text.precomposedStringWithCanonicalMapping.split(separator: "/").map(String.init))
    }

    init(checked names: [String]) {
        self.names = names
    }

    /// The last name; empty for the root.
    public var name: String { names.last ?? "" }
}
