import Foundation
import RecollectAgents
import RecollectCore

/// Writes notes to a journal and finds them, without a model. Notes keep the user's exact words.
///
/// ```swift
/// let scribe = ScribeAgent(journal: JournalFolder(baseURL: folder))
/// ```
///
/// - "Note: …", "remember that …", "write down …", or a plain statement: notes it once, even if the turn is
///   repeated.
/// - "What did I note about …?", "my notes from yesterday", or any other question: replies with the matching notes
///   and their dates.
/// - "Strike the last note", "forget the note about …": strikes out the latest matching note. Its text stays in the
///   journal.
///
/// Requests may be in English, German, French, Spanish or Chinese; replies are in English. The reply's metadata
/// lists the entries concerned: `notes`, an array of their IDs. An error of the journal ends the turn.
public struct ScribeAgent: AgentProtocol {
    /// The display name.
    public let name: String
    /// The agent's purpose, for classifiers.
    public let description: String

    private let journal: any Journal
    private let calendar: Calendar
    private let now: @Sendable () -> Date

    /// Creates a scribe.
    /// - Parameters:
    ///   - journal: The store of the notes.
    ///   - name: The display name. Its slug is the agent's ID and names its journal.
    ///   - description: The agent's purpose, for classifiers.
    ///   - calendar: The user's calendar, time zone and locale, for times in questions and dates in replies.
    ///   - now: Returns the date of the request. A note has the date of the message.
    public init(
        journal: any Journal, name: String = "Scribe",
        description: String =
            "Takes notes in your journal: note, remember, write down. Shows what you noted, and strikes notes out.",
        calendar: Calendar = .current, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.journal = journal
        self.name = name
        self.description = description
        self.calendar = calendar
        self.now = now
    }

    /// Notes, finds or strikes out.
    public func process(
        _ input: AgentInput, history: [ConversationMessage], context: AgentContext
    ) -> AsyncThrowingStream<AgentEvent, any Error> {
        AsyncThrowingStream(running: { stream in
            let reply = try await reply(to: input, in: context)
            stream.yield(.textDelta(reply.text))
            stream.yield(.final(reply))
        })
    }

    private func reply(to input: AgentInput, in context: AgentContext) async throws -> ConversationMessage {
        let journalId = JournalID(userId: context.userId, agentId: id)
        switch ScribeRequest(input.text, now: now(), calendar: calendar) {
        case .nothing:
            return message("What should I note?")
        case .note(let text):
            // A repeated turn notes nothing twice: the same message gives the same entry ID.
            let name = Array("\(context.sessionId)\u{0}\(input.id)".utf8)
            let entry = JournalEntry(
                id: UUID(name: name, in: Self.entries).uuidString, date: input.message.timestamp, text: text)
            try await journal.append(entry, to: journalId)
            return message("Noted (\(dateText(entry.date))): “\(text.onOneLine(atMost: 200))”", about: [entry])
        case .read(let words, let time):
            let entries = try await journal.entries(
                JournalQuery(words: words.plain, from: time?.from, until: time?.until), in: journalId)
            return message(list(entries, words, time), about: entries)
        case .strike(let words):
            let last = try await journal.entries(JournalQuery(words: words.plain, limit: 1), in: journalId).last
            guard let last else {
                return message("You have no note\(about(words)) to strike out.")
            }
            try await journal.strike(last, at: now(), in: journalId)
            return message(
                "Struck out (noted \(dateText(last.date))): “\(last.text.onOneLine(atMost: 200))”. It stays in the journal, marked as struck out.",
                about: [last])
        }
    }

    private func list(_ entries: [JournalEntry], _ words: ContentWords, _ time: DateExpression?) -> String {
        let subject = about(words) + (time.map { " (\($0.name))" } ?? "")
        guard !entries.isEmpty else { return "You have no notes\(subject)." }
        return entries.reduce("Your notes\(subject):") { text, entry in
            // The note is shown unchanged, with its lines indented.
            let lines = entry.text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n  ")
            return "\(text)\n\n• \(dateText(entry.date))\n  \(lines)"
        }
    }

    private func about(_ words: ContentWords) -> String {
        words.words.isEmpty ? "" : " about \(words.spoken)"
    }

    private func message(_ text: String, about entries: [JournalEntry] = []) -> ConversationMessage {
        ConversationMessage(
            role: .assistant, text: text,
            metadata: entries.isEmpty ? [:] : ["notes": .array(entries.map { .string($0.id) })])
    }

    private func dateText(_ date: Date) -> String {
        date.formatted(for: calendar)
    }

    /// The namespace of the entries' IDs.
    private static let entries = UUID(
        uuid: (0x8E, 0x12, 0xC7, 0x35, 0x40, 0xA9, 0x4F, 0x6B, 0x93, 0xDE, 0x58, 0x01, 0x7C, 0x24, 0xBB, 0x90))
}

extension Date {
    /// Returns the date in the calendar's time zone and locale.
    func formatted(for calendar: Calendar) -> String {
        formatted(
            Date.FormatStyle(
                date: .abbreviated, time: .shortened, locale: calendar.locale ?? .current, calendar: calendar,
                timeZone: calendar.timeZone))
    }
}
