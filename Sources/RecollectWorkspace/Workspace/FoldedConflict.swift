/// What became of a conflict.
public struct FoldedConflict: Hashable, Sendable {
    /// How it ended; new ways may come with new versions.
    public struct Outcome: RawRepresentable, Hashable, Sendable {
        /// The outcome's name, stable across versions.
        public let rawValue: String

        /// Makes an outcome from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// All versions were the same.
        public static let identical = Outcome(rawValue: "identical")
        /// The file itself was not there: what its copies hold has its name now.
        public static let restored = Outcome(rawValue: "restored")
        /// One version was written by somebody who knew all others.
        public static let superseded = Outcome(rawValue: "superseded")
        /// The versions were merged.
        public static let merged = Outcome(rawValue: "merged")
        /// What could not be merged lies beside the file, under `kept`.
        public static let keptBoth = Outcome(rawValue: "keptBoth")
        /// The copy is what the file is, and what it lost against may be on its way here: the copy stays for some minutes.
        public static let waiting = Outcome(rawValue: "waiting")
        /// A version is not on this device yet; the download was asked for.
        public static let notLocal = Outcome(rawValue: "notLocal")
        /// Others wrote in the meantime, again and again.
        public static let busy = Outcome(rawValue: "busy")
        /// A version is too large, cannot be read or may not be written: `reason` says which.
        public static let failed = Outcome(rawValue: "failed")

        /// Whether nothing of the conflict is left.
        public var isResolved: Bool { ![.waiting, .notLocal, .busy, .failed].contains(self) }
    }

    /// The file that two devices changed.
    public let path: WorkspacePath
    /// The copies that were found beside it; empty where the provider keeps versions apart.
    public let copies: [WorkspacePath]
    /// How it ended.
    public let outcome: Outcome
    /// The files that hold what could not be merged.
    public let kept: [WorkspacePath]
    /// The lines of the versions that are not in the merged file, because the versions came from a text that has them and one of them has
    /// not; each once, without its line end. Every version is in the archive (`SharedWorkspace.versions(of:)`).
    public let assumedDeleted: [String]
    /// Why it failed, for people; `nil` where it did not.
    public let reason: String?

    init(
        path: WorkspacePath, copies: [WorkspacePath], outcome: Outcome, kept: [WorkspacePath] = [],
        assumedDeleted: [String] = [], reason: String? = nil
    ) {
        self.path = path
        self.copies = copies
        self.outcome = outcome
        self.kept = kept
        self.assumedDeleted = assumedDeleted
        self.reason = reason
    }
}
