import Foundation

/// The rules for the files of a journal with one file for each day, without input or output.
package enum JournalDays {
    /// Returns the page with the added entry; `nil` if a page already has the entry.
    /// - Parameters:
    ///   - days: The result of `JournalDay.around` for the entry.
    ///   - pages: The pages of these days, `nil` for missing ones.
    package static func adding(
        _ entry: JournalEntry, by agentId: String?, to pages: [JournalPage?], of days: [JournalDay]
    ) -> JournalPage? {
        guard pages.allSatisfy({ $0?.entry(entry.id) == nil }) else { return nil }
        var page = pages[0] ?? JournalPage(day: days[0])
        page.append(entry, by: agentId)
        return page
    }

    /// Returns the first page with the entry, struck out; `nil` if it was already struck out.
    /// - Throws: `notFound` if no page has the entry.
    package static func striking(
        _ entry: JournalEntry, at date: Date, on pages: [JournalPage?], of days: [JournalDay]
    ) throws -> JournalPage? {
        for case let page? in pages {
            guard let found = page.entry(entry.id) else { continue }
            return found.heading.entry.struckAt == nil ? page.striking(found, at: date) : nil
        }
        throw RecollectError(.notFound, "the journal of \(days[0].name) no longer contains that note; read it again")
    }
}

/// A collector of the latest entries matching a query. It reads from the latest file backward, and only as many
/// files as needed.
package struct JournalQueryReader {
    private let query: JournalQuery
    private let timeZone: TimeZone
    private let isWanted: (JournalHeading) -> Bool
    private var found: [JournalEntry] = []

    package init(
        _ query: JournalQuery, in timeZone: TimeZone, where isWanted: @escaping (JournalHeading) -> Bool = { _ in true }
    ) {
        self.query = query
        self.timeZone = timeZone
        self.isWanted = isWanted
    }

    /// Returns the days with files that may contain matching entries, the latest first.
    package func days(among fileNames: [String]) -> [JournalDay] {
        let first = query.from.flatMap { JournalDay.around($0, in: timeZone).min() }
        let last = query.until.flatMap { JournalDay.around($0, in: timeZone).max() }
        return fileNames.compactMap { JournalDay(fileName: $0, in: timeZone) }.filter { day in
            first.map { day >= $0 } ?? true && last.map { day <= $0 } ?? true
        }.sorted(by: >)
    }

    /// Whether files of earlier days are not needed.
    package var isEnough: Bool { found.count >= query.limit }

    /// Adds the entries of the next page.
    package mutating func read(_ page: JournalPage) {
        found = page.entries().filter { isWanted($0.heading) }.map(\.whole).filter(query.matches) + found
    }

    /// The entries, ordered by date. Sorting is stable: entries with the same date stay in file order.
    package var entries: [JournalEntry] {
        found.sorted { $0.date < $1.date }.suffix(max(0, query.limit))
    }
}
