import Foundation

/// Why a store, an import or a search could not do what was asked.
///
/// `code` is for programs, `message` for a person: what happened, to which file or session, and what to do.
public struct RecollectError: Error, Sendable {
    /// What kind of failure this is; new codes may come with new versions.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code's name, stable across versions.
        public let rawValue: String

        /// Makes a code from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The store's folder or file cannot be opened or made.
        public static let cannotOpen = Code(rawValue: "cannotOpen")
        /// The path holds something that Recollect did not write; it was left untouched.
        public static let foreignStore = Code(rawValue: "foreignStore")
        /// A newer version of Recollect wrote the store; it was left untouched.
        public static let newerSchema = Code(rawValue: "newerSchema")
        /// The store's files were replaced or removed while they were open; nothing is pretended to be saved.
        public static let storeReplaced = Code(rawValue: "storeReplaced")
        /// The store's files are damaged beyond what could be read.
        public static let damaged = Code(rawValue: "damaged")
        /// No space is left; nothing of this save was kept.
        public static let diskFull = Code(rawValue: "diskFull")
        /// The store may be read but not written.
        public static let readOnly = Code(rawValue: "readOnly")
        /// This process may not read or write the file or folder.
        public static let permissionDenied = Code(rawValue: "permissionDenied")
        /// Too many files are open.
        public static let tooManyOpenFiles = Code(rawValue: "tooManyOpenFiles")
        /// Reading or writing failed below the store.
        public static let inputOutput = Code(rawValue: "inputOutput")
        /// Another process holds the store for longer than the time allowed.
        public static let busy = Code(rawValue: "busy")
        /// No such session, message or attachment.
        public static let notFound = Code(rawValue: "notFound")
        /// More than one session fits what was asked.
        public static let ambiguous = Code(rawValue: "ambiguous")
        /// What was asked makes no sense; the message says what would.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// The message or batch is larger, or a value in it nests deeper, than the store keeps.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// There is not enough memory; nothing of this save was kept.
        public static let outOfMemory = Code(rawValue: "outOfMemory")
        /// A file could not be understood.
        public static let unreadable = Code(rawValue: "unreadable")
        /// Two stores hold different content under one id; nothing was overwritten.
        public static let conflict = Code(rawValue: "conflict")
        /// The content of a file is not on this device yet.
        public static let notLocal = Code(rawValue: "notLocal")
        /// What was asked did not come within the time allowed.
        public static let timedOut = Code(rawValue: "timedOut")
        /// The place itself is gone for now: signed out, unmounted, emptied, or another account's.
        public static let unavailable = Code(rawValue: "unavailable")
        /// The text looks like a credential and was not written.
        public static let credential = Code(rawValue: "credential")
        /// A store gives back something else than was saved in it.
        public static let notKept = Code(rawValue: "notKept")
    }

    /// What kind of failure this is.
    public let code: Code
    /// What happened, to which file or session, and what to do.
    public let message: String
    /// What lay below, where something did.
    public let cause: (any Error)?

    /// Makes an error.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

extension RecollectError: CustomStringConvertible {
    /// The message, then the code and the cause.
    public var description: String {
        let cause = cause.map { "; cause: \($0)" } ?? ""
        return "\(message) (\(code.rawValue)\(cause))"
    }
}

extension RecollectError: LocalizedError {
    /// The message: what an alert shows as `localizedDescription`.
    public var errorDescription: String? { message }
}
