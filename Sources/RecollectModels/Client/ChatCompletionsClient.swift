import Foundation
import RecollectAgents
import RecollectCore

/// A client for servers with OpenAI's chat-completions API: OpenAI, Ollama, llama.cpp, vLLM, LM Studio,
/// OpenRouter and others.
///
/// ```swift
/// let local = ChatCompletionsClient(baseURL: URL(string: "http://127.0.0.1:11434/v1")!, model: "qwen3")
/// let openAI = ChatCompletionsClient(
///     model: "gpt-5-mini", apiKey: ProcessInfo.processInfo.environment["OPENAI_API_KEY"])
/// ```
///
/// Calls may be made from any task, many at once. Events are sent as they arrive. Ending the iteration, or
/// canceling its task, closes the connection. An incomplete answer is an error, never a short answer. All
/// errors are a `ModelError` or `CancellationError`. The client logs nothing.
///
/// Before a request, incomplete tool exchanges are removed from the history, and messages get an order accepted
/// by servers. An interrupted reply ends with a note for the model. Redirects are not followed: neither the key
/// nor the messages are sent to another server.
public struct ChatCompletionsClient: LLMClient {
    /// Time limits.
    public struct Timeouts: Hashable, Sendable {
        /// The longest time without a byte, before the first one and between two. Keep-alives count as bytes.
        /// `.seconds(Int.max)` means no limit.
        public var idle: Duration
        /// The longest time for a request with its retries and its whole answer; `nil` for no limit. An answer that
        /// is complete by then is returned without its usage.
        public var total: Duration?
        /// The longest time for the usage and the end mark after a complete answer. Tests change it.
        package var usage = Duration.seconds(30)
        /// The time a connection stays open for the end of the body after the end of the answer. Tests change it.
        package var end = Duration.milliseconds(200)

        /// Creates limits.
        public init(idle: Duration = .seconds(300), total: Duration? = nil) {
            self.idle = idle
            self.total = total
        }
    }

    /// The base address of `chat/completions` on the server.
    public let baseURL: URL
    /// The model's name on the server.
    public let model: String

    private let apiKey: String?
    private let headers: [String: String]
    private let extraBody: [String: JSONValue]
    private let timeouts: Timeouts
    private let retries: RetryPolicy
    private let maxReplyBytes: Int
    private let address: ServerAddress
    private let transport: any HTTPTransport
    private let waiting: Waiting
    /// Whether the server has refused `stream_options`. Requests then no longer ask for the usage.
    private let refusesUsage = Locked(false)

    /// Creates a client. It sends nothing yet.
    /// - Parameters:
    ///   - baseURL: The base address of `chat/completions` on the server, usually ending in `/v1`. A query is
    ///     kept. A user and a password are sent as basic authentication.
    ///   - model: The model's name on the server.
    ///   - apiKey: A bearer token; white space around it is removed. `nil` or empty for none. With a user in
    ///     the base URL, requests throw.
    ///   - headers: Headers for every request. They replace the client's headers of the same name.
    ///   - extraBody: Members for the request's body. They replace the client's members of the same name:
    ///     `["temperature": 0]`, for example. `null` removes a member.
    ///   - timeouts: Time limits. Connecting takes 10 seconds at most.
    ///   - retries: The policy for retries.
    ///   - maxReplyBytes: The limit for one completion, in bytes of UTF-8: text, reasoning, and the IDs, names
    ///     and arguments of tool calls. A longer answer is cut off there and ends with the reason `length`.
    ///     Arguments cut off this way are returned as a string. The rest is not read.
    ///   - transport: The transport for requests. Its own limits apply in addition. With `nil`, all
    ///     `ChatCompletionsClient`s share one: `URLSessionTransport`, or with the trait `AsyncHTTPClient`
    ///     `AsyncHTTPClientTransport`.
    public init(
        baseURL: URL = Self.openAI, model: String, apiKey: String? = nil, headers: [String: String] = [:],
        extraBody: [String: JSONValue] = [:], timeouts: Timeouts = Timeouts(), retries: RetryPolicy = RetryPolicy(),
        maxReplyBytes: Int = Agent.defaultMaxReplyBytes, transport: (any HTTPTransport)? = nil
    ) {
        self.init(
            baseURL: baseURL, model: model, apiKey: apiKey, headers: headers, extraBody: extraBody,
            timeouts: timeouts, retries: retries, maxReplyBytes: maxReplyBytes, transport: transport,
            waiting: .system)
    }

    init(
        baseURL: URL, model: String, apiKey: String? = nil, headers: [String: String] = [:],
        extraBody: [String: JSONValue] = [:], timeouts: Timeouts = Timeouts(), retries: RetryPolicy = RetryPolicy(),
        maxReplyBytes: Int = Agent.defaultMaxReplyBytes, transport: (any HTTPTransport)? = nil, waiting: Waiting
    ) {
        self.baseURL = baseURL
        self.model = model
        let key = apiKey?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        self.apiKey = key.isEmpty ? nil : key
        self.headers = headers
        self.extraBody = extraBody
        self.timeouts = timeouts
        self.retries = retries
        self.maxReplyBytes = maxReplyBytes
        address = ServerAddress(baseURL)
        self.transport = transport ?? Self.sharedTransport
        self.waiting = waiting
    }

