import Foundation
import RecollectCore

/// The journals of a workspace: a Markdown file for each day, in `Journal/user` for the user and in `Journal/agent`
/// for all agents.
///
/// ```swift
/// try await workspace.journal.write("The ferry leaves at nine.")
/// let entries = try await workspace.journal.entries(by: .user, on: Date())
/// ```
///
/// The files have the format of `JournalFolder`, and an editor can change them. The heading of an entry names its
/// agent: `## 09:12 <!-- note ID 2026-11-21T09:12:07.123Z by scribe -->`. Entries have IDs, so days written
/// separately on several devices can be merged (`JournalMerge`).
///
/// A workspace belongs to one user, so the user ID of a `JournalID` has no effect, except in comparison with its
/// agent ID: an agent ID that is empty or equal to the user ID selects the user's journal, any other one the
/// agent's. An entry in `Journal/agent` without an agent's name was added by a person, and belongs to every agent's
/// journal.
///
/// Each change is a compare-and-swap write of one file, repeated if another writer interferes, so no entry is lost.
/// Methods wait for the download of a file that is not local. They throw the errors of
/// `SharedWorkspace.read(_:download:)` and `SharedWorkspace.append(_:to:by:)`.
public struct WorkspaceJournal: Journal {
    private let workspace: SharedWorkspace
    private let timeZone: TimeZone

    /// Creates the journals of a workspace.
    /// - Parameters:
    ///   - workspace: The workspace with the files.
    ///   - timeZone: The time zone of the days, and of the times in the files.
    public init(workspace: SharedWorkspace, timeZone: TimeZone = .current) {
        self.workspace = workspace
        self.timeZone = timeZone
    }

    // MARK: For people

    /// Writes an entry, durably.
    @discardableResult
    public func write(_ text: String, by author: WorkspaceAuthor = .user, at date: Date = Date()) async throws
        -> JournalEntry
    {
        let entry = JournalEntry(date: date, text: text)
        try await append(entry, by: author)
        return entry
    }

    /// Returns the entries of a day without those struck out, sorted by date; empty if there are none.
    /// - Parameters:
    ///   - author: The author of the journal.
    ///   - date: Any date in the day.
    public func entries(by author: WorkspaceAuthor, on date: Date) async throws -> [JournalEntry] {
        let day = JournalDay(of: date, in: timeZone)
        var reading = reading(JournalQuery(limit: .max), by: author)
        if let page = try await page(of: day, by: author) { reading.read(page) }
        return reading.entries
    }

    /// Returns the start dates of the days with a file, latest first.
    public func days(by author: WorkspaceAuthor) async throws -> [Date] {
        let query = JournalQuery(limit: .max)
        return try await days(of: reading(query, by: author), by: author).compactMap { $0.date(hour: 0, minute: 0) }
    }

    // MARK: For agents

    /// Adds an entry (see `Journal`). An entry already struck out is added as such. An entry with a known ID is not
    /// added again.
    public func append(_ entry: JournalEntry, to journal: JournalID) async throws {
        try await append(entry, by: Self.author(of: journal))
    }

    /// Returns the latest entries within the query's limits (see `Journal`). Reads files from the latest on, and no
    /// more than necessary.
    public func entries(_ query: JournalQuery, in journal: JournalID) async throws -> [JournalEntry] {
        let author = Self.author(of: journal)
        var reading = reading(query, by: author)
        for day in try await days(of: reading, by: author) where !reading.isEnough {
            if let page = try await page(of: day, by: author) { reading.read(page) }
        }
        return reading.entries
    }

    /// Marks an entry as struck out, with the date in its heading. The rest of the file stays unchanged, byte for
    /// byte.
    /// - Throws: `notFound` if the journal does not have the entry.
    public func strike(_ entry: JournalEntry, at date: Date, in journal: JournalID) async throws {
        let author = Self.author(of: journal)
        let days = JournalDay.around(entry.date, in: timeZone)
        for day in days {
            guard let found = try await page(of: day, by: author)?.entry(entry.id), Self.isWanted(found.heading, author)
            else { continue }
            try await workspace.update(Self.path(of: day, by: author), by: author) { file in
                let page = file.map { JournalPage(day: day, bytes: $0.bytes) }
                return try JournalDays.striking(entry, at: date, on: [page], of: days)?.bytes ?? file?.bytes ?? []
            }
            return
        }
        _ = try JournalDays.striking(entry, at: date, on: [], of: days)
    }

    private func append(_ entry: JournalEntry, by author: WorkspaceAuthor) async throws {
        let days = JournalDay.around(entry.date, in: timeZone)
        for day in days {
            // This also waits for downloads.
            guard try await page(of: day, by: author)?.entry(entry.id) == nil else { return }
        }
        try await workspace.update(Self.path(of: days[0], by: author), by: author) { file in
            let page = file.map { JournalPage(day: days[0], bytes: $0.bytes) }
            return JournalDays.adding(entry, by: author.agentId, to: [page], of: days)?.bytes ?? file?.bytes ?? []
        }
    }

    // MARK: Files

    private static func author(of journal: JournalID) -> WorkspaceAuthor {
        let id = journal.agentId
        return id.isEmpty || id.hasSameBytes(as: journal.userId) ? .user : .agent(id)
    }

    private static func isWanted(_ heading: JournalHeading, _ author: WorkspaceAuthor) -> Bool {
        guard let agentId = author.agentId, let writer = heading.written.agentId else { return true }
        return writer.hasSameBytes(as: agentId)
    }

    private func reading(_ query: JournalQuery, by author: WorkspaceAuthor) -> JournalQueryReader {
        JournalQueryReader(query, in: timeZone) { Self.isWanted($0, author) }
    }

    private static func folder(of author: WorkspaceAuthor) -> WorkspacePath {
        WorkspacePath(checked: ["Journal", author.agentId == nil ? "user" : "agent"])
    }

    private static func path(of day: JournalDay, by author: WorkspaceAuthor) -> WorkspacePath {
        WorkspacePath(checked: folder(of: author).names + [day.fileName])
    }

    private func days(of reading: JournalQueryReader, by author: WorkspaceAuthor) async throws -> [JournalDay] {
        do {
            let items = try await workspace.list(Self.folder(of: author))
            return reading.days(among: items.filter { !$0.isFolder }.map(\.path.name))
        } catch let error as RecollectError where error.code == .notFound {
            return []
        }
    }

    private func page(of day: JournalDay, by author: WorkspaceAuthor) async throws -> JournalPage? {
        do {
            let file = try await workspace.read(Self.path(of: day, by: author))
            return JournalPage(day: day, bytes: file.bytes)
        } catch let error as RecollectError where error.code == .notFound {
            return nil
        }
    }
}

extension SharedWorkspace {
    /// The journals of the user and the agents, in `Journal/user` and `Journal/agent`, with days in the system's
    /// time zone.
    public var journal: WorkspaceJournal { WorkspaceJournal(workspace: self) }
}
