import Foundation
import RecollectCore

/// The journals of a workspace: a Markdown file for each day, the user's in `Journal/user`, all agents' in `Journal/agent`.
///
/// The files are those of a `JournalFolder`, and as open to whoever writes in them with an editor. Which agent wrote an entry stands in its
/// heading: `## 09:12 <!-- note ID 2026-11-21T09:12:07.123Z by scribe -->`. Entries have ids, so that days which were written apart on
/// several devices unite (`JournalMerge`).
///
/// A workspace is one user's: the user id of a `JournalID` is not looked at. Its agent id names the journal: the user's own, where it is
/// empty or the user's id; else that agent's. An entry in `Journal/agent` that names no agent was put there by a person, and is in
/// every agent's journal.
///
/// Each change is a compare-and-swap of one file, made again where somebody else was quicker, so nobody's entries are lost. Of a file that is not
/// local the download is waited for. Throws what `SharedWorkspace.read` and `SharedWorkspace.append` do.
public struct WorkspaceJournal: Journal {
    private let workspace: SharedWorkspace
    private let timeZone: TimeZone

    /// Names the journals of a workspace.
    /// - Parameters:
    ///   - workspace: Where they are.
    ///   - timeZone: Where a day begins, and what the times in the files are.
    public init(workspace: SharedWorkspace, timeZone: TimeZone = .current) {
        self.workspace = workspace
        self.timeZone = timeZone
    }

    // MARK: For people

    /// Writes an entry; it is on the disk when this returns.
    @discardableResult
    public func write(_ text: String, by author: WorkspaceAuthor = .user, at date: Date = Date()) async throws
        -> JournalEntry
    {
        let entry = JournalEntry(date: date, text: text)
        try await append(entry, by: author)
        return entry
    }

    /// All entries of a day that hold, in the order of their time; none for a day without.
    /// - Parameters:
    ///   - author: Whose.
    ///   - date: Any moment of the day.
    public func entries(by author: WorkspaceAuthor, on date: Date) async throws -> [JournalEntry] {
        let day = JournalDay(of: date, in: timeZone)
        var reading = reading(JournalQuery(limit: .max), by: author)
        if let page = try await page(of: day, by: author) { reading.read(page) }
        return reading.entries
    }

    /// The first moments of the days that have a file, the latest first.
    public func days(by author: WorkspaceAuthor) async throws -> [Date] {
        let query = JournalQuery(limit: .max)
        return try await days(of: reading(query, by: author), by: author).compactMap { $0.moment(hour: 0, minute: 0) }
    }

    // MARK: For agents

    /// Adds an entry: see `Journal`. One that says that it was struck out is added as such.
    public func append(_ entry: JournalEntry, to journal: JournalID) async throws {
        try await append(entry, by: Self.author(of: journal))
    }

    /// The latest entries that fit: see `Journal`. Files are read from the latest on, no more than it takes.
    public func entries(_ query: JournalQuery, in journal: JournalID) async throws -> [JournalEntry] {
        let author = Self.author(of: journal)
        var reading = reading(query, by: author)
        for day in try await days(of: reading, by: author) where !reading.isEnough {
            if let page = try await page(of: day, by: author) { reading.read(page) }
        }
        return reading.entries
    }

    /// Marks an entry as struck out: the time in its heading; the rest of the file stays byte by byte.
    public func strike(_ entry: JournalEntry, at moment: Date, in journal: JournalID) async throws {
        let author = Self.author(of: journal)
        let days = JournalDay.around(entry.date, in: timeZone)
        for day in days {
            guard let found = try await page(of: day, by: author)?.entry(entry.id), Self.isWanted(found.heading, author)
            else { continue }
            try await workspace.update(Self.path(of: day, by: author), by: author) { file in
                let page = file.map { JournalPage(day: day, bytes: $0.bytes) }
                return try JournalDays.striking(entry, at: moment, on: [page], of: days)?.bytes ?? file?.bytes ?? []
            }
            return
        }
        _ = try JournalDays.striking(entry, at: moment, on: [], of: days)
    }

    private func append(_ entry: JournalEntry, by author: WorkspaceAuthor) async throws {
        let days = JournalDay.around(entry.date, in: timeZone)
        for day in days {
            // This waits for downloads, too.
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

    private func reading(_ query: JournalQuery, by author: WorkspaceAuthor) -> JournalReading {
        JournalReading(query, in: timeZone) { Self.isWanted($0, author) }
    }

    private static func folder(of author: WorkspaceAuthor) -> WorkspacePath {
        WorkspacePath(checked: ["Journal", author.agentId == nil ? "user" : "agent"])
    }

    private static func path(of day: JournalDay, by author: WorkspaceAuthor) -> WorkspacePath {
        WorkspacePath(checked: folder(of: author).names + [day.fileName])
    }

    private func days(of reading: JournalReading, by author: WorkspaceAuthor) async throws -> [JournalDay] {
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
    /// The journals of the user and the agents, a file a day: `Journal/user` and `Journal/agent`. Days are those of the system's time zone.
    public var journal: WorkspaceJournal { WorkspaceJournal(workspace: self) }
}
