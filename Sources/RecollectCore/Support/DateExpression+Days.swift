import Foundation

extension DateExpression {
    /// Finds a day by its date: "2026-05-03", "3 May 2026", "May 3rd", "3. Mai", "3 de mayo", "5月3日". Without a
    /// year, it is the latest such day already begun.
    static func day(in text: PhraseText, now: Date, calendar: Calendar) -> (DateExpression, String)? {
        guard text.text.utf8.contains(where: { $0 &- UInt8(ascii: "0") < 10 }) else { return nil }
        let days = gregorian(like: calendar)
        let thisYear = days.component(.year, from: now)
        for written in dates(in: text.text) {
            // Any nine years contain a 29 February.
            for year in written.year.map({ [$0] }) ?? (0...8).map({ thisYear - $0 }) {
                let components = DateComponents(year: year, month: written.month, day: written.day)
                guard components.isValidDate(in: days), let start = days.date(from: components),
                    written.year != nil || start <= now, let interval = days.dateInterval(of: .day, for: start)
                else { continue }
                return text.found(written.range, interval)
            }
        }
        return nil
    }

    /// Text in the form of a date, valid or not.
    private struct Written {
        var range: Range<String.Index>
        var year: Int?
        var month: Int
        var day: Int

        init?(_ range: Range<String.Index>, _ year: Substring?, _ month: Int?, _ day: Substring) {
            guard let month, let day = Int(day) else { return nil }
            self.range = range
            self.year = year.flatMap { Int($0) }
            self.month = month
            self.day = day
        }
    }

    private static func dates(in text: String) -> [Written] {
        let numbers = text.matches(of: /\b([0-9]{4})-([0-9]{2})-([0-9]{2})\b/)
            .compactMap { Written($0.range, $0.1, Int($0.2), $0.3) }
        let dayFirst = text.matches(
            of:
                /(?i)\b([0-9]{1,2})(?:st|nd|rd|th|er|\.)?\s(?:(?:of|de)\s)?(\p{L}{3,10})\b\.?(?:,?\s(?:de\s)?((?:19|20)[0-9]{2})\b)?/
        ).compactMap { Written($0.range, $0.3, months[folded($0.2)], $0.1) }
        let monthFirst = text.matches(
            of: /(?i)\b(\p{L}{3,9})\b\.?\s([0-9]{1,2})(?:st|nd|rd|th)?\b(?:,?\s((?:19|20)[0-9]{2})\b)?/
        ).compactMap { Written($0.range, $0.3, englishMonths[folded($0.1)], $0.2) }
        let chinese = text.matches(of: /(?:((?:19|20)[0-9]{2})年)?([0-9]{1,2})月([0-9]{1,2})[日号]/)
            .compactMap { Written($0.range, $0.1, Int($0.2), $0.3) }
        return numbers + dayFirst + monthFirst + chinese
    }

    /// The numbers of months by their names, long and short. Only English has the name before the day.
    private static let englishMonths = numbersOfMonths(["en_US", "en_GB"])
    private static let months = numbersOfMonths(["en_US", "en_GB", "de", "fr", "es"])

    private static func numbersOfMonths(_ languages: [String]) -> [String: Int] {
        var numbers: [String: Int] = [:]
        var calendar = Calendar(identifier: .gregorian)
        for language in languages {
            calendar.locale = Locale(identifier: language)
            for names in [
                calendar.monthSymbols, calendar.shortMonthSymbols, calendar.standaloneMonthSymbols,
                calendar.shortStandaloneMonthSymbols,
            ] {
                for (index, name) in names.enumerated() { numbers[folded(name)] = index + 1 }
            }
        }
        return numbers
    }

    private static func folded(_ name: some StringProtocol) -> String {
        String(name).filter(\.isLetter).folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }
}
