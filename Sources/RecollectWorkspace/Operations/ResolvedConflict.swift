/// A conflict, with the outcome of its resolution.
public struct ResolvedConflict: Hashable, Sendable {
    /// The outcome of a conflict. Later versions may add outcomes.
    public struct Outcome: RawRepresentable, Hashable, Sendable {
        /// The outcome's name, stable across versions.
        public let rawValue: String

        /// Creates an outcome from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// All versions were the same.
        public static let identical = Outcome(rawValue: "identical")
        /// The file was missing and now has the content of its conflict copies.
        public static let restored = Outcome(rawValue: "restored")
        /// One version was a descendant of all others.
        public static let superseded = Outcome(rawValue: "superseded")
        /// The versions were merged.
        public static let merged = Outcome(rawValue: "merged")
        /// Some versions could not be merged and are now the kept copies in `kept`.
        public static let keptBoth = Outcome(rawValue: "keptBoth")
        /// The copy equals the file, or the file is missing, and the winning content may not have arrived yet. The
        /// copy stays for up to ten minutes.
        public static let waiting = Outcome(rawValue: "waiting")
        /// A version is not local. Its download was requested.
        public static let notLocal = Outcome(rawValue: "notLocal")
        /// Other writers changed the versions repeatedly.
        public static let busy = Outcome(rawValue: "busy")
        /// A version is too large, unreadable or not writable; see `reason`.
        public static let failed = Outcome(rawValue: "failed")

        /// Whether the conflict has ended.
        public var isResolved: Bool { ![.waiting, .notLocal, .busy, .failed].contains(self) }
    }

    /// The path of the conflicted file.
    public let path: WorkspacePath
    /// The conflict copies; empty if only the provider has the other versions.
    public let copies: [WorkspacePath]
    /// The outcome of the resolution.
    public let outcome: Outcome
    /// The kept copies, with the contents not merged into the file.
    public let kept: [WorkspacePath]
    /// The lines assumed deleted, each once, without its line end. These lines are in the merge base and missing in
    /// a version and in the merged file. Every version is in the archive (`SharedWorkspace.versions(of:)`).
    public let assumedDeleted: [String]
    /// The reason of a failure, in words; `nil` without a failure.
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
