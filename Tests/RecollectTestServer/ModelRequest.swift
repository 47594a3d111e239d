import RecollectCore
import RecollectTestSupport

/// A request that a server was sent.
public struct ModelRequest: Sendable {
    /// `POST`, say.
    public let method: String
    /// The path and the query.
    public let target: String
    /// The headers in order, names in lowercase.
    public let headers: [(name: String, value: String)]
    /// The body; `null` where it is no JSON.
    public let body: JSONValue

    let connection: ModelConnection
    let closing: Gate

    /// The first value of a header.
    public func header(_ name: String) -> String? {
        headers.first { $0.name == name.lowercased() }?.value
    }

    /// The messages of the body.
    public var messages: [JSONValue] { body["messages"]?.arrayValue ?? [] }

    /// Waits until the connection has closed, whoever did it.
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func closed() async throws {
        try await closing.wait()
    }
}
