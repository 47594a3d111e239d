import RecollectCore

/// A promise of `ChatStorage` as a named value.
public typealias ChatStorageCheck = ConformanceCheck<any ChatStorage>

/// The rules of a history as far as the four methods of `ChatStorage` can show them, for every store to prove itself with.
///
/// In Swift Testing, one test:
///
///     @Test(arguments: ChatStorageConformance.checks)
///     func conforms(_ check: ChatStorageCheck) async throws {
///         try await check.run { MyStore() }
///     }
///
/// In XCTest, a loop over `checks` in one test method; in a plain program, `report(on:)`. The checks need no particular
/// order and may run at the same time. What each proves is told in the guide "Write a store, prove it".
public enum ChatStorageConformance {
    /// Every check, in the order of the rules.
    public static let checks: [ChatStorageCheck] =
        ScopeChecks.all + WindowChecks.all + SameRoleChecks.all + IdentityChecks.all + OrderChecks.all
        + AttributionChecks.all + AtomicityChecks.all + ConcurrencyChecks.all + PersistenceChecks.all
        + StrangerChecks.all + ReadableChecks.all + TextChecks.all + ExchangeChecks.all + ModelChecks.all

    /// Runs all checks one after the other and reports.
    ///
    /// - Parameters:
    ///   - fixture: How to make the store, and what it promises.
    ///   - includingLong: Whether to run the checks that take seconds on a slow store.
    ///   - file: Where the report was asked for; failures name it.
    ///   - line: The line there.
    public static func report(
        on fixture: StoreFixture<any ChatStorage>, includingLong: Bool = true, file: String = #fileID, line: Int = #line
    ) async -> ConformanceReport {
        await ConformanceReport(checks: checks, fixture: fixture, includingLong: includingLong, file: file, line: line)
    }

    /// Runs all checks on stores that `make` makes, one after the other, and reports.
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

/// The four methods with the three ids as one value, as the checks call them.
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

    func merged(_ conversation: ConversationID) async throws -> [ConversationMessage] {
        try await fetchAllChats(userId: conversation.userId, sessionId: conversation.sessionId)
    }
}

extension Scope {
    /// A scope of everyday ids, for checks of something else.
    static let plain = Scope(userId: "user", sessionId: "session", agentId: "agent")

    /// The scope with another agent.
    func agent(_ agentId: String) -> Scope {
        Scope(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// The scope with another session.
    func session(_ sessionId: String) -> Scope {
        Scope(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// The scope with another user.
    func user(_ userId: String) -> Scope {
        Scope(userId: userId, sessionId: sessionId, agentId: agentId)
    }

    /// The three ids as a failure shows them.
    var shown: String {
        "(\(userId.debugDescription), \(sessionId.debugDescription), \(agentId.debugDescription))"
    }
}
