import Foundation
import RecollectCore

/// A content that a file had, or lost, as this device knows it.
public struct WorkspaceVersion: Hashable, Sendable {
    /// What made the version; new kinds may come with new versions of Recollect.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The kind's name, stable across versions.
        public let rawValue: String

        /// Makes a kind from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// It came from elsewhere: another device, an editor, or it was there when the workspace was first opened.
        public static let seen = Kind(rawValue: "seen")
        /// It came from elsewhere while copies that contradict it lay beside it.
        public static let contested = Kind(rawValue: "contested")
        /// It was written on this device.
        public static let written = Kind(rawValue: "written")
        /// Versions that contradicted each other were folded into it.
        public static let folded = Kind(rawValue: "folded")
        /// It was put into the trash on this device.
        public static let trashed = Kind(rawValue: "trashed")
        /// It was brought back on this device.
        public static let restored = Kind(rawValue: "restored")
        /// It came here from `otherPath`, moved on this device.
        public static let moved = Kind(rawValue: "moved")
        /// It went to `otherPath`, moved on this device.
        public static let movedAway = Kind(rawValue: "movedAway")
        /// It was about to be written on this device, and whether it was is not known: the process ended, or the disk failed.
        public static let begun = Kind(rawValue: "begun")
        /// Somebody else removed it.
        public static let removed = Kind(rawValue: "removed")

        /// Whether the file was no longer there after it.
        var isAbsence: Bool { self == .trashed || self == .movedAway || self == .removed }
    }

    /// The content; of a version that ended the file, the last one.
    public let hash: ContentHash
    /// When it was written here, or first seen here.
    public let date: Date
    /// Who wrote it on this device; `nil` for what came from elsewhere.
    public let author: WorkspaceAuthor?
    /// What made it.
    public let kind: Kind
    /// The contents that it replaced: one for a write, several for a fold, none where there was no file.
    public let parents: [ContentHash]
    /// Where a moved file came from or went to.
    public let otherPath: WorkspacePath?
    /// The size of the content in bytes, recorded for observed contents; otherwise `nil`.
    var size: Int?

    /// Creates a version.
    public init(
        hash: ContentHash, date: Date, author: WorkspaceAuthor?, kind: Kind, parents: [ContentHash] = [],
        otherPath: WorkspacePath? = nil
    ) {
        self.hash = hash
        self.date = date
        self.author = author
        self.kind = kind
        self.parents = parents
        self.otherPath = otherPath
    }

    /// The contents removed from the file by this version.
    var replaced: [ContentHash] { parents + (kind.isAbsence ? [hash] : []) }

    /// The same version with an unknown result.
    var asBegun: WorkspaceVersion {
        WorkspaceVersion(
            hash: hash, date: date, author: author, kind: .begun, parents: parents, otherPath: otherPath)
    }

    /// The same version with other parents.
    func with(parents: [ContentHash]) -> WorkspaceVersion {
        var version = WorkspaceVersion(
            hash: hash, date: date, author: author, kind: kind, parents: parents, otherPath: otherPath)
        version.size = size
        return version
    }

    /// The same version, dated one millisecond later.
    var aMillisecondLater: WorkspaceVersion {
        WorkspaceVersion(
            hash: hash, date: Date(millisecondsSince1970: date.millisecondsSince1970 + 1), author: author, kind: kind,
            parents: parents, otherPath: otherPath)
    }
}
