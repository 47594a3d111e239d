/// The result of settling the temporary files of killed writers.
public struct LeftoverReport: Hashable, Sendable {
    /// The files made from temporary files.
    public var kept: [WorkspacePath]
    /// The number of removed files: drafts, and files with contents available elsewhere.
    public var removed: Int

    /// Creates a result.
    public init(kept: [WorkspacePath] = [], removed: Int = 0) {
        self.kept = kept
        self.removed = removed
    }
}
