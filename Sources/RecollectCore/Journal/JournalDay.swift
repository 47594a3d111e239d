import Foundation

/// A day of a journal, with conversions for its file name and times.
package struct JournalDay: Hashable, Comparable {
    /// The day as `2026-11-21`, independent of the user's calendar.
    package let name: String
    private let timeZone: TimeZone

    /// Creates the day of a date.
    package init(of date: Date, in timeZone: TimeZone) {
        let parts = Self.calendar(timeZone).dateComponents([.year, .month, .day], from: date)
        name = [(parts.year ?? 0, 4), (parts.month ?? 0, 2), (parts.day ?? 0, 2)].map(Self.padded).joined(
            separator: "-")
        self.timeZone = timeZone
    }

    /// Creates the day with this file name; `nil` for any other name.
    package init?(fileName: String, in timeZone: TimeZone) {
        guard fileName.hasSuffix(".md") else { return nil }
        name = String(fileName.dropLast(3))
        self.timeZone = timeZone
        guard let noon = date(hour: 12, minute: 0), JournalDay(of: noon, in: timeZone).name == name else {
            return nil
        }
    }

    /// Returns the days with files that may contain an entry of a date: its day, then the day before and the day
    /// after, because the entry may have been written in another time zone.
    package static func around(_ date: Date, in timeZone: TimeZone) -> [JournalDay] {
        [0, -86_400, 86_400].map { JournalDay(of: date.addingTimeInterval($0), in: timeZone) }
    }

    package var fileName: String { name + ".md" }

    /// Returns the time of a date, as `09:12`.
    package func time(of date: Date) -> String {
        let parts = Self.calendar(timeZone).dateComponents([.hour, .minute], from: date)
        return [(parts.hour ?? 0, 2), (parts.minute ?? 0, 2)].map(Self.padded).joined(separator: ":")
    }

    /// Returns the date for a time of this day such as `09:12`; `nil` if it is invalid.
    package func date(of time: String) -> Date? {
        let parts = time.split(separator: ":").compactMap { Int($0) }
        return parts.count == 2 ? date(hour: parts[0], minute: parts[1]) : nil
    }

    /// Returns the date for a time of this day; `nil` if it is invalid.
    package func date(hour: Int, minute: Int) -> Date? {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2] else { return nil }
        return Self.calendar(timeZone).date(
            from: DateComponents(year: year, month: month, day: day, hour: hour, minute: minute))
    }

    package static func < (left: JournalDay, right: JournalDay) -> Bool {
        left.name < right.name
    }

    private static func calendar(_ timeZone: TimeZone) -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        return calendar
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
