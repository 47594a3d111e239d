#if Models
    import Foundation

    /// Why a model did not answer, or not to the end.
    ///
    /// `code` is for programs, `message` for a person: what happened, which server it was, and what to do. Neither holds an API
    /// key or anything of what was said.
    public struct ModelError: Error, Sendable {
        /// What kind of failure this is; new codes may come with new versions.
        public struct Code: RawRepresentable, Hashable, Sendable {
            /// The code's name, stable across versions.
            public let rawValue: String

            /// Makes a code from its name.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// Nothing could be sent to the server: it does not run, its name is not known, or the connection is not safe.
            public static let cannotConnect = Code(rawValue: "cannotConnect")
            /// The connection ended before the answer did.
            public static let connectionLost = Code(rawValue: "connectionLost")
            /// The server took longer than it was given.
            public static let timedOut = Code(rawValue: "timedOut")
            /// The API key is missing, wrong, or not allowed to do this.
            public static let unauthorized = Code(rawValue: "unauthorized")
            /// There is no such model, or no such API at this address.
            public static let notFound = Code(rawValue: "notFound")
            /// Too many requests, or no credit is left; `retryAfter` tells how long to wait where the server does.
            public static let rateLimited = Code(rawValue: "rateLimited")
            /// The server does not take the request: too long, or something in it that the model cannot do.
            public static let refused = Code(rawValue: "refused")
            /// The server failed.
            public static let serverFailed = Code(rawValue: "serverFailed")
            /// The server wants the request sent to another address; nothing was sent there.
            public static let redirected = Code(rawValue: "redirected")
            /// What came is no chat completion.
            public static let unreadable = Code(rawValue: "unreadable")
        }

        /// What kind of failure this is.
        public let code: Code
        /// What happened, which server it was, and what to do.
        public let message: String
        /// The status of the response, where there was one that says so.
        public let status: Int?
        /// How long the server asks to wait before another try.
        public let retryAfter: Duration?
        /// What lay below, where something did.
        public let cause: (any Error)?

        /// Makes an error.
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
        /// The message: what an alert shows as `localizedDescription`.
        public var errorDescription: String? { message }
    }
#endif
