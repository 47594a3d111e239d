import Foundation
import RecollectAgents
import RecollectCore

/// One attempt at a request: sends it and reads the answer.
struct CompletionAttempt: Sendable {
    let transport: any HTTPTransport
    let request: TransportRequest
    /// The limits; the client applies `total`. A connection can be reused only after its body was read to the end, but a
    /// server may keep the body open forever.
    let limits: ChatCompletionsClient.Timeouts
    let maxReplyBytes: Int
    let failures: ModelErrors
    let now: @Sendable () -> Date
    let yield: @Sendable (LLMStreamEvent) -> Void

    /// The number of bytes read from a refusal: enough for the server's message.
    private static let refusalLimit = 64 << 10

    /// The progress of the answer.
    private enum Progress {
        case begun
        /// The server has refused the request; more of its message may follow.
        case refused(ModelError)
        /// The content is complete; the usage may follow.
        case complete(CompletionReader)
        case answered
    }

    /// Runs the attempt. Yields the end as soon as it is known, and returns when the connection is no longer
    /// needed.
    /// - Throws: `ModelError`, or `CancellationError` if the task was canceled.
    func run() async throws {
        let progress = Locked(Progress.begun)
        do {
            try await TimeLimit.run(limits.idle) { time in
                let response = try await send()
                time.extend()
                guard (200..<300).contains(response.status) else { throw try await refusal(response, progress) }
                try await read(response, time, progress)
            }
        } catch is TimeLimit.Expired {
            switch progress.withLock({ $0 }) {
            case .begun: throw failures.timedOut("for \(limits.idle.components.seconds) seconds")
            case .refused(let error): throw error
            // After the end, silence loses only the usage.
            case .complete(let reader): reader.finish(yield)
            case .answered: break
            }
        } catch let error as CancellationError {
            // The time for the whole request has passed, or nobody reads the events.
            guard case .complete(let reader) = progress.withLock({ $0 }), !reader.isUncertain else { throw error }
            reader.finish(yield)
        }
    }

    private func send() async throws -> TransportResponse {
        do {
            return try await transport.send(request)
        } catch {
            try Task.checkCancellation()
            throw failures.notSent(error)
        }
    }

    private func refusal(_ response: TransportResponse, _ progress: Locked<Progress>) async throws -> ModelError {
        let error = refusal(response, body: [])
        progress.withLock { $0 = .refused(error) }
        var body: [UInt8] = []
        do {
            for try await bytes in response.body {
                body += bytes
                if body.count >= Self.refusalLimit { break }
            }
        } catch {
            // The status is enough.
            try Task.checkCancellation()
        }
        return refusal(response, body: body)
    }

    private func refusal(_ response: TransportResponse, body: [UInt8]) -> ModelError {
        failures.refusal(
            status: response.status, body: body,
            retryAfter: response.header("Retry-After").flatMap {
                RetryAfter.duration($0, now: now())
            },
            location: response.header("Location"))
    }

    private func read(
        _ response: TransportResponse, _ time: TimeLimit, _ progress: Locked<Progress>
    ) async throws {
        let contentType = response.header("Content-Type")
        var answer = CompletionAnswer(maxReplyBytes: maxReplyBytes)
        var isAnswered = false
        var isAtEnd = false
        do {
            for try await bytes in response.body where !isAnswered {
                let wasComplete = answer.reader.isComplete
                try bytes.withUnsafeBytes { try answer.read($0, yield) }
                if answer.reader.isComplete {
                    let reader = answer.reader
                    progress.withLock { $0 = .complete(reader) }
                }
                if answer.reader.isUncertain || !answer.reader.isComplete {
                    time.extend()
                } else if !wasComplete {
                    time.leave(limits.usage)
                }
                guard answer.reader.isDone else { continue }
                try Task.checkCancellation()
                answer.reader.finish(yield)
                isAnswered = true
                progress.withLock { $0 = .answered }
                // Leaving the loop closes the connection.
                if answer.reader.isCutOff { return }
                time.leave(limits.end)
            }
            try Task.checkCancellation()
            if isAnswered { return }
            isAtEnd = true
            try answer.finish(yield)
        } catch let error as CompletionReader.ServerFailure {
            throw failures.failure(error.error)
        } catch is ServerSentEventParser.TooLong {
            throw failures.tooLong(limit: CompletionAnswer.sizeLimit)
        } catch let error as RecollectError {
            // An unreadable event at the very end was cut off.
            guard isAtEnd, answer.reader.hasBegun else {
                throw failures.unreadable(contentType: contentType, cause: error)
            }
            throw failures.lost(error)
        } catch {
            try Task.checkCancellation()
            if isAnswered { return }
            // After the end, a closed connection loses only the usage.
            guard answer.reader.isComplete else { throw failures.lost(error) }
        }
        guard answer.reader.isComplete else {
            guard answer.reader.hasBegun else { throw failures.unreadable(contentType: contentType) }
            throw failures.lost()
        }
        answer.reader.finish(yield)
    }
}
