import Foundation

/// What every journal of one file a day does with those files, wherever they are kept: no input or output of its own.
package enum JournalDays {
    /// The page that an entry was added to; `nil` where one of the pages holds the entry already.
    /// - Parameters:
    ///   - days: `JournalDay.around` the entry.
    ///   - pages: The pages of those days, as far as there are any.
    package static func adding(
        _ entry: JournalEntry, by agentId: String?, to pages: [JournalPage?], of days: [JournalDay]
    ) -> JournalPage? {
        guard pages.allSatisfy({ $0?.entry(entry.id) == nil }) else { return nil }
        var page = pages[0] ?? JournalPage(day: days[0])
        page.append(entry, by: agentId)
        return page
    }

    /// The first page that holds an entry, with that struck out; `nil` where it was struck out already.
    /// - Throws: `notFound` where no page holds the entry.
    package static func striking(
        _ entry: JournalEntry, at moment: Date, on pages: [JournalPage?], of days: [JournalDay]
    ) throws -> JournalPage? {
        for case let page? in pages {
            guard let found = page.entry(entry.id) else { continue }
            return found.heading.entry.struckAt == nil ? page.striking(found, at: moment) : nil
        }
        throw RecollectError(.notFound, "the journal of \(days[0].name) has no such note; read it again")
    }
}

/// Collects the latest entries that fit a query, from the latest file back, no more files than it takes.
package struct JournalReading {
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

    /// The days whose files may hold wanted entries, the latest first.
    package func days(among fileNames: [String]) -> [JournalDay] {
        let first = query.from.flatMap { JournalDay.around($0, in: timeZone).min() }
        let last = query.until.flatMap { JournalDay.around($0, in: timeZone).max() }
        return fileNames.compactMap { JournalDay(fileName: $0, in: timeZone) }.filter { day in
            first.map { day >= $0 } ?? true && last.map { day <= $0 } ?? true
        }.sorted(by: >)
    }

    /// Whether files of earlier days have nothing to add.
    package var isEnough: Bool { found.count >= query.limit }

    /// Takes in the next page.
    package mutating func read(_ page: JournalPage) {
        found = page.entries().filter { isWanted($0.heading) }.map(\.whole).filter(query.admits) + found
    }

    /// The entries, in the order of their time. Sorting is stable: entries of one moment stay as they stand in the file.
    package var entries: [JournalEntry] {
        found.sorted { $0.date < $1.date }.suffix(max(0, query.limit))
    }
}
