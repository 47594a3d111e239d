#if Models
    import AsyncHTTPClient
    import Foundation
    import NIOCore
    import NIOHTTP1
    import RecollectAgents
    import RecollectCore

    /// A client of servers that speak OpenAI's chat completions: OpenAI, Ollama, llama.cpp, vLLM, LM Studio, OpenRouter and others.
    ///
    /// ```swift
    /// let local = ChatCompletionsClient(baseURL: URL(string: "http://127.0.0.1:11434/v1")!, model: "qwen3")
    /// let openAI = ChatCompletionsClient(model: "gpt-5-mini", apiKey: ProcessInfo.processInfo.environment["OPENAI_API_KEY"])
    /// ```
    ///
    /// Calls may be made from any task, many at once. Pieces are given on as they come. Ending the iteration, or the task that
    /// iterates, closes the connection. An answer that breaks off is an error, never a short answer. Everything thrown is a
    /// `ModelError`, or `CancellationError`. Nothing is logged.
    ///
    /// The history is first rid of halves of tool exchanges, and put into an order that servers accept. An interrupted reply ends
    /// with words that tell the model so. Redirects are not followed: neither key nor conversation goes to another server.
    public struct ChatCompletionsClient: LLMClient {
        /// How long to wait.
        public struct Timeouts: Hashable, Sendable {
            /// The longest silence, before the first byte and between two; keep-alives break it. `.seconds(.max)` is none.
            public var idle: Duration
            /// The longest time for a request with its retries and all of its answer; `nil` for no limit.
            public var total: Duration?
            /// How long a connection is kept for the end of a body behind the end of the answer, for tests.
            package var end = Duration.milliseconds(200)

            /// Makes limits.
            public init(idle: Duration = .seconds(300), total: Duration? = nil) {
                self.idle = idle
                self.total = total
            }
        }

        /// The address under which the server has `chat/completions`.
        public let baseURL: URL
        /// The model that is asked, as the server names it.
        public let model: String

        private let apiKey: String?
        private let headers: [String: String]
        private let extraBody: [String: JSONValue]
        private let timeouts: Timeouts
        private let retries: RetryPolicy
        private let maxReplyBytes: Int
        private let address: ServerAddress
        private let http: HTTPClient
        private let waiting: Waiting
        /// Whether the server has refused `stream_options`: it is then not asked again for the usage.
        private let refusesUsage = Locked(false)

        /// Makes a client; nothing is sent yet.
        /// - Parameters:
        ///   - baseURL: The address under which the server has `chat/completions`, mostly ending in `/v1`. A query stays; a user and a
        ///     password are sent as basic authentication.
        ///   - model: The model, as the server names it.
        ///   - apiKey: Sent as a bearer token, without white space around it; `nil` or empty for none. It cannot be sent beside a
        ///     user in the base URL: requests then throw.
        ///   - headers: Sent with every request, in place of the client's own of the same name.
        ///   - extraBody: Members of the request's body, added or put in place of the client's own: `["temperature": 0]`, say.
        ///     `null` takes one out.
        ///   - timeouts: How long to wait. Connecting takes 10 seconds at most.
        ///   - retries: When to try again.
        ///   - maxReplyBytes: How many bytes of UTF-8 the model may say in one completion: prose, reasoning, and the names and
        ///     arguments of tool calls. A longer answer is cut off there and ends with the reason `length`; arguments that were cut
        ///     off come as a string. The rest is not read.
        ///   - httpClient: Sends the requests; the caller shuts it down. It brings its own rules for connecting, redirects and
        ///     silence, in addition to those here. `nil` for the one that all clients share.
        public init(
            baseURL: URL = Self.openAI, model: String, apiKey: String? = nil, headers: [String: String] = [:],
            extraBody: [String: JSONValue] = [:], timeouts: Timeouts = Timeouts(), retries: RetryPolicy = RetryPolicy(),
            maxReplyBytes: Int = Agent.defaultMaxReplyBytes, httpClient: HTTPClient? = nil
        ) {
            self.init(
                baseURL: baseURL, model: model, apiKey: apiKey, headers: headers, extraBody: extraBody,
                timeouts: timeouts, retries: retries, maxReplyBytes: maxReplyBytes, httpClient: httpClient,
                waiting: .system)
        }

        init(
            baseURL: URL, model: String, apiKey: String? = nil, headers: [String: String] = [:],
            extraBody: [String: JSONValue] = [:], timeouts: Timeouts = Timeouts(), retries: RetryPolicy = RetryPolicy(),
            maxReplyBytes: Int = Agent.defaultMaxReplyBytes, httpClient: HTTPClient? = nil, waiting: Waiting
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
            http = httpClient ?? .recollect
            self.waiting = waiting
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
                            // What comes behind the end frees the connection; nobody has to wait for that.
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
            // NIO ends the process for a port that is none.
            if let port = baseURL.port, !(0...65_535).contains(port) { throw failures.noPort(port) }
            guard let total = timeouts.total else { return try await tryAgain(request, failures, yield) }
            do {
                try await TimeLimit.run(total) { _ in try await tryAgain(request, failures, yield) }
            } catch is TimeLimit.Expired {
                throw failures.timedOut("completely within \(total.components.seconds) seconds")
            }
        }

        /// Sends the request until it succeeds, fails for good, or has given something on.
        private func tryAgain(
            _ request: LLMRequest, _ failures: ModelFailures, _ yield: @escaping @Sendable (LLMStreamEvent) -> Void
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
            _ request: LLMRequest, asksForUsage: Bool, _ failures: ModelFailures,
            _ yield: @escaping @Sendable (LLMStreamEvent) -> Void
        ) -> CompletionAttempt {
            var writer = JSONWriter()
            writer.write(
                ChatCompletionsRequest.body(request, model: model, asksForUsage: asksForUsage, extra: extraBody))
            return CompletionAttempt(
                http: http, url: address.completions, headers: allHeaders, body: ByteBuffer(bytes: writer.bytes),
                idleLimit: timeouts.idle, endLimit: timeouts.end, maxReplyBytes: maxReplyBytes, failures: failures,
                now: waiting.now,
                yield: yield)
        }

        private var allHeaders: HTTPHeaders {
            var all: HTTPHeaders = [
                "Content-Type": "application/json", "Accept": "text/event-stream, application/json",
                "User-Agent": "Recollect",
            ]
            if let authorization = apiKey.map({ "Bearer \($0)" }) ?? address.authorization {
                all.add(name: "Authorization", value: authorization)
            }
            for (name, value) in headers { all.replaceOrAdd(name: name, value: value) }
            return all
        }

        private func failures(for request: LLMRequest) -> ModelFailures {
            ModelFailures(
                server: address.name, model: model, hasKey: apiKey != nil, hasUser: address.authorization != nil,
                request: request,
                // What is short is no secret, and would hide every sentence.
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

    /// Time and chance, which tests bring themselves.
    struct Waiting: Sendable {
        var sleep: @Sendable (Duration) async throws -> Void
        var now: @Sendable () -> Date
        /// From 0 to 1.
        var jitter: @Sendable () -> Double

        static let system = Waiting(
            sleep: { try await Task.sleep(for: $0) }, now: { Date() }, jitter: { Double.random(in: 0...1) })
    }

    extension HTTPClient {
        /// The client that all share, never shut down. Unlike `HTTPClient.shared` it follows no redirects, does not cut long
        /// silences, and tells at once when nobody listens.
        fileprivate static let recollect: HTTPClient = {
            var configuration = HTTPClient.Configuration(
                redirectConfiguration: .disallow, timeout: HTTPClient.Configuration.Timeout(connect: .seconds(10)),
                decompression: .enabled(limit: .ratio(100)))
            configuration.connectionPool.retryConnectionEstablishment = false
            // As many sessions as like to may stream at once: the server limits them.
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1_024
            configuration.networkFrameworkWaitForConnectivity = false
            return HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        }()
    }
#endif
