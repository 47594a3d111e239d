import Foundation

/// Something that became different in a workspace.
public struct WorkspaceChange: Hashable, Sendable {
    /// What became different; new kinds may come with new versions.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The kind's name, stable across versions.
        public let rawValue: String

        /// Makes a kind from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// There is a new file.
        public static let added = Kind(rawValue: "added")
        /// A file has another content.
        public static let changed = Kind(rawValue: "changed")
        /// A file is gone.
        public static let removed = Kind(rawValue: "removed")
        /// Copies that contradict a file lie beside it now.
        public static let conflicted = Kind(rawValue: "conflicted")
        /// So much is gone at once that nothing is concluded from it; the path is the root.
        public static let vanished = Kind(rawValue: "vanished")
    }

    /// Which file.
    public let path: WorkspacePath
    /// What became different.
    public let kind: Kind
    /// Whether it was written on this device through Recollect, by whatever process.
    public let isOwn: Bool

    /// Makes a change.
    public init(path: WorkspacePath, kind: Kind, isOwn: Bool) {
        self.path = path
        self.kind = kind
        self.isOwn = isOwn
    }
}
