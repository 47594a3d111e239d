import Foundation
import RecollectCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request on a `URLSession`, from its start to the end of the body.
final class URLSessionExchange: Sendable {
    private struct State {
        var task: URLSessionTask?
        var hasSent = false
        var response: HTTPURLResponse?
        var unread = Data()
        /// The end, for all later events: `nil` within for an orderly one.
        var end: (any Error)??
        var awaitsHead: CheckedContinuation<HTTPURLResponse, any Error>?
        var awaitsBody: CheckedContinuation<Data?, any Error>?
    }

    private let state = Locked(State())
    private let calls: DispatchQueue

    /// The largest unread part of a body, in bytes.
    static let bufferLimit = 64 << 20

    /// Creates an exchange.
    /// - Parameter calls: The queue for calls that wait.
    init(_ calls: DispatchQueue) {
        self.calls = calls
    }

    // MARK: The reader's side

    /// Starts the task. Call it on the queue for calls.
    func start(_ task: URLSessionTask) {
        let isOver = state.withLock { state in
            state.task = task
            return state.end != nil
        }
        if isOver { task.cancel() } else { task.resume() }
    }

    /// Returns the response after its head has arrived.
    func response() async throws -> TransportResponse {
        let head = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let known = state.withLock { state -> Result<HTTPURLResponse, any Error>? in
                    if let response = state.response { return .success(response) }
                    if let end = state.end { return .failure(end ?? TransportError(.connectionLost)) }
                    state.awaitsHead = continuation
                    return nil
                }
                if let known { continuation.resume(with: known) }
            }
        } onCancel: {
            close(CancellationError())
        }
        return TransportResponse(
            status: head.statusCode, headers: head.pairs, body: TransportBody(URLSessionBody(self)))
    }

    /// Returns all that arrived of the body since the last call; `nil` at the end.
    func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let known = state.withLock { state -> Result<Data?, any Error>? in
                    if !state.unread.isEmpty {
                        let piece = state.unread
                        state.unread = Data()
                        return .success(piece)
                    }
                    if let end = state.end { return end.map { .failure($0) } ?? .success(nil) }
                    state.awaitsBody = continuation
                    return nil
                }
                if let known { continuation.resume(with: known) }
            }
        } onCancel: {
            close(CancellationError(), dropsUnread: true)
        }
    }

    /// Ends the exchange and closes the connection. Does nothing after the end.
    func close(_ error: any Error, dropsUnread: Bool = false) {
        guard finish(error, dropsUnread: dropsUnread) else { return }
        // Foundation waits for its own queue to cancel, up to Swift 6.3 even while the runtime holds the lock of a
        // canceled task, needed by that queue (swift-corelibs-foundation, issue 5412).
        calls.async { [self] in state.withLock { $0.task }?.cancel() }
    }

    /// Ends the exchange if nothing was sent.
    func endUnsent(_ error: TransportError) {
        if state.withLock({ !$0.hasSent && $0.response == nil }) { close(error) }
    }

    // MARK: The session's side

    /// Notes that the connection exists.
    func hasSent() {
        state.withLock { $0.hasSent = true }
    }

    /// Takes the head of the response. Only the first one counts.
    func receive(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse, state.withLock({ $0.response == nil }) else { return }
        // libcurl takes the last of several lengths. They are joined here.
        if let length = response.value("Content-Length"), !length.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return close(TransportError(.invalidHead, "invalid Content-Length: \(length.prefix(40))"))
        }
        let waiting = state.withLock { state -> CheckedContinuation<HTTPURLResponse, any Error>? in
            guard state.end == nil else { return nil }
            state.response = response
            defer { state.awaitsHead = nil }
            return state.awaitsHead
        }
        waiting?.resume(returning: response)
        let encoding = response.value("Content-Encoding")?.trimmingCharacters(in: .whitespaces).lowercased() ?? ""
        if !encoding.isEmpty, encoding != "identity" {
            close(TransportError(.compressed, "Content-Encoding: \(encoding.prefix(40))"), dropsUnread: true)
        }
    }

    /// Takes a piece of the body.
    func receive(_ data: Data) {
        var waiting: CheckedContinuation<Data?, any Error>?
        let isFull = state.withLock { state in
            guard state.end == nil else { return false }
            if let reader = state.awaitsBody {
                waiting = reader
                state.awaitsBody = nil
                return false
            }
            state.unread.append(data)
            return state.unread.count > Self.bufferLimit
        }
        waiting?.resume(returning: data)
        if isFull {
            close(TransportError(.bufferFull, "\(Self.bufferLimit) bytes were not read"), dropsUnread: true)
        }
    }

    /// Takes the end.
    func complete(_ error: (any Error)?) {
        let (hasSent, hasHead) = state.withLock { ($0.hasSent, $0.response != nil) }
        finish(error.map { TransportError(urlSession: $0, hasSent: hasSent, hasHead: hasHead) })
    }

    /// Ends the exchange. Returns whether it was running.
    @discardableResult
    private func finish(_ error: (any Error)?, dropsUnread: Bool = false) -> Bool {
        var head: CheckedContinuation<HTTPURLResponse, any Error>?
        var body: CheckedContinuation<Data?, any Error>?
        let wasRunning = state.withLock { state in
            guard state.end == nil else { return false }
            state.end = .some(error)
            if dropsUnread { state.unread = Data() }
            (head, body) = (state.awaitsHead, state.awaitsBody)
            (state.awaitsHead, state.awaitsBody) = (nil, nil)
            return true
        }
        head?.resume(throwing: error ?? TransportError(.connectionLost))
        if let error { body?.resume(throwing: error) } else { body?.resume(returning: nil) }
        return wasRunning
    }
}

