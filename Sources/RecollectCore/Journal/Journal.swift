import Foundation

/// Where an agent writes down what its user wants to keep: one journal for each user and agent.
///
/// Entries are added and struck out, never changed and never removed. All methods may be called from any task at any time.
public protocol Journal: Sendable {
    /// Adds an entry. It is kept when this returns; an entry whose id the journal holds at that day stays as it is, so that a retry
    /// is harmless.
    func append(_ entry: JournalEntry, to journal: JournalID) async throws

    /// The latest entries that fit a query, in the order of their time.
    func entries(_ query: JournalQuery, in journal: JournalID) async throws -> [JournalEntry]

    /// Marks an entry as struck out; its text stays. One that is struck out already stays as it is.
    /// - Throws: `notFound` for an entry that the journal does not hold.
    func strike(_ entry: JournalEntry, at moment: Date, in journal: JournalID) async throws
}

/// Names a journal: a user's, written by one agent. Compared as bytes of UTF-8.
public struct JournalID: Hashable, Sendable {
    private let scope: Scope

    /// Names a journal.
    public init(userId: String, agentId: String) {
        scope = Scope(userId: userId, sessionId: "", agentId: agentId)
    }

    /// The user; any string.
    public var userId: String { scope.userId }
    /// The agent that writes it; any string.
    public var agentId: String { scope.agentId }
}

/// Something that was written down.
public struct JournalEntry: Hashable, Sendable, Identifiable {
    /// Names the entry in its journal; any string.
    public var id: String
    /// When it was said, in whole milliseconds.
    public var date: Date
    /// What was written down, to the letter.
    public var text: String
    /// When it was struck out; `nil` for one that holds.
    public var struckAt: Date?

    /// Makes an entry; the dates are rounded to whole milliseconds.
    public init(id: String = UUID().uuidString, date: Date = Date(), text: String, struckAt: Date? = nil) {
        self.id = id
        self.date = date.wholeMilliseconds
        self.text = text
        self.struckAt = struckAt?.wholeMilliseconds
    }
}

/// Which entries of a journal are wanted. All conditions must hold.
public struct JournalQuery: Hashable, Sendable {
    /// Words that an entry must hold, each anywhere in it, without regard to case and accents; empty means all entries.
    public var words: [String]
    /// Only entries of this moment or later.
    public var from: Date?
    /// Only entries before this moment.
    public var until: Date?
    /// Whether entries that were struck out are wanted too.
    public var includesStruck: Bool
    /// The most entries to give: the latest.
    public var limit: Int

    /// Makes a query.
    public init(
        words: [String] = [], from: Date? = nil, until: Date? = nil, includesStruck: Bool = false, limit: Int = 20
    ) {
        self.words = words
        self.from = from
        self.until = until
        self.includesStruck = includesStruck
        self.limit = limit
    }

    /// Whether an entry fits, whatever the limit.
    public func admits(_ entry: JournalEntry) -> Bool {
        (includesStruck || entry.struckAt == nil)
            && from.map { entry.date >= $0 } ?? true && until.map { entry.date < $0 } ?? true
            && words.allSatisfy {
                entry.text.range(of: $0, options: [.caseInsensitive, .diacriticInsensitive]) != nil
            }
    }
}
