import Foundation
import RecollectCore

/// A version of a file, or its removal, as recorded on this device.
public struct WorkspaceVersion: Hashable, Sendable {
    /// The origin of a version. Newer versions of Recollect may add kinds.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The kind's name, stable across versions.
        public let rawValue: String

        /// Creates a kind from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Observed: from another device, there when the workspace was first opened, or of unknown origin.
        public static let observed = Kind(rawValue: "observed")
        /// Observed: saved on this device by another program, in place of the version before.
        public static let edited = Kind(rawValue: "edited")
        /// Observed while the file had conflict copies.
        public static let conflicted = Kind(rawValue: "conflicted")
        /// Written on this device.
        public static let written = Kind(rawValue: "written")
        /// Merged from conflicting versions.
        public static let merged = Kind(rawValue: "merged")
        /// Moved to the trash on this device.
        public static let trashed = Kind(rawValue: "trashed")
        /// Restored on this device.
        public static let restored = Kind(rawValue: "restored")
        /// Moved here from `otherPath` on this device.
        public static let moved = Kind(rawValue: "moved")
        /// Moved to `otherPath` on this device.
        public static let movedAway = Kind(rawValue: "movedAway")
        /// Begun on this device, with an unknown outcome: the write is in progress, the process ended, or the disk
        /// failed.
        public static let begun = Kind(rawValue: "begun")
        /// Removed by another program or device.
        public static let removed = Kind(rawValue: "removed")

        /// Whether the file no longer existed after this version.
        var isAbsence: Bool { self == .trashed || self == .movedAway || self == .removed }
    }

    /// The erasure of a version's content for good.
    public struct Redaction: Hashable, Sendable {
        /// The date of the erasure.
        public let date: Date
        /// The user or the agent that requested it.
        public let author: WorkspaceAuthor

        /// Creates a redaction.
        public init(date: Date, author: WorkspaceAuthor) {
            self.date = date
            self.author = author
        }
    }

    /// The content. For a version that ended the file, this is the last one.
    public let hash: ContentHash
    /// The date of the write or of the first observation on this device.
    public let date: Date
    /// The author of a write on this device; `nil` for an observed version.
    public let author: WorkspaceAuthor?
    /// The origin of the version.
    public let kind: Kind
    /// The replaced contents: one for a write, several for a merge, none for a new file.
    public let parents: [ContentHash]
    /// The path from which or to which the file was moved.
    public let otherPath: WorkspacePath?
    /// The erasure of the content for good (`SharedWorkspace.redact`); `nil` without one. Set by
    /// `SharedWorkspace.versions(of:)` only.
    public internal(set) var redaction: Redaction?
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

    /// The same version with an unknown outcome.
    var asBegun: WorkspaceVersion {
        WorkspaceVersion(
            hash: hash, date: date, author: author, kind: .begun, parents: parents, otherPath: otherPath)
    }

    /// Returns the same version with other parents.
    func with(parents: [ContentHash]) -> WorkspaceVersion {
        var version = WorkspaceVersion(
            hash: hash, date: date, author: author, kind: kind, parents: parents, otherPath: otherPath)
        version.size = size
        return version
    }

    /// Returns the same version, marked as redacted.
    func with(_ redaction: Redaction?) -> WorkspaceVersion {
        var version = self
        version.redaction = redaction
        return version
    }

    /// The same version, dated one millisecond later.
    var aMillisecondLater: WorkspaceVersion { dated(Date(millisecondsSince1970: date.millisecondsSince1970 + 1)) }

    /// Returns the same version with another date.
    func dated(_ date: Date) -> WorkspaceVersion {
        WorkspaceVersion(hash: hash, date: date, author: author, kind: kind, parents: parents, otherPath: otherPath)
    }
}