/// The body of an exchange. Without readers, it closes the connection.
private struct URLSessionBody: AsyncSequence, Sendable {
    fileprivate final class Reader: Sendable {
        let exchange: URLSessionExchange

        init(_ exchange: URLSessionExchange) {
            self.exchange = exchange
        }

        deinit { exchange.close(CancellationError(), dropsUnread: true) }
    }

    private let reader: Reader

    init(_ exchange: URLSessionExchange) {
        reader = Reader(exchange)
    }

    func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader

        mutating func next() async throws -> Data? { try await reader.exchange.next() }
    }
}

extension HTTPURLResponse {
    /// The headers. Several of one name are joined by commas.
    fileprivate var pairs: [(name: String, value: String)] {
        allHeaderFields.compactMap { name, value in
            guard let name = name as? String, let value = value as? String else { return nil }
            return (name, value)
        }
    }

    fileprivate func value(_ name: String) -> String? {
        pairs.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

extension TransportError {
    /// Creates the error for a failed task of a `URLSession`.
    fileprivate init(urlSession error: any Error, hasSent: Bool, hasHead: Bool) {
        let reason = error.localizedDescription
        self.init(Self.code((error as? URLError)?.code, reason, hasSent, hasHead), reason, cause: error)
    }

    private static func code(_ code: URLError.Code?, _ reason: String, _ hasSent: Bool, _ hasHead: Bool) -> Code {
        switch code {
        case .networkConnectionLost: return .connectionLost
        case .cannotParseResponse where !hasHead: return .invalidHead
        case .timedOut where hasSent: return .timedOut
        case .cannotDecodeContentData, .cannotDecodeRawData: return .compressed
        default: break
        }
        if hasHead { return .connectionLost }
        #if canImport(FoundationNetworking)
            // Foundation has one code for most errors of libcurl. Only their texts differ.
            guard hasSent else { return code == .badURL ? .invalidURL : .cannotConnect }
            return headFaults.contains { reason.contains($0) } ? .invalidHead : .connectionLost
        #else
            switch code {
            case .badURL, .unsupportedURL: return .invalidURL
            case .badServerResponse: return .invalidHead
            default: return .cannotConnect
            }
        #endif
    }

    /// libcurl's texts for the faults of a head.
    private static let headFaults = [
        "Content-Length", "Header without colon", "Nul byte in header", "response headers", "HTTP/0.9",
        "Unsupported HTTP", "Weird server reply", "A value or data field grew larger than allowed", "Out of memory",
        "Failed writing header", "Failed writing received data",
    ]
}
