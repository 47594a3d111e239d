import Foundation
import RecollectCore

/// A chat-completions server on 127.0.0.1 that answers as a test tells it to: byte by byte, and when the test says so.
///
/// ```swift
/// let server = try await ModelServer.start { _ in .text(["Good ", "day"]) }
/// let client = ChatCompletionsClient(baseURL: server.baseURL, model: "test")
/// ```
public final class ModelServer: Sendable {
    /// Answers a request; called as soon as all of it has come.
    public typealias Answer = @Sendable (ModelRequest) async throws -> ModelReply

    /// What clients are given: `http://127.0.0.1:<port>/v1`.
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

    /// Starts a server that gives these replies in turn, the last one again and again.
    public static func start(replies: [ModelReply]) async throws -> ModelServer {
        let rest = Locked(replies[...])
        return try await start { _ in
            rest.withLock { rest in rest.count > 1 ? rest.removeFirst() : rest.first ?? .status(500, "no reply") }
        }
    }

    /// What has been asked so far, in order.
    public var requests: [ModelRequest] { record.requests }

    /// How many connections there have been.
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

/// What a server has seen.
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
