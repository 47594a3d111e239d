import Foundation
import RecollectCore

/// A chat-completions server on 127.0.0.1 for tests, which control the bytes and the timing of its replies.
///
/// ```swift
/// let server = try await ModelServer.start { _ in .text(["Good ", "day"]) }
/// let client = ChatCompletionsClient(baseURL: server.baseURL, model: "test")
/// ```
public final class ModelServer: Sendable {
    /// Answers a request. It is called when the request is complete.
    public typealias Answer = @Sendable (ModelRequest) async throws -> ModelReply

    /// The base URL for clients: `http://127.0.0.1:<port>/v1`.
    public let baseURL: URL

    private let listener: Socket
    private let record: Record

    private init(listener: Socket, record: Record, baseURL: URL) {
        self.listener = listener
        self.record = record
        self.baseURL = baseURL
    }

    /// Starts a server on a free port.
    public static func start(_ answer: @escaping Answer) async throws -> ModelServer {
        let record = Record()
        let queue = DispatchQueue(label: "RecollectTestServer")
        let (listener, port) = try Socket.listening(queue)
        guard let url = URL(string: "http://127.0.0.1:\(port)/v1") else { throw POSIXError(.EINVAL) }
        queue.async {
            listener.watchReading {
                while !listener.isClosed, let accepted = listener.accept() {
                    _ = ModelConnection(Socket(accepted, queue), record: record, answer: answer)
                }
            }
        }
        return ModelServer(listener: listener, record: record, baseURL: url)
    }

    /// Starts a server that returns these replies in order, and then repeats the last one.
    public static func start(replies: [ModelReply]) async throws -> ModelServer {
        let rest = Locked(replies[...])
        return try await start { _ in
            rest.withLock { rest in rest.count > 1 ? rest.removeFirst() : rest.first ?? .status(500, "no reply") }
        }
    }

    /// All requests so far, in order.
    public var requests: [ModelRequest] { record.requests }

    /// The number of connections so far.
    public var connectionCount: Int { record.connections.count }

    /// Closes the port and every connection.
    public func stop() async throws {
        await withCheckedContinuation { continuation in
            listener.queue.async { [listener] in
                listener.close()
                continuation.resume()
            }
        }
        for connection in record.connections { await connection.close() }
    }
}

/// The requests and connections of a server.
final class Record: Sendable {
    private let state = Locked((requests: [ModelRequest](), connections: [ModelConnection]()))

    var requests: [ModelRequest] { state.withLock { $0.requests } }
    var connections: [ModelConnection] { state.withLock { $0.connections } }

    func opened(_ connection: ModelConnection) {
        state.withLock { $0.connections.append(connection) }
    }

    func received(_ request: ModelRequest) {
        state.withLock { $0.requests.append(request) }
    }
}
