import Foundation
import RecollectAgents
import RecollectCore
import RecollectTestServer
import Testing
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
            timeouts: timeouts, retries: retries, transport: TestTransport.current,
            waiting: Waiting(
                sleep: { wait in waits.withLock { $0.append(wait) } }, now: { now }, jitter: { 1 }))
    }

    /// All events of a request.
    func events(
        _ request: LLMRequest = LLMRequest(messages: [ConversationMessage(role: .user, text: "hello")])
    ) async throws -> [LLMStreamEvent] {
        var events: [LLMStreamEvent] = []
        for try await event in complete(request) { events.append(event) }
        return events
    }

    /// The events before the failure, and the failure.
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

/// The transport of the current test.
enum TestTransport {
    @TaskLocal static var current: any HTTPTransport = URLSessionTransport.shared

    /// Every transport in this build.
    static var all: [any HTTPTransport] {
        #if AsyncHTTPClient
            [URLSessionTransport.shared, AsyncHTTPClientTransport.shared]
        #else
            [URLSessionTransport.shared]
        #endif
    }

    /// A behavior that not every transport has.
    enum Ability {
        /// Reports a head cut off by the server. Foundation on Linux ends the process (swift-corelibs-foundation, issue 5285).
        case survivesCutHeads
        /// Reuses a connection. `URLSessionTransport` on Linux does not: see its documentation.
        case reusesConnections
    }

    /// Every transport in this build that has an ability.
    static func all(with ability: Ability?) -> [any HTTPTransport] {
        all.filter { transport in ability.map { has($0, transport) } ?? true }
    }

    private static func has(_ ability: Ability, _ transport: any HTTPTransport) -> Bool {
        #if canImport(FoundationNetworking)
            guard transport is URLSessionTransport else { return true }
            #if compiler(>=6.4)
                return ability == .survivesCutHeads
            #else
                return false
            #endif
        #else
            return true
        #endif
    }
}

/// Runs each test once with every transport, or with those that have an ability.
struct EachTransport: SuiteTrait, TestTrait, TestScoping {
    var ability: TestTransport.Ability?
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A suite also has a scope, around all of its tests.
        guard testCase != nil else { return try await function() }
        for transport in TestTransport.all(with: ability) {
            try await TestTransport.$current.withValue(transport) { try await function() }
        }
    }
}

extension Trait where Self == EachTransport {
    /// Runs each test once with every transport.
    static var eachTransport: EachTransport { EachTransport() }

    /// Runs a test once with every transport that has an ability.
    static func eachTransport(with ability: TestTransport.Ability) -> EachTransport { EachTransport(ability: ability) }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test if no transport in this build has an ability.
    static func requires(_ ability: TestTransport.Ability) -> Self {
        .enabled(if: !TestTransport.all(with: ability).isEmpty, "URLSession on Linux cannot; build AsyncHTTPClient")
    }
}

extension [LLMStreamEvent] {
    /// The text of the events.
    var text: String {
        compactMap { event in
            if case .textDelta(let text) = event { return text }
            return nil
        }.joined()
    }

    /// The end, if it is the last event.
    var completion: LLMCompletion? {
        if case .done(let completion) = last { return completion }
        return nil
    }
}
