import Foundation
import RecollectFileSystem

/// An agent's notes for its user, with one journal for each user and agent.
///
/// ```swift
/// let id = JournalID(userId: "ana", agentId: "scribe")
/// try await journal.append(JournalEntry(text: "The ferry leaves at nine."), to: id)
/// let notes = try await journal.entries(JournalQuery(words: ["ferry"]), in: id)
/// ```
///
/// Entries are added and struck out, but never changed or removed. Any task can call any method at any time.
public protocol Journal: Sendable {
    /// Adds an entry. The entry is saved when this method returns. An entry with an ID already in the journal on
    /// that day stays unchanged, so a retry is harmless.
    func append(_ entry: JournalEntry, to journal: JournalID) async throws

    /// Returns the latest entries matching a query, ordered by date.
    func entries(_ query: JournalQuery, in journal: JournalID) async throws -> [JournalEntry]

    /// Marks an entry as struck out, with its text unchanged. An entry already struck out stays unchanged.
    /// - Throws: `notFound` if the journal does not have the entry.
    func strike(_ entry: JournalEntry, at date: Date, in journal: JournalID) async throws
}

/// The identifier of a journal, for a user and the agent writing it. Compared by UTF-8 bytes.
public struct JournalID: Hashable, Sendable {
    private let scope: Scope

    /// Creates an identifier.
    public init(userId: String, agentId: String) {
        scope = Scope(userId: userId, sessionId: "", agentId: agentId)
    }

    /// The user ID, any string.
    public var userId: String { scope.userId }
    /// The ID of the agent writing the journal, any string.
    public var agentId: String { scope.agentId }
}

/// An entry of a journal.
public struct JournalEntry: Hashable, Sendable, Identifiable {
    /// The entry's identifier in its journal, any string.
    public var id: String
    /// The date of the entry, in whole milliseconds.
    public var date: Date
    /// The text, verbatim.
    public var text: String
    /// The date of striking it out; `nil` for a valid entry.
    public var struckAt: Date?

    /// Creates an entry. The dates are rounded to whole milliseconds.
    public init(id: String = UUID.random().uuidString, date: Date = Date(), text: String, struckAt: Date? = nil) {
        self.id = id
        self.date = date.wholeMilliseconds
        self.text = text
        self.struckAt = struckAt?.wholeMilliseconds
    }
}

/// A query for entries of a journal. Entries must meet all conditions.
public struct JournalQuery: Hashable, Sendable {
    /// The required words, each anywhere in the entry, ignoring case and accents; empty means all entries.
    public var words: [String]
    /// Only entries on or after this date.
    public var from: Date?
    /// Only entries before this date.
    public var until: Date?
    /// Whether struck-out entries are included.
    public var includesStruck: Bool
    /// The maximum number of entries, the latest ones.
    public var limit: Int

    /// Creates a query.
    public init(
        words: [String] = [], from: Date? = nil, until: Date? = nil, includesStruck: Bool = false, limit: Int = 20
    ) {
        self.words = words
        self.from = from
        self.until = until
        self.includesStruck = includesStruck
        self.limit = limit
    }

    /// Whether an entry meets the conditions, not counting the limit.
    public func matches(_ entry: JournalEntry) -> Bool {
        (includesStruck || entry.struckAt == nil)
            && from.map { entry.date >= $0 } ?? true && until.map { entry.date < $0 } ?? true
            && words.allSatisfy {
                entry.text.range(of: $0, options: [.caseInsensitive, .diacriticInsensitive]) != nil
            }
    }
}
