import Foundation
import RecollectAgents
import RecollectCore
import RecollectTestSupport
import Testing

extension TemporaryFolder {
    /// The file of a day in the journal of user `ada`, agent `scribe`.
    func page(_ day: String = "2026-11-21") -> URL { url.appendingPathComponent("ada/scribe/\(day).md") }

    /// Writes a day's file as another program would.
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
    /// The agent's whole reply; expects it to equal the streamed text.
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

/// A user's message, dated the given number of days before `morning`.
func asked(_ text: String, id: String = "question", daysAgo: Double = 0) -> AgentInput {
    AgentInput(
        ConversationMessage(
            id: id, role: .user, text: text, timestamp: morning.addingTimeInterval(-86_400 * daysAgo)))
}
