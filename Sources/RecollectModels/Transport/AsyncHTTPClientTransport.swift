#if AsyncHTTPClient
    import AsyncHTTPClient
    import Foundation
    import NIOCore
    import NIOHTTP1

    /// A transport on AsyncHTTPClient, for servers on Linux. The trait `AsyncHTTPClient` builds it.
    ///
    /// A body is read from the connection only as fast as from the response. A compressed body is expanded up to a
    /// hundred times its size. Proxies of the environment do not apply.
    public struct AsyncHTTPClientTransport: HTTPTransport {
        /// The transport shared by all clients created without one. It is never shut down.
        public static let shared = AsyncHTTPClientTransport(.recollect)

        private let client: HTTPClient

        /// Creates a transport.
        /// - Parameter client: The HTTP client; the caller shuts it down. Its rules for connections, redirects and
        ///   silence apply.
        public init(_ client: HTTPClient) {
            self.client = client
        }

        /// Sends a request and returns the response as soon as its head has arrived: see `HTTPTransport`.
        public func send(_ request: TransportRequest) async throws -> TransportResponse {
            var message = HTTPClientRequest(url: request.url.absoluteString)
            message.method = HTTPMethod(rawValue: request.method)
            for (name, value) in request.headers { message.headers.add(name: name, value: value) }
            if !request.body.isEmpty { message.body = .bytes(ByteBuffer(bytes: request.body)) }
            do {
                let response = try await client.execute(message, deadline: .distantFuture)
                return TransportResponse(
                    status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) },
                    body: TransportBody(AsyncHTTPClientBody(body: response.body)))
            } catch {
                try Task.checkCancellation()
                throw TransportError(unsent: error, scheme: request.url.scheme ?? "")
            }
        }
    }

    /// The body of a response, with the errors of a transport.
    private struct AsyncHTTPClientBody: AsyncSequence, Sendable {
        let body: HTTPClientResponse.Body

        func makeAsyncIterator() -> Iterator { Iterator(pieces: body.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            var pieces: HTTPClientResponse.Body.AsyncIterator

            mutating func next() async throws -> Data? {
                do {
                    return try await pieces.next().map { Data($0.readableBytesView) }
                } catch {
                    try Task.checkCancellation()
                    // The error's type belongs to a package not among this package's direct dependencies.
                    let isCompression = String(reflecting: type(of: error)).contains("Decompression")
                    throw TransportError(isCompression ? .compressed : .connectionLost, "\(error)", cause: error)
                }
            }
        }
    }

    extension TransportError {
        /// Creates the error for a failure before a response.
        fileprivate init(unsent error: any Error, scheme: String) {
            let code: Code =
                switch error as? HTTPClientError {
                case .remoteConnectionClosed?, .requestStreamCancelled?, .uncleanShutdown?: .connectionLost
                case .readTimeout?, .writeTimeout?, .deadlineExceeded?: .timedOut
                case .emptyHost?, .emptyScheme?, .invalidURL?, .unsupportedScheme(scheme)?: .invalidURL
                default:
                    if let error = error as? IOError, error.errnoCode == ECONNRESET {
                        .connectionLost
                    } else if let error = error as? HTTPParserError {
                        if case .invalidEOFState = error { .connectionLost } else { .invalidHead }
                    } else {
                        .cannotConnect
                    }
                }
            self.init(code, "\(error)", cause: error)
        }
    }

    extension HTTPClient {
        /// The shared client. Unlike `HTTPClient.shared`, it does not follow redirects, does not end long silences, and
        /// reports a refused connection at once.
        fileprivate static let recollect: HTTPClient = {
            var configuration = HTTPClient.Configuration(
                redirectConfiguration: .disallow, timeout: HTTPClient.Configuration.Timeout(connect: .seconds(10)),
                decompression: .enabled(limit: .ratio(100)))
            configuration.connectionPool.retryConnectionEstablishment = false
            // Any number of sessions may stream at once. The server sets the limit.
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1_024
            configuration.networkFrameworkWaitForConnectivity = false
            return HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        }()
    }
#endif
