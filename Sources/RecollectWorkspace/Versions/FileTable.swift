import Foundation
import RecollectCore

/// The result of the last scan of a folder: the stamp and the content of each file.
///
/// It is saved beside the archive's log, so that a scan after a start reads only changed files. If it is lost, all
/// files are read again.
struct FileTable: Equatable {
    /// The record of one file.
    struct Row: Equatable {
        let stamp: String
        /// The hash of the content; `nil` if the file was not read because it is not local or too large.
        let hash: ContentHash?
        /// Whether every later change gives another stamp: at the scan, the last change was long enough ago.
        let isResting: Bool
    }

    var rows: [WorkspacePath: Row] = [:]
}

extension FileTable {
    /// The table as lines of path, stamp, hash and `isResting`, separated by tabs.
    var bytes: [UInt8] {
        let lines = rows.sorted { $0.key < $1.key }.map { path, row in
            [path.description, row.stamp, row.hash?.rawValue ?? "", row.isResting ? "1" : "0"].joined(separator: "\t")
        }
        return Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// Creates a table from its bytes. Invalid lines are left out.
    init(bytes: [UInt8]) {
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 4, let path = try? WorkspacePath(fields[0]) else { continue }
            rows[path] = Row(
                stamp: fields[1], hash: ContentHash(hexadecimal: fields[2]), isResting: fields[3] == "1")
        }
    }
}
