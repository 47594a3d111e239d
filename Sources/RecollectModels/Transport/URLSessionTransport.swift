import Foundation
import RecollectCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A transport on Foundation's `URLSession`.
///
/// It asks for an uncompressed body, and refuses a compressed one: `URLSession` expands bodies without a limit. A body
/// is buffered, and the connection closes when 64 MB of it are unread (`bufferFull`).
///
/// **Linux.** Each request has a connection of its own. The environment's proxies apply (`http_proxy`, `https_proxy`,
/// `no_proxy`). The body of a redirect is kept in memory, without a limit, until it ends or the request is canceled.
/// Up to Swift 6.3, Foundation ends the process when a server closes the connection inside the head of a response
/// (swift-corelibs-foundation, issue 5285). Servers use `AsyncHTTPClientTransport`, with the trait `AsyncHTTPClient`.
public final class URLSessionTransport: HTTPTransport {
    /// The transport shared by all clients created without one.
    public static let shared = URLSessionTransport()

    private let configuration: URLSessionConfiguration
    private let connectLimit: Duration
    /// Foundation's calls wait for its own queue on Linux, and a cooperative thread must not wait.
    private let calls = DispatchQueue(label: "RecollectModels.URLSessionTransport")
    #if canImport(FoundationNetworking)
        /// One queue for the events of all sessions, instead of a thread for each.
        private let events: OperationQueue = {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            return queue
        }()
    #else
        private let session: URLSession
        private let exchanges = Exchanges()
    #endif

    /// No system's timer overflows. The limits of a request are its sender's.
    private static let year = 31_536_000.0

    /// Creates a transport with its own connections. They close when the transport is released.
    /// - Parameter connectLimit: The longest time for a connection, on Linux. Other systems have their own limit.
    public init(connectLimit: Duration = .seconds(10)) {
        self.connectLimit = connectLimit
        configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.timeoutIntervalForRequest = Self.year
        configuration.timeoutIntervalForResource = Self.year
        // Any number of sessions may stream at once. The server sets the limit.
        configuration.httpMaximumConnectionsPerHost = 65_535
        #if !canImport(FoundationNetworking)
            configuration.waitsForConnectivity = false
            session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
        #endif
    }

    deinit {
        #if !canImport(FoundationNetworking)
            // A session keeps its delegate until then.
            session.finishTasksAndInvalidate()
        #endif
    }

    /// Starts an exchange. Call it on the queue for calls.
    private func start(_ exchange: URLSessionExchange, _ request: URLRequest) {
        #if canImport(FoundationNetworking)
            // libcurl sends a request again if a reused connection closes before the response. Foundation does not
            // rewind the body then, and both sides wait. A session of its own has no connection to reuse.
            let exchanges = Exchanges()
            let session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: events)
            defer { session.finishTasksAndInvalidate() }
        #endif
        let task = session.dataTask(with: request)
        exchanges.add(exchange, for: task)
        exchange.start(task)
    }

    /// Sends a request and returns the response as soon as its head has arrived: see `HTTPTransport`.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        let scheme = request.url.scheme?.lowercased()
        guard scheme == "http" || scheme == "https", request.url.host?.isEmpty == false else {
            throw TransportError(.invalidURL)
        }
        var message = URLRequest(url: request.url, timeoutInterval: Self.year)
        message.httpMethod = request.method
        message.httpBody = request.body
        message.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        #if canImport(FoundationNetworking)
            // Nothing follows on this connection.
            message.setValue("close", forHTTPHeaderField: "Connection")
        #endif
        for (name, value) in request.headers { message.setValue(value, forHTTPHeaderField: name) }
        let exchange = URLSessionExchange(calls)
        let prepared = message
        calls.async { [self] in
            start(exchange, prepared)
            limitConnecting(exchange, prepared)
        }
        return try await exchange.response()
    }

    /// Ends an exchange that sends nothing within the limit.
    private func limitConnecting(_ exchange: URLSessionExchange, _ request: URLRequest) {
        #if canImport(FoundationNetworking)
            // Only a body tells that it is being sent.
            guard request.httpBody?.isEmpty == false else { return }
            let limit = connectLimit
            let (seconds, attoseconds) = limit.components
            calls.asyncAfter(deadline: .now() + Double(seconds) + Double(attoseconds) * 1e-18) { [weak exchange] in
                exchange?.endUnsent(TransportError(.cannotConnect, "no connection within \(limit)"))
            }
        #endif
    }
}

/// The running exchanges of a session, and its delegate.
private final class Exchanges: NSObject, URLSessionDataDelegate, Sendable {
    private let running = Locked<[Int: URLSessionExchange]>([:])

    func add(_ exchange: URLSessionExchange, for task: URLSessionTask) {
        running.withLock { $0[task.taskIdentifier] = exchange }
    }

    private func exchange(_ task: URLSessionTask) -> URLSessionExchange? {
        running.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        exchange(task)?.hasSent()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(dataTask)?.receive(response)
        completionHandler(.allow)
    }

    #if canImport(FoundationNetworking)
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            // It comes after the whole body of a 401. Without credentials, Foundation never ends the task up to
            // Swift 6.3.
            exchange(task)?.complete(nil)
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    #endif

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(dataTask)?.receive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = running.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        // On Linux, a redirect without an address is told only here.
        if error == nil, let response = task.response { exchange.receive(response) }
        exchange.complete(error)
    }
}
