import Foundation
import RecollectCore

/// Takes notes into a journal, without a model: what it is told is noted to the letter, and found again.
///
/// - "Note: …", "remember that …", "write down …", or a plain statement: is noted, once, however often the turn is tried.
/// - "What did I note about …?", "my notes from yesterday", any other question: answers with what was noted and when.
/// - "Strike the last note", "forget the note about …": strikes the latest one that fits; its text stays in the journal.
///
/// It understands these in English, German, French, Spanish and Chinese and answers in English. The reply's metadata names the
/// entries that it is about: `notes`, a list of their ids. Failures of the journal end the turn.
public struct ScribeAgent: AgentProtocol {
    /// What people call it.
    public let name: String
    /// What it is for, for classifiers.
    public let description: String

    private let journal: any Journal
    private let calendar: Calendar
    private let now: @Sendable () -> Date

    /// Makes a scribe.
    /// - Parameters:
    ///   - journal: where it writes.
    ///   - name: what people call it; its slug is the agent's id and names its journal.
    ///   - description: what it is for, for classifiers.
    ///   - calendar: the user's calendar, time zone and locale: what "yesterday" means and how dates are written.
    ///   - now: the moment of the question. A note has the moment of the message.
    public init(
        journal: any Journal, name: String = "Scribe",
        description: String =
            "Takes notes into your journal: note, remember, write down. Shows what you noted, and strikes notes out.",
        calendar: Calendar = .current, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.journal = journal
        self.name = name
        self.description = description
        self.calendar = calendar
        self.now = now
    }

    /// Notes, finds or strikes.
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
            return message("What shall I note?")
        case .note(let text):
            // A turn that is tried again notes nothing twice: the same message gives the same entry.
            let name = Array("\(context.sessionId)\u{0}\(input.id)".utf8)
            let entry = JournalEntry(
                id: UUID(name: name, in: Self.entries).uuidString, date: input.message.timestamp, text: text)
            try await journal.append(entry, to: journalId)
            return message("Noted (\(date(entry.date))): “\(text.onOneLine(atMost: 200))”", about: [entry])
        case .read(let words, let time):
            let entries = try await journal.entries(
                JournalQuery(words: words.plain, from: time?.from, until: time?.until), in: journalId)
            return message(list(entries, words, time), about: entries)
        case .strike(let words):
            let last = try await journal.entries(JournalQuery(words: words.plain, limit: 1), in: journalId).last
            guard let last else {
                return message("You have no note\(about(words)) that I could strike out.")
            }
            try await journal.strike(last, at: now(), in: journalId)
            return message(
                "Struck out (noted \(date(last.date))): “\(last.text.onOneLine(atMost: 200))”. It stays in the journal as struck out.",
                about: [last])
        }
    }

    private func list(_ entries: [JournalEntry], _ words: ContentWords, _ time: SpokenTime?) -> String {
        let subject = about(words) + (time.map { " (\($0.name))" } ?? "")
        guard !entries.isEmpty else { return "You have noted nothing\(subject)." }
        return entries.reduce("You noted\(subject):") { text, entry in
            // The note itself is told as it is, its lines under one another.
            let lines = entry.text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n  ")
            return "\(text)\n\n• \(date(entry.date))\n  \(lines)"
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

    private func date(_ moment: Date) -> String {
        moment.formatted(for: calendar)
    }

    /// The namespace of the ids of entries.
    private static let entries = UUID(
        uuid: (0x8E, 0x12, 0xC7, 0x35, 0x40, 0xA9, 0x4F, 0x6B, 0x93, 0xDE, 0x58, 0x01, 0x7C, 0x24, 0xBB, 0x90))
}

extension Date {
    /// The moment as the user of a calendar writes it: in its time zone and locale.
    func formatted(for calendar: Calendar) -> String {
        formatted(
            Date.FormatStyle(
                date: .abbreviated, time: .shortened, locale: calendar.locale ?? .current, calendar: calendar,
                timeZone: calendar.timeZone))
    }
}
