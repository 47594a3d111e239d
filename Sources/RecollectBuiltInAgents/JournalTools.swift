import Foundation
import RecollectAgents
import RecollectCore

/// Tools for a model to write and read its user's journal: `take_note` and `read_notes`.
///
/// The tools use only the journal of the turn's user (`AgentContext.userId`). Invalid arguments are reported to the
/// model as text; errors of the journal are thrown.
public struct JournalTools: Sendable {
    private let journal: any Journal
    private let agentId: String
    private let calendar: Calendar
    private let now: @Sendable () -> Date

    /// Creates the tools.
    /// - Parameters:
    ///   - journal: The store of the notes.
    ///   - agentId: The agent ID of the user's journal. The default is the ID of `ScribeAgent`, so that both share
    ///     the notes.
    ///   - calendar: The calendar with the time zone for days and dates.
    ///   - now: Returns the date of a note.
    public init(
        journal: any Journal, agentId: String = "scribe", calendar: Calendar = .current,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.journal = journal
        self.agentId = agentId
        self.calendar = calendar
        self.now = now
    }

    /// Both tools.
    public var all: [AgentTool] { [takeNote, readNotes] }

    /// `take_note`: appends an entry.
    public var takeNote: AgentTool {
        AgentTool(
            name: "take_note",
            description: "Adds a note to this user's journal, where the user and later sessions can find it.",
            properties: ["text": ["type": "string", "description": "The note, saved verbatim. It may use Markdown."]],
            required: ["text"], calendar: calendar
        ) { arguments, context in
            let entry = JournalEntry(date: now(), text: try arguments.requiredText("text"))
            try await journal.append(entry, to: JournalID(userId: context.userId, agentId: agentId))
            return ["note": .string(entry.id), "when": entry.date.forModel(in: calendar)]
        }
    }

    /// `read_notes`: returns the latest entries, at most 50 and 16 KB.
    public var readNotes: AgentTool {
        AgentTool(
            name: "read_notes",
            description: "Reads the latest notes in this user's journal, oldest first.",
            properties: [
                "words": [
                    "type": "string", "description": "Words separated by spaces. Only notes with all of them are read.",
                ],
                "since": [
                    "type": "string",
                    "description": "Read only notes from this day (2026-05-03) or time (ISO 8601) on.",
                ],
                "until": [
                    "type": "string", "description": "Read only notes to the end of this day, or before this time.",
                ],
                "limit": [
                    "type": "integer", "minimum": 1, "maximum": 50,
                    "description": "Maximum number of notes (default 20).",
                ],
            ],
            required: [], calendar: calendar
        ) { arguments, context in
            let words = try arguments.text("words")?.split(whereSeparator: \.isWhitespace).map(String.init) ?? []
            let query = JournalQuery(
                words: words, from: try arguments.date("since", isEnd: false),
                until: try arguments.date("until", isEnd: true),
                limit: try arguments.number("limit", in: 1...50, default: 20))
            let entries = try await journal.entries(
                query, in: JournalID(userId: context.userId, agentId: agentId))
            return listing(entries, limit: query.limit)
        }
    }

    private func listing(_ entries: [JournalEntry], limit: Int) -> JSONValue {
        var bytes = 0
        let fitting = entries.reversed().prefix { entry in
            bytes += entry.text.utf8.count + 200
            return bytes <= Self.maxBytes
        }
        var result: [String: JSONValue] = [
            "notes": .array(
                fitting.reversed().map { entry in
                    [
                        "note": .string(entry.id), "when": entry.date.forModel(in: calendar),
                        "text": .string(entry.text),
                    ]
                })
        ]
        if let oldest = fitting.last, fitting.count < entries.count || entries.count == limit {
            result["note"] = .string("There may be older notes. To read them: until = \(ISO8601.text(of: oldest.date))")
        } else if fitting.isEmpty, !entries.isEmpty {
            result["note"] = "The latest note is too long for this tool."
        }
        return .object(result)
    }

    private static let maxBytes = 16_000
}
