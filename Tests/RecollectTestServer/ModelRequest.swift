import RecollectCore
import RecollectTestSupport

/// A request received by a server.
public struct ModelRequest: Sendable {
    /// The method, for example `POST`.
    public let method: String
    /// The path and the query.
    public let target: String
    /// The headers in order, names in lowercase.
    public let headers: [(name: String, value: String)]
    /// The body; `null` if it is not JSON.
    public let body: JSONValue

    let connection: ModelConnection
    let closing: Gate

    /// The first value of a header.
    public func header(_ name: String) -> String? {
        headers.first { $0.name == name.lowercased() }?.value
    }

    /// The messages of the body.
    public var messages: [JSONValue] { body["messages"]?.arrayValue ?? [] }

    /// Waits until the client or the server has closed the connection.
    /// - Throws: `CancellationError` if the task is canceled before.
    public func closed() async throws {
        try await closing.wait()
    }
}
