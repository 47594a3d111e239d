import Foundation
import RecollectCore

/// A promise of `SessionStorageProtocol` as a value.
public typealias SessionStorageCheck = ConformanceCheck<any SessionStorageProtocol & Sendable>

/// The conformance suite of `SessionStorageProtocol`.
///
/// Use the checks like those of `ChatStorageConformance`. They require `Sendable`, unlike the protocol, since they
/// call a storage from several tasks. An actor is `Sendable` by itself. A class with locked state declares
/// `@unchecked Sendable`.
public enum SessionStorageConformance {
    /// All checks.
    public static let checks: [SessionStorageCheck] =
        SessionListChecks.all + SessionIDChecks.all + TranscriptChecks.all + TranscriptSaveChecks.all
        + ChatMessageChecks.all + SessionRenamingChecks.all + SessionDeletionChecks.all + SessionConcurrencyChecks.all
        + SessionReopeningChecks.all

    /// Runs all checks one at a time and returns a report.
    ///
    /// - Parameters:
    ///   - fixture: The factory of the storage, with its promises.
    ///   - includingLong: Whether to run checks that take seconds on a slow storage.
    ///   - file: The source file of the call, for failures.
    ///   - line: The source line of the call, for failures.
    public static func report(
        on fixture: StoreFixture<any SessionStorageProtocol & Sendable>, includingLong: Bool = true,
        file: String = #fileID, line: Int = #line
    ) async -> ConformanceReport {
        await ConformanceReport(checks: checks, fixture: fixture, includingLong: includingLong, file: file, line: line)
    }

    /// Runs all checks one at a time on storages created by `make`, and returns a report.
    public static func report(
        capabilities: StoreCapabilities = .standard, includingLong: Bool = true, file: String = #fileID,
        line: Int = #line, make: @escaping @Sendable () async throws -> any SessionStorageProtocol & Sendable
    ) async -> ConformanceReport {
        await report(
            on: StoreFixture(capabilities: capabilities, make: make), includingLong: includingLong, file: file,
            line: line)
    }
}

/// Calls shared by the checks.
extension SessionStorageProtocol where Self: Sendable {
    /// Returns the transcript of a session; throws if the session is missing.
    func transcript(of id: String) async throws -> [ChatMessage] {
        try await session(id).messages
    }

    /// Returns a session; throws if it is missing.
    func session(_ id: String) async throws -> StoredSession {
        guard let session = try await getSession(id: id) else {
            throw BrokenPromise(expected: "a session \(id.debugDescription)", actual: "nil")
        }
        return session
    }

    /// Returns the session IDs in the order of the list.
    func listedIDs() async throws -> [String] {
        try await getAllSessions().map(\.id)
    }

    /// Saves a session with its transcript.
    func fill(_ id: String, _ messages: [ChatMessage]) async throws {
        try await saveSession(id: id, firstMessage: "first of \(id)")
        try await updateSessionMessages(id: id, messages: messages)
    }
}

extension SampleData {
    /// Returns a transcript's message with an ID derived from its name.
    static func entry(
        _ name: String, _ role: MessageRole = .user, _ content: String? = nil, at offset: Int64 = 0
    ) -> ChatMessage {
        ChatMessage(
            id: UUID(name: Array(name.utf8), in: entries), role: role, content: content ?? "text of \(name)",
            timestamp: Date(millisecondsSince1970: start + offset))
    }

    /// Returns `count` messages, user and assistant in turn, a second apart. Their names are `prefix` and a number
    /// from `first`.
    static func transcript(_ count: Int, _ prefix: String = "m", from first: Int = 0) -> [ChatMessage] {
        (first..<(first + count)).map { index in
            entry("\(prefix)\(index)", index.isMultiple(of: 2) ? .user : .assistant, at: Int64(index) * 1000)
        }
    }

    private static let entries = UUID(
        uuid: (0x0D, 0x5C, 0x11, 0xE2, 0x48, 0x90, 0x4B, 0x7F, 0x8A, 0x23, 0x6E, 0x01, 0xB4, 0xCD, 0x57, 0x9E))
}

/// Returns the messages of a listed session.
///
/// A storage may read them only at this access, on the calling thread. So the access is off the threads shared by
/// tasks.
func messages(of session: StoredSession) async -> [ChatMessage] {
    await DispatchQueue.global().run { session.messages }
}

/// Returns when the clock shows another millisecond, for any rounding by a storage.
///
/// Events before and after the call then have an order in a list by date. Spins for two milliseconds: yielding
/// takes seconds on a busy machine.
func waitForNextMillisecond() {
    let now = Date().millisecondsSince1970
    while Date().millisecondsSince1970 < now + 2 {}
}
