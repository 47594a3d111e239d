import Foundation
import RecollectAgents
import RecollectCore
import RecollectSQLite
import Testing

/// A folder that goes with the test.
final class TemporaryFolder: Sendable {
    let url: URL

    /// In memory where the system has such a place: hundreds of syncs would make a busy disk the slowest part of the tests.
    init() throws {
        let memory = "/dev/shm"
        let base =
            FileManager.default.isWritableFile(atPath: memory)
            ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
        url = base.appendingPathComponent("recollect-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do { try FileManager.default.removeItem(at: url) } catch { print("left behind: \(url.path)") }
    }

    /// The file of a day in the journal of user `ada`, agent `scribe`.
    func page(_ day: String = "2026-11-21") -> URL { url.appendingPathComponent("ada/scribe/\(day).md") }

    /// Writes a day's file as some other program would.
    func write(_ text: String, on day: String = "2026-11-21") throws {
        try FileManager.default.createDirectory(
            at: page(day).deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: page(day))
    }
}

/// Saturday, 2026-11-21, 09:12:07.123 in UTC.
let morning = Date(timeIntervalSince1970: 1_795_252_327.123).wholeMilliseconds

/// The Gregorian calendar in UTC and British English.
let utc = calendar("UTC")

func calendar(_ timeZone: String, _ locale: String = "en_GB") -> Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: timeZone) ?? .gmt
    calendar.locale = Locale(identifier: locale)
    calendar.firstWeekday = 2
    return calendar
}

extension AgentProtocol {
    /// The agent's whole reply, which must be what it streamed.
    func reply(
        to input: AgentInput, after history: [ConversationMessage] = [], user: String = "ada", session: String = "now"
    ) async throws -> ConversationMessage {
        var streamed = ""
        var final: ConversationMessage?
        let context = AgentContext(userId: user, sessionId: session)
        for try await event in process(input, history: history, context: context) {
            switch event {
            case .textDelta(let text): streamed += text
            case .final(let message): final = message
            default: Issue.record("unexpected \(event)")
            }
        }
        let message = try #require(final)
        #expect(message.text == streamed)
        return message
    }
}

/// A user's message of a moment, so many days before `morning`.
func asked(_ text: String, id: String = "question", daysAgo: Double = 0) -> AgentInput {
    AgentInput(
        ConversationMessage(
            id: id, role: .user, text: text, timestamp: morning.addingTimeInterval(-86_400 * daysAgo)))
}

extension Orchestrator {
    /// Runs a turn of one user in one session to its end.
    @discardableResult
    func say(_ input: AgentInput, session: String = "session") async throws -> [AgentEvent] {
        var events: [AgentEvent] = []
        for try await event in route(input, userId: "user", sessionId: session) { events.append(event) }
        return events
    }
}

extension [AgentEvent] {
    /// The saved reply.
    var reply: ConversationMessage? {
        for case .final(let message) in self { return message }
        return nil
    }
}

/// A gate for parts of a test: they wait until another part opens it, or until their task is canceled.
actor Gate {
    private var isOpen = false
    private var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    private var count = 0

    func open() {
        isOpen = true
        waiting.values.forEach { $0.resume() }
        waiting = [:]
    }

    func wait() async throws {
        count += 1
        let number = count
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if isOpen {
                    continuation.resume()
                } else if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    waiting[number] = continuation
                }
            }
        } onCancel: {
            Task { await self.cancel(number) }
        }
    }

    private func cancel(_ number: Int) {
        waiting.removeValue(forKey: number)?.resume(throwing: CancellationError())
    }
}

extension ChatStorage {
    /// Returns all messages of an agent in a session.
    func all(_ agentId: String = "agent", session: String = "session") async throws -> [ConversationMessage] {
        try await fetch(userId: "user", sessionId: session, agentId: agentId, maxMessages: nil)
    }
}
