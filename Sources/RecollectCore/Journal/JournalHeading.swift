import Foundation

/// The heading of an entry on its day, and the entry that it names.
///
/// The id of an entry that has none yet is made of the day and of how many entries come before, `2026-11-21#3`; the moment of one that
/// shows its time alone is that time of the day.
package struct JournalHeading {
    /// The entry; of its text only what a person wrote into the heading.
    package let entry: JournalEntry
    /// How it is written.
    package let written: JournalHeadingLine

    package init(of entry: JournalEntry, by agentId: String?, on day: JournalDay) {
        self.entry = entry
        written = JournalHeadingLine(of: entry, by: agentId, on: day)
    }

    /// Reads a heading; `nil` for one that is not an entry's.
    /// - Parameter number: how many entries come before it.
    package init?(_ line: String, on day: JournalDay, number: Int) {
        guard let written = JournalHeadingLine(line), let date = written.date ?? day.moment(of: written.time) else {
            return nil
        }
        self.written = written
        entry = JournalEntry(
            id: written.id ?? Self.idPrefix(on: day) + String(number), date: date, text: written.title,
            struckAt: written.struckAt ?? (written.isStruck ? date : nil))
    }

    /// The line of the entry when it was struck out at a moment.
    package func struck(at moment: Date) -> String {
        var line = written
        line.id = entry.id
        line.date = entry.date
        line.isStruck = true
        line.struckAt = moment.wholeMilliseconds
        return line.text
    }

    /// How the ids begin of entries that people wrote on a day.
    package static func idPrefix(on day: JournalDay) -> String { day.name + "#" }
}
