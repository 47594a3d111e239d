#if Models
    import Foundation
    import RecollectAgents
    import RecollectCore
    import RecollectTestServer
    @testable import RecollectModels

    extension ChatCompletionsClient {
        /// A client of a test's server that never waits.
        init(
            _ server: ModelServer, apiKey: String? = nil, headers: [String: String] = [:],
            extraBody: [String: JSONValue] = [:], timeouts: Timeouts = Timeouts(),
            retries: RetryPolicy = RetryPolicy(maxRetries: 0), waits: Locked<[Duration]> = Locked([]),
            now: Date = Date()
        ) {
            self.init(
                baseURL: server.baseURL, model: "test", apiKey: apiKey, headers: headers, extraBody: extraBody,
                timeouts: timeouts, retries: retries,
                waiting: Waiting(
                    sleep: { wait in waits.withLock { $0.append(wait) } }, now: { now }, jitter: { 1 }))
        }

        /// All that comes of a question.
        func events(
            _ request: LLMRequest = LLMRequest(messages: [ConversationMessage(role: .user, text: "hello")])
        ) async throws -> [LLMStreamEvent] {
            var events: [LLMStreamEvent] = []
            for try await event in complete(request) { events.append(event) }
            return events
        }

        /// The events until it failed, and the failure.
        func failure(
            _ request: LLMRequest = LLMRequest(messages: [ConversationMessage(role: .user, text: "hello")])
        ) async -> (events: [LLMStreamEvent], error: ModelError?) {
            var events: [LLMStreamEvent] = []
            do {
                for try await event in complete(request) { events.append(event) }
                return (events, nil)
            } catch {
                return (events, error as? ModelError)
            }
        }
    }

    extension [LLMStreamEvent] {
        /// The prose of the events.
        var text: String {
            compactMap { event in
                if case .textDelta(let text) = event { return text }
                return nil
            }.joined()
        }

        /// The end, if there is one, and if it is the last.
        var completion: LLMCompletion? {
            if case .done(let completion) = last { return completion }
            return nil
        }
    }
#endif
