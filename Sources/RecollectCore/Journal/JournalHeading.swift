import Foundation

/// The heading of an entry in the file of a day, and the entry identified by it.
///
/// An entry without an ID gets one from the day and its content: see `JournalPage.entries()`. An entry with only a time
/// gets the date of that time on the day.
package struct JournalHeading {
    /// The entry. Its text is only the user's text in the heading.
    package private(set) var entry: JournalEntry
    /// The written heading.
    package let written: JournalHeadingLine

    package init(of entry: JournalEntry, by agentId: String?, on day: JournalDay) {
        self.entry = entry
        written = JournalHeadingLine(of: entry, by: agentId, on: day)
    }

    /// Creates a heading from a line; `nil` if it is not the heading of an entry. Without a written ID, the entry's ID is
    /// empty.
    package init?(_ line: String, on day: JournalDay) {
        guard let written = JournalHeadingLine(line), let date = written.date ?? day.date(of: written.time) else {
            return nil
        }
        self.written = written
        entry = JournalEntry(
            id: written.id ?? "", date: date, text: written.title,
            struckAt: written.struckAt ?? (written.isStruck ? date : nil))
    }

    /// Returns the heading with an ID for its entry. It is written when the entry is struck out.
    package func identified(as id: String) -> JournalHeading {
        var heading = self
        heading.entry.id = id
        return heading
    }

    /// Returns the heading line of the entry, struck out at a date.
    package func struck(at date: Date) -> String {
        var line = written
        line.id = entry.id
        line.date = entry.date
        line.isStruck = true
        line.struckAt = date.wholeMilliseconds
        return line.text
    }

    /// Returns the prefix of the IDs for a day's entries written by users.
    package static func idPrefix(on day: JournalDay) -> String { day.name + "#" }
}
