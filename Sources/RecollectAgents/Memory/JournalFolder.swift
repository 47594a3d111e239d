import Foundation
import RecollectCore

/// Keeps journals as Markdown files that people can read and edit, one a day: `base/user/agent/2026-11-21.md`.
///
/// ```markdown
/// ## 09:12 <!-- note 5B1F0E6A-773D-4C52-9A0C-2E94D16363F8 2026-11-21T09:12:07.123Z -->
///
/// > The landlord wants the meter reading by Friday.
/// ```
///
/// An entry is quoted, so that no heading, fence or comment in it reaches beyond it, and read back to the letter. What a person
/// writes into a file stays as it is: a paragraph below a quotation belongs to that entry, and `## 10:30` with text below is an
/// entry of that time.
///
/// Several processes may use one folder at the same time and lose nothing. A file is replaced whole by one that is on the disk, so it
/// is never half written; one that another program left half written keeps its whole entries and is written on. Folders are
/// made for this user alone (0700), files too (0600). All file work runs on a queue of the journal's own. A task that is
/// cancelled before its work is queued has written nothing and gets `CancellationError`; after that it gets the true result.
///
/// Failures are `RecollectError`s: `foreignStore` for something else in the place of a file or folder, `diskFull`, `readOnly`,
/// `permissionDenied`, `tooManyOpenFiles`, `busy` when another process holds a journal for more than half a minute,
/// `inputOutput`.
public final class JournalFolder: Journal {
    /// The folder that holds everything.
    public let baseURL: URL

    private let timeZone: TimeZone
    private let queue = DispatchQueue(label: "recollect.journal")

    /// Names a folder, which is made when it is needed.
    /// - Parameters:
    ///   - baseURL: The folder; by default `Recollect/Journal` in Application Support.
    ///   - timeZone: Where a day begins, and what the times in the files are: the same for all who write there.
    public init(baseURL: URL? = nil, timeZone: TimeZone = .current) {
        self.baseURL =
            baseURL
            ?? DefaultDirectory.applicationSupport.appendingPathComponent("Recollect/Journal", isDirectory: true)
        self.timeZone = timeZone
    }

    /// Adds an entry to the file of its day; it is on the disk, past power loss, when this returns.
    public func append(_ entry: JournalEntry, to journal: JournalID) async throws {
        let days = JournalDay.around(entry.date, in: timeZone)
        try await onFiles(of: journal) { place in
            let folder = try place.make()
            try folder.removeLeftovers(among: folder.names())
            let pages = try days.map { try Self.page(of: $0, in: folder) }
            guard let page = JournalDays.adding(entry, by: nil, to: pages, of: days) else { return }
            try Self.write(page, in: folder)
        }
    }

    /// The latest entries that fit: see `Journal`. Files are read from the latest on, no more than it takes.
    public func entries(_ query: JournalQuery, in journal: JournalID) async throws -> [JournalEntry] {
        try await onFiles(of: journal) { [timeZone] place in
            var reading = JournalReading(query, in: timeZone)
            guard let folder = try place.open(exclusively: false) else { return [] }
            for day in reading.days(among: try folder.names()) where !reading.isEnough {
                if let page = try Self.page(of: day, in: folder) { reading.read(page) }
            }
            return reading.entries
        }
    }

    /// Marks an entry as struck out: the time in its heading; the rest of the file stays byte by byte.
    public func strike(_ entry: JournalEntry, at moment: Date, in journal: JournalID) async throws {
        let days = JournalDay.around(entry.date, in: timeZone)
        try await onFiles(of: journal) { place in
            let folder = try place.open(exclusively: true)
            let pages = try days.map { day in try folder.flatMap { try Self.page(of: day, in: $0) } }
            guard let folder, let page = try JournalDays.striking(entry, at: moment, on: pages, of: days) else {
                return
            }
            try Self.write(page, in: folder)
        }
    }

    private static func page(of day: JournalDay, in folder: OpenFolder) throws -> JournalPage? {
        let bytes = try ifThere {
            let file = try folder.file(day.fileName, forWriting: false)
            return try file.read(at: 0, count: file.size())
        }
        return bytes.map { JournalPage(day: day, bytes: $0) }
    }

    private static func write(_ page: JournalPage, in folder: OpenFolder) throws {
        _ = try folder.replace(page.day.fileName) { try $0.write(page.bytes, at: 0) }
        // The folders above may be new.
        try folder.synchronizePath()
    }

    private func onFiles<Value: Sendable>(
        of journal: JournalID, _ work: @escaping @Sendable (inout SessionPlace) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let base = baseURL.path
        return try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Result {
                        // The files of chats lie the same way: a folder for the user, in it one for the session.
                        var place = SessionPlace(
                            ConversationID(userId: journal.userId, sessionId: journal.agentId), base: base)
                        return try explaining("use", base) { try work(&place) }
                    })
            }
        }
    }
}
