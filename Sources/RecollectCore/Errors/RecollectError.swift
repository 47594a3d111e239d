import Foundation

/// A failure of a store, an import or a search.
///
/// ```swift
/// do {
///     try await store.save(message, userId: "ana", sessionId: "trip", agentId: "planner", maxMessages: 100)
/// } catch let error as RecollectError where error.code == .diskFull {
///     print(error.message)  // Nothing was saved. The message names the file.
/// }
/// ```
///
/// `code` is for programs. `message` is for users: the failure, the affected file or session, and a remedy.
public struct RecollectError: Error, Sendable {
    /// The kind of a failure. Newer versions may add codes.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code's name, stable across versions.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The store's folder or file cannot be opened or created.
        public static let cannotOpen = Code(rawValue: "cannotOpen")
        /// The path contains a foreign file, left untouched.
        public static let foreignStore = Code(rawValue: "foreignStore")
        /// The store was written by a newer version of Recollect and left untouched.
        public static let newerSchema = Code(rawValue: "newerSchema")
        /// The store's files were replaced or removed while they were open. The save was not acknowledged.
        public static let storeReplaced = Code(rawValue: "storeReplaced")
        /// The store's files are damaged, with unreadable content.
        public static let damaged = Code(rawValue: "damaged")
        /// No space is left; nothing of this save was stored.
        public static let diskFull = Code(rawValue: "diskFull")
        /// The store can be read but not written.
        public static let readOnly = Code(rawValue: "readOnly")
        /// This process has no permission to read or write the file or folder.
        public static let permissionDenied = Code(rawValue: "permissionDenied")
        /// Too many files are open.
        public static let tooManyOpenFiles = Code(rawValue: "tooManyOpenFiles")
        /// Reading or writing failed below the store.
        public static let inputOutput = Code(rawValue: "inputOutput")
        /// Another process used the store for longer than the time limit.
        public static let busy = Code(rawValue: "busy")
        /// There is no such session, message or attachment.
        public static let notFound = Code(rawValue: "notFound")
        /// More than one session matches the request.
        public static let ambiguous = Code(rawValue: "ambiguous")
        /// The request is invalid; the message says how to correct it.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// The message or batch is larger, or a value in it is nested deeper, than the store allows.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// There is not enough memory; nothing of this save was stored.
        public static let outOfMemory = Code(rawValue: "outOfMemory")
        /// A file has an unreadable format.
        public static let unreadable = Code(rawValue: "unreadable")
        /// Two stores have different content under one ID; nothing was overwritten.
        public static let conflict = Code(rawValue: "conflict")
        /// The content of a file is not on this device yet.
        public static let notLocal = Code(rawValue: "notLocal")
        /// The turn's lease expired, and another turn began: see `TurnLease`. Nothing more was saved.
        public static let leaseLost = Code(rawValue: "leaseLost")
        /// The request did not complete within the time limit.
        public static let timedOut = Code(rawValue: "timedOut")
        /// The location is temporarily unavailable: signed out, unmounted, emptied, or of another account.
        public static let unavailable = Code(rawValue: "unavailable")
        /// The text looks like a credential and was not written.
        public static let credential = Code(rawValue: "credential")
        /// A store returned different content than was saved.
        public static let verificationFailed = Code(rawValue: "verificationFailed")
    }

    /// The kind of the failure.
    public let code: Code
    /// The failure, the affected file or session, and a remedy.
    public let message: String
    /// The underlying error, if any.
    public let cause: (any Error)?

    /// Creates an error.
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
    /// The message, shown by alerts as `localizedDescription`.
    public var errorDescription: String? { message }
}
