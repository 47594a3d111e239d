import Foundation

/// An error of a model client: no answer, or an incomplete one.
///
/// `code` is for programs. `message` is for people: the failure, the server, and the remedy. Neither contains
/// an API key or content of the messages.
public struct ModelError: Error, Sendable {
    /// A kind of failure. New versions may add codes.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code's name, stable across versions.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The client was created with an invalid base URL, header or pair of credentials. Nothing was sent.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// The request was not sent: the server is not running, its name is unknown, or the connection is not
        /// secure.
        public static let cannotConnect = Code(rawValue: "cannotConnect")
        /// The connection ended before the answer did.
        public static let connectionLost = Code(rawValue: "connectionLost")
        /// The server took longer than the time limit.
        public static let timedOut = Code(rawValue: "timedOut")
        /// The API key is missing, wrong, or without permission.
        public static let unauthorized = Code(rawValue: "unauthorized")
        /// There is no such model, or no such API at this address.
        public static let notFound = Code(rawValue: "notFound")
        /// There were too many requests, or no credit is left. `retryAfter` is the server's requested delay, if
        /// it sent one.
        public static let rateLimited = Code(rawValue: "rateLimited")
        /// The server does not accept the request: it is too long, or contains content unsupported by the
        /// model.
        public static let refused = Code(rawValue: "refused")
        /// The server failed.
        public static let serverFailed = Code(rawValue: "serverFailed")
        /// The server redirects to another address. Nothing was sent there.
        public static let redirected = Code(rawValue: "redirected")
        /// The answer is not a chat completion, or cannot be read.
        public static let unreadable = Code(rawValue: "unreadable")
    }

    /// The kind of failure.
    public let code: Code
    /// The failure, the server, and the remedy.
    public let message: String
    /// The HTTP status of the failure; `nil` if there was none.
    public let status: Int?
    /// The delay requested by the server before another attempt.
    public let retryAfter: Duration?
    /// The underlying error, if there is one.
    public let cause: (any Error)?

    /// Creates an error.
    public init(
        _ code: Code, _ message: String, status: Int? = nil, retryAfter: Duration? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status
        self.retryAfter = retryAfter
        self.cause = cause
    }
}

extension ModelError: CustomStringConvertible {
    /// The message, then the code, the status and the cause.
    public var description: String {
        let status = status.map { ", status \($0)" } ?? ""
        let cause = cause.map { "; cause: \($0)" } ?? ""
        return "\(message) (\(code.rawValue)\(status)\(cause))"
    }
}

extension ModelError: LocalizedError {
    /// The message, shown by an alert as `localizedDescription`.
    public var errorDescription: String? { message }
}
