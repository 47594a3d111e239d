import RecollectCore

/// A promise of `ChatStorage` as a value.
public typealias ChatStorageCheck = ConformanceCheck<any ChatStorage>

/// The conformance suite of `ChatStorage`: the rules of a history, as far as its four methods can show them.
///
/// In Swift Testing, write one test:
///
/// ```swift
/// @Test(arguments: ChatStorageConformance.checks)
/// func conforms(_ check: ChatStorageCheck) async throws {
///     try await check.run { MyStore() }
/// }
/// ```
///
/// In XCTest, loop over `checks` in one test method. In a plain program, call `report(on:)`. The checks need no
/// particular order and may run at the same time. The guide "Write and verify a store" describes them.
public enum ChatStorageConformance {
    /// All checks, in the order of the rules.
    public static let checks: [ChatStorageCheck] =
        ScopeChecks.all + WindowChecks.all + CompactionChecks.all + SameRoleChecks.all + IdentityChecks.all
        + OrderChecks.all
        + AttributionChecks.all + AtomicityChecks.all + ConcurrencyChecks.all + PersistenceChecks.all
        + UnknownDataChecks.all + ReadableChecks.all + TextChecks.all + ExchangeChecks.all + ModelChecks.all

    /// Runs all checks one at a time and returns a report.
    ///
    /// - Parameters:
    ///   - fixture: The factory of the store, with its promises.
    ///   - includingLong: Whether to run checks that take seconds on a slow store.
    ///   - file: The source file of the call, for failures.
    ///   - line: The source line of the call, for failures.
    public static func report(
        on fixture: StoreFixture<any ChatStorage>, includingLong: Bool = true, file: String = #fileID, line: Int = #line
    ) async -> ConformanceReport {
        await ConformanceReport(checks: checks, fixture: fixture, includingLong: includingLong, file: file, line: line)
    }

    /// Runs all checks one at a time on stores created by `make`, and returns a report.
    public static func report(
        capabilities: StoreCapabilities = .standard, includingLong: Bool = true, file: String = #fileID,
        line: Int = #line,
        make: @escaping @Sendable () async throws -> any ChatStorage
    ) async -> ConformanceReport {
        await report(
            on: StoreFixture(capabilities: capabilities, make: make), includingLong: includingLong, file: file,
            line: line)
    }
}

/// The four methods with a scope in place of the three IDs.
extension ChatStorage {
    func messages(in scope: Scope, last maxMessages: Int? = nil) async throws -> [ConversationMessage] {
        try await fetch(
            userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: maxMessages)
    }

    func add(_ messages: [ConversationMessage], to scope: Scope, keeping maxMessages: Int? = nil) async throws {
        try await saveMessages(
            messages, userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: maxMessages
        )
    }

    func add(_ message: ConversationMessage, to scope: Scope, keeping maxMessages: Int? = nil) async throws {
        try await save(
            message, userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: maxMessages)
    }

    func merged(_ session: SessionKey) async throws -> [ConversationMessage] {
        try await fetchAllChats(userId: session.userId, sessionId: session.sessionId)
    }
}

extension Scope {
    /// A scope with ordinary IDs, for checks of other rules.
    static let plain = Scope(userId: "user", sessionId: "session", agentId: "agent")

    /// Returns the scope with another agent.
    func agent(_ agentId: String) -> Scope {
        Scope(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// Returns the scope with another session.
    func session(_ sessionId: String) -> Scope {
        Scope(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// Returns the scope with another user.
    func user(_ userId: String) -> Scope {
        Scope(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// The three IDs, as shown in a failure.
    var shown: String {
        "(\(userId.debugDescription), \(sessionId.debugDescription), \(agentId.debugDescription))"
    }
}
