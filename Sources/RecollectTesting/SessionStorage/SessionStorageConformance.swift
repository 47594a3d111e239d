import Foundation
import RecollectCore

/// A promise of `SessionStorageProtocol` as a named value.
public typealias SessionStorageCheck = ConformanceCheck<any SessionStorageProtocol & Sendable>

/// What `SessionStorageProtocol` promises, for every session storage to prove itself with.
///
/// The checks are used as those of `ChatStorageConformance` are. The protocol itself asks for no `Sendable`; the checks do,
/// since they call a storage from several tasks. An actor is `Sendable` by itself; a class that guards its state says
/// `@unchecked Sendable`.
public enum SessionStorageConformance {
    /// Every check.
    public static let checks: [SessionStorageCheck] =
        SessionListChecks.all + SessionIDChecks.all + TranscriptChecks.all + TranscriptSaveChecks.all
        + ChatMessageChecks.all + SessionRenamingChecks.all + SessionDeletionChecks.all + SessionConcurrencyChecks.all
        + SessionReopeningChecks.all

    /// Runs all checks one after the other and reports.
    ///
    /// - Parameters:
    ///   - fixture: How to make the storage, and what it promises.
    ///   - includingLong: Whether to run the checks that take seconds on a slow storage.
    ///   - file: Where the report was asked for; failures name it.
    ///   - line: The line there.
    public static func report(
        on fixture: StoreFixture<any SessionStorageProtocol & Sendable>, includingLong: Bool = true,
        file: String = #fileID, line: Int = #line
    ) async -> ConformanceReport {
        await ConformanceReport(checks: checks, fixture: fixture, includingLong: includingLong, file: file, line: line)
    }

    /// Runs all checks on storages that `make` makes, one after the other, and reports.
    public static func report(
        capabilities: StoreCapabilities = .standard, includingLong: Bool = true, file: String = #fileID,
        line: Int = #line, make: @escaping @Sendable () async throws -> any SessionStorageProtocol & Sendable
    ) async -> ConformanceReport {
        await report(
            on: StoreFixture(capabilities: capabilities, make: make), includingLong: includingLong, file: file,
            line: line)
    }
}

/// What the checks ask of a storage again and again.
extension SessionStorageProtocol where Self: Sendable {
    /// The transcript of a session that must be there.
    func transcript(of id: String) async throws -> [ChatMessage] {
        try await session(id).messages
    }

    /// A session that must be there.
    func session(_ id: String) async throws -> StoredSession {
        guard let session = try await getSession(id: id) else {
            throw BrokenPromise(expected: "a session \(id.debugDescription)", actual: "nil")
        }
        return session
    }

    /// The ids in the order of the list.
    func listedIDs() async throws -> [String] {
        try await getAllSessions().map(\.id)
    }

    /// Saves a session with its transcript.
    func fill(_ id: String, _ messages: [ChatMessage]) async throws {
        try await saveSession(id: id, firstMessage: "first of \(id)")
        try await updateSessionMessages(id: id, messages: messages)
    }
}

extension Invented {
    /// A message of a transcript whose id follows from its name.
    static func entry(
        _ name: String, _ role: MessageRole = .user, _ content: String? = nil, at offset: Int64 = 0
    ) -> ChatMessage {
        ChatMessage(
            id: UUID(name: Array(name.utf8), in: entries), role: role, content: content ?? "text of \(name)",
            timestamp: Date(millisecondsSince1970: start + offset))
    }

    /// So many messages, user and assistant in turn, a second apart; their names are `prefix` and a number from 0.
    static func transcript(_ count: Int, _ prefix: String = "m", from first: Int = 0) -> [ChatMessage] {
        (first..<(first + count)).map { index in
            entry("\(prefix)\(index)", index.isMultiple(of: 2) ? .user : .assistant, at: Int64(index) * 1000)
        }
    }

    private static let entries = UUID(
        uuid: (0x0D, 0x5C, 0x11, 0xE2, 0x48, 0x90, 0x4B, 0x7F, 0x8A, 0x23, 0x6E, 0x01, 0xB4, 0xCD, 0x57, 0x9E))
}

/// The messages of a listed session. A storage may read them when they are asked for, on the thread that asks: so not on one
/// that tasks share.
func messages(of session: StoredSession) async -> [ChatMessage] {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: session.messages) }
    }
}

/// Returns when the clock shows another millisecond, whichever way a storage rounds: what happens before and after has an
/// order in a list by time. Spins for those two milliseconds: to yield on a busy machine takes seconds.
func untilTheClockTicks() {
    let now = Date().millisecondsSince1970
    while Date().millisecondsSince1970 < now + 2 {}
}
