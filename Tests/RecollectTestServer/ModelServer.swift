#if Models
    import Foundation
    import NIOCore
    import NIOPosix
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

        private let listener: any Channel
        private let record: Record

        private init(listener: any Channel, record: Record, baseURL: URL) {
            self.listener = listener
            self.record = record
            self.baseURL = baseURL
        }

        /// Starts a server on a free port.
        public static func start(_ answer: @escaping Answer) async throws -> ModelServer {
            let record = Record()
            let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    record.opened(channel)
                    return channel.eventLoop.makeCompletedFuture {
                        try ModelConnection.install(on: channel, record: record, answer: answer)
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            guard let port = listener.localAddress?.port, let url = URL(string: "http://127.0.0.1:\(port)/v1")
            else { throw ChannelError.unknownLocalAddress }
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
        public var connectionCount: Int { record.channels.count }

        /// Closes the port and every connection.
        public func stop() async throws {
            try await listener.close().get()
            for channel in record.channels {
                // A channel that has closed meanwhile says so by an error.
                try? await channel.close().get()
            }
        }
    }

    /// What a server has seen.
    final class Record: Sendable {
        private let state = Locked((requests: [ModelRequest](), channels: [any Channel]()))

        var requests: [ModelRequest] { state.withLock { $0.requests } }
        var channels: [any Channel] { state.withLock { $0.channels } }

        func opened(_ channel: any Channel) {
            state.withLock { $0.channels.append(channel) }
        }

        func received(_ request: ModelRequest) {
            state.withLock { $0.requests.append(request) }
        }
    }
#endif
