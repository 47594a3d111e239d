import Foundation

/// A day of a journal: the name of its file, and the moments in it.
package struct JournalDay: Hashable, Comparable {
    /// `2026-11-21`, whatever the user's calendar.
    package let name: String
    private let timeZone: TimeZone

    /// The day of a moment.
    package init(of moment: Date, in timeZone: TimeZone) {
        let parts = Self.calendar(timeZone).dateComponents([.year, .month, .day], from: moment)
        name = [(parts.year ?? 0, 4), (parts.month ?? 0, 2), (parts.day ?? 0, 2)].map(Self.padded).joined(
            separator: "-")
        self.timeZone = timeZone
    }

    /// The day whose file has that name; `nil` for any other name.
    package init?(fileName: String, in timeZone: TimeZone) {
        guard fileName.hasSuffix(".md") else { return nil }
        name = String(fileName.dropLast(3))
        self.timeZone = timeZone
        guard let noon = moment(hour: 12, minute: 0), JournalDay(of: noon, in: timeZone).name == name else {
            return nil
        }
    }

    /// The days in whose files an entry of a moment may stand: its own and, where the time zone was another one when it was
    /// written, the day before or after.
    package static func around(_ moment: Date, in timeZone: TimeZone) -> [JournalDay] {
        [0, -86_400, 86_400].map { JournalDay(of: moment.addingTimeInterval($0), in: timeZone) }
    }

    package var fileName: String { name + ".md" }

    /// The time of a moment, `09:12`.
    package func time(of moment: Date) -> String {
        let parts = Self.calendar(timeZone).dateComponents([.hour, .minute], from: moment)
        return [(parts.hour ?? 0, 2), (parts.minute ?? 0, 2)].map(Self.padded).joined(separator: ":")
    }

    /// The moment of a time of this day, `09:12`; `nil` where there is none.
    package func moment(of time: String) -> Date? {
        let parts = time.split(separator: ":").compactMap { Int($0) }
        return parts.count == 2 ? moment(hour: parts[0], minute: parts[1]) : nil
    }

    /// The moment of a time of this day; `nil` where there is none.
    package func moment(hour: Int, minute: Int) -> Date? {
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
