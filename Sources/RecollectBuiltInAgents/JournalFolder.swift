import Foundation
import RecollectCore
import RecollectFileSystem

/// Stores journals as Markdown files for people to read and edit, one for each day:
/// `base/user/agent/2026-11-21.md`.
///
/// ```markdown
/// ## 09:12 <!-- note 5B1F0E6A-773D-4C52-9A0C-2E94D16363F8 2026-11-21T09:12:07.123Z -->
///
/// > The landlord wants the meter reading by Friday.
/// ```
///
/// An entry is written as a quotation, so its headings, fences and comments do not affect the rest of the file, and
/// is read back exactly. Text added by people is kept: a paragraph below a quotation belongs to the entry above,
/// and `## 10:30` with text below it is an entry of that time.
///
/// Several processes may use one folder at the same time without losing entries. A file is replaced as a whole by a
/// durable one, so it is never half written. In a file half written by another program, the complete entries are
/// kept, and new ones are appended. Folders are created with the mode 0700, files with 0600. All file work runs on
/// the journal's own queue. A task canceled before its work is queued writes nothing and throws
/// `CancellationError`. Later, cancellation has no effect, and the method returns the actual result.
///
/// Errors are `RecollectError`s: `foreignStore` for another kind of object in place of a file or folder,
/// `diskFull`, `readOnly`, `permissionDenied`, `tooManyOpenFiles`, `busy` if another process locks a journal for
/// more than half a minute, `inputOutput`.
public final class JournalFolder: Journal {
    /// The folder of all journals.
    public let baseURL: URL

    private let timeZone: TimeZone
    private let queue = DispatchQueue(label: "recollect.journal")

    /// Creates a journal store for a folder. The folder is created when it is needed.
    /// - Parameters:
    ///   - baseURL: The folder; by default `Recollect/Journal` in Application Support.
    ///   - timeZone: The time zone for days and for the times in the files; the same for all writers of the folder.
    public init(baseURL: URL? = nil, timeZone: TimeZone = .current) {
        self.baseURL =
            baseURL
            ?? DefaultDirectory.applicationSupport.appendingPathComponent("Recollect/Journal", isDirectory: true)
        self.timeZone = timeZone
    }

    /// Appends an entry to the file of its day. It is durable when this method returns.
    public func append(_ entry: JournalEntry, to journal: JournalID) async throws {
        let days = JournalDay.around(entry.date, in: timeZone)
        try await onFiles(of: journal) { sessionFolder in
            let folder = try sessionFolder.make()
            try folder.removeLeftovers(among: folder.names())
            let pages = try days.map { try Self.page(of: $0, in: folder) }
            guard let page = JournalDays.adding(entry, by: nil, to: pages, of: days) else { return }
            try Self.write(page, in: folder)
        }
    }

    /// Returns the latest entries within the query's limits: see `Journal`. Files are read from the latest
    /// backward, and only as many as needed.
    public func entries(_ query: JournalQuery, in journal: JournalID) async throws -> [JournalEntry] {
        try await onFiles(of: journal) { [timeZone] sessionFolder in
            var reading = JournalQueryReader(query, in: timeZone)
            guard let folder = try sessionFolder.open(exclusively: false) else { return [] }
            for day in reading.days(among: try folder.names()) where !reading.isEnough {
                if let page = try Self.page(of: day, in: folder) { reading.read(page) }
            }
            return reading.entries
        }
    }

    /// Marks an entry as struck out, with the time in its heading. The rest of the file keeps its bytes.
    public func strike(_ entry: JournalEntry, at date: Date, in journal: JournalID) async throws {
        let days = JournalDay.around(entry.date, in: timeZone)
        try await onFiles(of: journal) { sessionFolder in
            let folder = try sessionFolder.open(exclusively: true)
            let pages = try days.map { day in try folder.flatMap { try Self.page(of: day, in: $0) } }
            guard let folder, let page = try JournalDays.striking(entry, at: date, on: pages, of: days) else {
                return
            }
            try Self.write(page, in: folder)
        }
    }

    private static func page(of day: JournalDay, in folder: OpenFolder) throws -> JournalPage? {
        let bytes = try nilIfMissing {
            let file = try folder.file(day.fileName, forWriting: false)
            return try file.readAll()
        }
        return bytes.map { JournalPage(day: day, bytes: $0) }
    }

    private static func write(_ page: JournalPage, in folder: OpenFolder) throws {
        _ = try folder.replace(page.day.fileName) { try $0.write(page.bytes, at: 0) }
        // The parent folders may be new.
        try folder.synchronizePath()
    }

    private func onFiles<Value: Sendable>(
        of journal: JournalID, _ work: @escaping @Sendable (inout SessionFolder) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let base = baseURL.path
        return try await queue.run {
            // The same layout as for chats: a folder for the user, containing one for the session.
            var sessionFolder = SessionFolder(
                SessionKey(userId: journal.userId, sessionId: journal.agentId), base: base)
            return try withFileErrors("use", base) { try work(&sessionFolder) }
        }
    }
}
