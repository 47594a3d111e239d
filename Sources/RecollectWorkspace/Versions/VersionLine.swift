import Foundation
import RecollectCore

/// A line of the archive's log: fields separated by tabs.
///
/// `mark, milliseconds since 1970, kind, hash, parents, author, path, other path, size in bytes`. Unknown values are
/// empty; newer versions add fields at the end. Any other line, such as part of one after a kill or a power loss, is
/// ignored.
struct VersionLine: Hashable {
    /// The state of a change in the log.
    enum Mark: String {
        /// The change is about to be made. If a scan finds it made, this line has its author.
        case begun = "?"
        /// The change was made.
        case done = "="
        /// The change was begun, and then refused.
        case withdrawn = "!"
        /// The content of the file's versions so far is about to be erased. The line has the hash, the date and the
        /// author of the redaction.
        case redacting = "~"
        /// The content was erased.
        case redacted = "-"
    }

    var mark: Mark
    var path: WorkspacePath
    var version: WorkspaceVersion

    /// Whether both lines are about the same change.
    func isSameChange(as other: VersionLine) -> Bool {
        path == other.path && version == other.version
    }

    /// Returns the same change with another mark.
    func marked(_ mark: Mark) -> VersionLine {
        VersionLine(mark: mark, path: path, version: version)
    }
}

extension VersionLine {
    /// The bytes of the line, with its line break.
    var bytes: [UInt8] {
        let fields =
            [
                mark.rawValue, String(version.date.millisecondsSince1970), version.kind.rawValue, version.hash.rawValue,
                version.parents.map(\.rawValue).joined(separator: ","), version.author?.field ?? "", path.description,
                version.otherPath?.description ?? "",
            ] + (version.size.map { [String($0)] } ?? [])
        return Array((fields.joined(separator: "\t") + "\n").utf8)
    }

    /// Creates a line from its bytes, without the line break; `nil` for other bytes.
    init?(_ bytes: ArraySlice<UInt8>) {
        let fields = bytes.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard fields.count >= 8, let mark = Mark(rawValue: fields[0]), let milliseconds = Int64(fields[1]),
            !fields[2].isEmpty, let hash = ContentHash(hexadecimal: fields[3]), let path = try? WorkspacePath(fields[6])
        else { return nil }
        let parents = fields[4].split(separator: ",").map { ContentHash(hexadecimal: $0) }
        let author = WorkspaceAuthor(field: fields[5])
        guard !parents.contains(nil), author != nil || fields[5].isEmpty else { return nil }
        self.mark = mark
        self.path = path
        version = WorkspaceVersion(
            hash: hash, date: Date(millisecondsSince1970: milliseconds), author: author,
            kind: WorkspaceVersion.Kind(rawValue: fields[2]), parents: parents.compactMap { $0 },
            otherPath: try? WorkspacePath(fields[7]))
        // Other devices write lines, too: a negative size is none.
        version.size = fields.count > 8 ? Int(fields[8]).flatMap { $0 >= 0 ? $0 : nil } : nil
    }
}

extension WorkspaceAuthor {
    /// The author as a field of a line.
    fileprivate var field: String { agentId.map { "agent:" + NameEscaping.escaped($0) } ?? "user" }

    /// Creates an author from a field of a line; `nil` for any other text.
    fileprivate init?(field: String) {
        if field == "user" {
            self = .user
        } else if field.hasPrefix("agent:"), let id = NameEscaping.id(of: String(field.dropFirst("agent:".count))) {
            self = .agent(id)
        } else {
            return nil
        }
    }
}

extension ContentHash {
    /// Creates a hash from 64 lowercase hexadecimal digits, as in a log or a name; `nil` for any other text.
    init?(hexadecimal text: some StringProtocol) {
        guard text.utf8.count == 64,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        self.init(rawValue: String(text))
    }
}