    private static var sharedTransport: any HTTPTransport {
        #if AsyncHTTPClient
            AsyncHTTPClientTransport.shared
        #else
            URLSessionTransport.shared
        #endif
    }

    /// OpenAI's own server.
    public static let openAI: URL = {
        var address = URLComponents()
        address.scheme = "https"
        address.host = "api.openai.com"
        address.path = "/v1"
        return address.url ?? URL(fileURLWithPath: "/")
    }()

    /// Streams one completion: see `LLMClient`.
    public func complete(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error> {
        AsyncThrowingStream { stream in
            let task = Task {
                do {
                    try await run(request) { event in
                        stream.yield(event)
                        // Reading continues after the end only to free the connection. The stream does not wait for
                        // this.
                        if case .done = event { stream.finish() }
                    }
                    stream.finish()
                } catch {
                    stream.finish(throwing: error)
                }
            }
            stream.onTermination = { reason in
                if case .cancelled = reason { task.cancel() }
            }
        }
    }
}

// MARK: - Requests

extension ChatCompletionsClient {
    private func run(
        _ request: LLMRequest, _ yield: @escaping @Sendable (LLMStreamEvent) -> Void
    ) async throws {
        let failures = failures(for: request)
        try failures.check(names: headers.keys)
        try failures.check(allHeaders)
        if apiKey != nil, address.authorization != nil { throw failures.twoCredentials() }
        // HTTP libraries trap on an invalid port.
        if let port = baseURL.port, !(0...65_535).contains(port) { throw failures.noPort(port) }
        guard let total = timeouts.total else { return try await sendWithRetries(request, failures, yield) }
        do {
            try await TimeLimit.run(total) { _ in try await sendWithRetries(request, failures, yield) }
        } catch is TimeLimit.Expired {
            throw failures.timedOut("completely within \(total.components.seconds) seconds")
        }
    }

    /// Sends the request until it succeeds, fails for good, or has sent an event.
    private func sendWithRetries(
        _ request: LLMRequest, _ failures: ModelErrors, _ yield: @escaping @Sendable (LLMStreamEvent) -> Void
    ) async throws {
        let hasYielded = Locked(false)
        var retry = 0
        while true {
            let asksForUsage = !refusesUsage.withLock { $0 }
            let attempt = attempt(request, asksForUsage: asksForUsage, failures) { event in
                hasYielded.withLock { $0 = true }
                yield(event)
            }
            do {
                return try await attempt.run()
            } catch let error as ModelError where !hasYielded.withLock({ $0 }) {
                if asksForUsage, error.code == .refused, error.message.contains("stream_options") {
                    refusesUsage.withLock { $0 = true }
                    continue
                }
                guard let delay = retries.delay(before: retry, after: error, jitter: waiting.jitter())
                else { throw error }
                retry += 1
                try await waiting.sleep(delay)
            }
        }
    }

    private func attempt(
        _ request: LLMRequest, asksForUsage: Bool, _ failures: ModelErrors,
        _ yield: @escaping @Sendable (LLMStreamEvent) -> Void
    ) -> CompletionAttempt {
        var writer = JSONWriter()
        writer.write(
            ChatCompletionsRequest.body(request, model: model, asksForUsage: asksForUsage, extra: extraBody))
        return CompletionAttempt(
            transport: transport,
            request: TransportRequest(url: address.completions, headers: allHeaders, body: Data(writer.bytes)),
            limits: timeouts, maxReplyBytes: maxReplyBytes, failures: failures,
            now: waiting.now,
            yield: yield)
    }

    private var allHeaders: [(name: String, value: String)] {
        var all: [(name: String, value: String)] = [
            ("Content-Type", "application/json"),
            ("Accept", "text/event-stream, application/json"), ("User-Agent", "Recollect"),
        ]
        if let authorization = apiKey.map({ "Bearer \($0)" }) ?? address.authorization {
            all.append(("Authorization", authorization))
        }
        for (name, value) in headers {
            all.removeAll { $0.name.lowercased() == name.lowercased() }
            all.append((name, value))
        }
        return all
    }

    private func failures(for request: LLMRequest) -> ModelErrors {
        ModelErrors(
            server: address.name, model: model, hasKey: apiKey != nil, hasUser: address.authorization != nil,
            request: request,
            // Short values are not secrets, and would suppress every message from the server.
            secrets: ([apiKey].compactMap { $0 } + headers.values + address.secrets).filter { $0.count >= 8 })
    }
}

// MARK: - Secrets

extension ChatCompletionsClient: CustomStringConvertible, CustomReflectable {
    /// The model and the server, never the key.
    public var description: String { "ChatCompletionsClient(\(model) at \(address.name))" }

    /// The same for `dump` and debuggers.
    public var customMirror: Mirror { Mirror(self, children: ["model": model, "server": address.name]) }
}

// MARK: - Surroundings

/// Time and randomness, replaceable in tests.
struct Waiting: Sendable {
    var sleep: @Sendable (Duration) async throws -> Void
    var now: @Sendable () -> Date
    /// From 0 to 1.
    var jitter: @Sendable () -> Double

    static let system = Waiting(
        sleep: { try await Task.sleep(for: $0) }, now: { Date() }, jitter: { Double.random(in: 0...1) })
}
