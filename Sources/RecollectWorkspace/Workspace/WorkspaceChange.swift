import Foundation

/// A change in a workspace.
public struct WorkspaceChange: Hashable, Sendable {
    /// The kind of a change. Later versions may add kinds.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The kind's name, stable across versions.
        public let rawValue: String

        /// Creates a kind from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A file was added.
        public static let added = Kind(rawValue: "added")
        /// The content of a file changed.
        public static let changed = Kind(rawValue: "changed")
        /// A file was removed.
        public static let removed = Kind(rawValue: "removed")
        /// A file came into conflict, for example by a conflict copy.
        public static let conflicted = Kind(rawValue: "conflicted")
        /// A mass deletion was found. The path is the root.
        public static let massDeletion = Kind(rawValue: "massDeletion")
    }

    /// The path of the file.
    public let path: WorkspacePath
    /// The kind of the change.
    public let kind: Kind
    /// A Boolean value that indicates whether Recollect made the change on this device, in any process.
    public let isOwn: Bool

    /// Creates a change.
    public init(path: WorkspacePath, kind: Kind, isOwn: Bool) {
        self.path = path
        self.kind = kind
        self.isOwn = isOwn
    }
}
