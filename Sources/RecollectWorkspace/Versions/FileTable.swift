import Foundation
import RecollectCore

/// What the last look at a folder found: which stamp each file had, and which content. Kept as a file beside the archive's log, so
/// that a program that starts reads only what changed; lost, everything is read once more.
struct FileTable: Equatable {
    /// One file.
    struct Row: Equatable {
        let stamp: String
        /// The content; `nil` where it was not read: it is not local, or too large.
        let hash: ContentHash?
        /// Whether the stamp tells every later change: at the look, the last change was long enough ago.
        let isResting: Bool
    }

    var rows: [WorkspacePath: Row] = [:]
}

extension FileTable {
    /// The table as lines of path, stamp, hash and whether it rests, parted by tabs.
    var bytes: [UInt8] {
        let lines = rows.sorted { $0.key < $1.key }.map { path, row in
            [path.description, row.stamp, row.hash?.rawValue ?? "", row.isResting ? "1" : "0"].joined(separator: "\t")
        }
        return Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// Reads a table; what is none of its lines is left out.
    init(bytes: [UInt8]) {
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 4, let path = try? WorkspacePath(fields[0]) else { continue }
            rows[path] = Row(
                stamp: fields[1], hash: ContentHash(hexadecimal: fields[2]), isResting: fields[3] == "1")
        }
    }
}
