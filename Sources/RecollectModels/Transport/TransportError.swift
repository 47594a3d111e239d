/// An error of a transport: no response, or an incomplete one.
public struct TransportError: Error, Sendable {
    /// A kind of failure. New versions may add codes.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code's name, stable across versions.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The URL is not the address of a server. Nothing was sent.
        public static let invalidURL = Code(rawValue: "invalidURL")
        /// There is no connection, or no secure one. Nothing was sent.
        public static let cannotConnect = Code(rawValue: "cannotConnect")
        /// The connection ended before the response did.
        public static let connectionLost = Code(rawValue: "connectionLost")
        /// The transport's own time limit has passed.
        public static let timedOut = Code(rawValue: "timedOut")
        /// The head of the response is not HTTP.
        public static let invalidHead = Code(rawValue: "invalidHead")
        /// The body is compressed and cannot be expanded, or expands too much.
        public static let compressed = Code(rawValue: "compressed")
        /// The body arrived faster than it was read, and exceeds the transport's buffer.
        public static let bufferFull = Code(rawValue: "bufferFull")
    }

    /// The kind of failure.
    public let code: Code
    /// The reason, in the words of the HTTP library.
    public let reason: String
    /// The underlying error, if there is one.
    public let cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, _ reason: String = "", cause: (any Error)? = nil) {
        self.code = code
        self.reason = reason
        self.cause = cause
    }
}
