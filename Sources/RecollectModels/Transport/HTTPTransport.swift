import Foundation

/// Sends HTTP requests for a model client.
///
/// `URLSessionTransport` is the default. With the trait `AsyncHTTPClient` there is also `AsyncHTTPClientTransport`,
/// for servers on Linux.
///
/// A transport does not follow redirects, stores neither cookies nor answers, and sends a request once. It checks
/// the server's certificate. Calls may be made from any task, many at once.
public protocol HTTPTransport: Sendable {
    /// Sends a request and returns the response as soon as its head has arrived.
    ///
    /// Canceling the task closes the connection. So does dropping the response, or leaving the loop over its body,
    /// before the body's end.
    /// - Throws: `TransportError`, or `CancellationError` if the task was canceled.
    func send(_ request: TransportRequest) async throws -> TransportResponse
}

/// A request for a transport.
public struct TransportRequest: Sendable {
    /// The method: `POST`, for example.
    public var method: String
    /// The address.
    public var url: URL
    /// The headers in order. Names are tokens of ASCII, each at most once; values have no control characters.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: Data

    /// Creates a request.
    public init(method: String = "POST", url: URL, headers: [(name: String, value: String)], body: Data) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// A response of a transport.
public struct TransportResponse: Sendable {
    /// The status, from 200 to 999.
    public var status: Int
    /// The headers.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: TransportBody

    /// Creates a response.
    public init(status: Int, headers: [(name: String, value: String)], body: TransportBody) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns the first value of a header; `nil` if there is none. Uppercase and lowercase letters are equal.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}
