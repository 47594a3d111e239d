#if Models
    import AsyncHTTPClient
    import Foundation
    import NIOCore
    import NIOHTTP1
    import RecollectAgents
    import RecollectCore

    /// One try of a request: sends it and reads the answer.
    struct CompletionAttempt: Sendable {
        let http: HTTPClient
        let url: String
        let headers: HTTPHeaders
        let body: ByteBuffer
        let idleLimit: Duration
        let failures: ModelFailures
        let now: @Sendable () -> Date
        let yield: @Sendable (LLMStreamEvent) -> Void

        /// How many bytes an event, or an answer that is not streamed, may have.
        static let sizeLimit = 16 << 20
        /// How much of a refusal is read: enough for what a server has to say.
        private static let refusalLimit = 64 << 10

        /// Runs it.
        /// - Throws: `ModelError`, or `CancellationError` when the task was cancelled.
        func run() async throws {
            do {
                try await TimeLimit.run(idleLimit) { time in
                    let response = try await send()
                    time.extend()
                    guard (200..<300).contains(Int(response.status.code)) else { throw try await refusal(response) }
                    try await read(response, time)
                }
            } catch is TimeLimit.Expired {
                throw failures.timedOut("for \(idleLimit.components.seconds) seconds")
            }
        }

        private func send() async throws -> HTTPClientResponse {
            var request = HTTPClientRequest(url: url)
            request.method = .POST
            request.headers = headers
            request.body = .bytes(body)
            do {
                return try await http.execute(request, deadline: .distantFuture)
            } catch {
                try Task.checkCancellation()
                throw failures.notSent(error)
            }
        }

        private func refusal(_ response: HTTPClientResponse) async throws -> ModelError {
            var body: [UInt8] = []
            do {
                for try await bytes in response.body {
                    body += bytes.readableBytesView
                    if body.count >= Self.refusalLimit { break }
                }
            } catch {
                // The status says enough.
                try Task.checkCancellation()
            }
            return failures.refusal(
                status: Int(response.status.code), body: body,
                retryAfter: response.headers.first(name: "Retry-After").flatMap {
                    RetryAfter.duration($0, now: now())
                },
                location: response.headers.first(name: "Location"))
        }

        private func read(_ response: HTTPClientResponse, _ time: TimeLimit) async throws {
            let contentType = response.headers.first(name: "Content-Type")
            var answer = CompletionAnswer(isStream: !(contentType?.lowercased().contains("json") ?? false))
            var isAtEnd = false
            do {
                for try await bytes in response.body {
                    time.extend()
                    try bytes.withUnsafeReadableBytes { try answer.read($0, yield) }
                    // A server may keep the connection open; leaving the loop closes it.
                    if answer.reader.isDone { break }
                }
                try Task.checkCancellation()
                isAtEnd = true
                try answer.finish(yield)
            } catch let error as CompletionReader.ServerFailure {
                throw failures.failure(error.error)
            } catch is ServerSentEventParser.TooLong {
                throw failures.tooLong(limit: Self.sizeLimit)
            } catch let error as RecollectError {
                // An event at the very end that cannot be read is one that was cut off.
                guard isAtEnd, answer.reader.hasBegun else {
                    throw failures.unreadable(contentType: contentType, cause: error)
                }
                throw failures.lost(error)
            } catch {
                try Task.checkCancellation()
                // What hangs up behind the end takes nothing away but the usage.
                guard answer.reader.isComplete else { throw failures.lost(error) }
            }
            guard answer.reader.isComplete else {
                guard answer.reader.hasBegun else { throw failures.unreadable(contentType: contentType) }
                throw failures.lost()
            }
            answer.reader.finish(yield)
        }
    }

    /// The body of an answer, streamed or whole.
    private struct CompletionAnswer {
        private(set) var reader = CompletionReader()
        private var events = ServerSentEventParser(limit: CompletionAttempt.sizeLimit)
        private var whole: [UInt8]?

        init(isStream: Bool) {
            whole = isStream ? nil : []
        }

        mutating func read(_ bytes: UnsafeRawBufferPointer, _ yield: (LLMStreamEvent) -> Void) throws {
            guard let count = whole?.count else {
                return try events.read(bytes) { try reader.read($0, yield) }
            }
            guard count + bytes.count <= events.limit else { throw ServerSentEventParser.TooLong() }
            whole? += bytes
        }

        mutating func finish(_ yield: (LLMStreamEvent) -> Void) throws {
            guard let whole else {
                return try events.finish { try reader.read($0, yield) }
            }
            guard !whole.isEmpty else { return }
            try reader.read(whole, yield)
        }
    }
#endif
