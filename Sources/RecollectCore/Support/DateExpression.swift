import Foundation

/// A date or a range of dates named in a string: "last week", "gestern", "on Monday", "3 days ago", "in May", "3 May",
/// "2026-05-03".
package struct DateExpression: Equatable, Sendable {
    /// The words, as in the text.
    package let name: String
    package let from: Date
    /// The end of the range, not in it.
    package let until: Date

    /// Finds an expression in a string. Returns it, and the text without it.
    ///
    /// Relative expressions ("yesterday") come first, then "… ago", dates, days of the week and months.
    /// - Parameters:
    ///   - text: The text.
    ///   - now: The date of the text.
    ///   - calendar: The calendar for the beginnings of days, weeks and months.
    package static func find(
        in text: String, now: Date, calendar: Calendar
    ) -> (time: DateExpression, rest: String)? {
        let text = PhraseText(text)
        return relative(in: text, now: now, calendar: calendar) ?? ago(in: text, now: now, calendar: calendar)
            ?? day(in: text, now: now, calendar: calendar) ?? weekday(in: text, now: now, calendar: calendar)
            ?? month(in: text, now: now, calendar: calendar)
    }

    init(_ name: String, _ range: DateInterval) {
        self.name = name
        from = range.start
        until = range.end
    }

    private static func relative(in text: PhraseText, now: Date, calendar: Calendar) -> (DateExpression, String)? {
        for (unit, ago, names) in relative {
            for name in names where name != "hier" || !isGerman(text.text) {
                guard let range = text.range(of: name),
                    let date = calendar.date(byAdding: unit, value: -ago, to: now),
                    let interval = calendar.dateInterval(of: unit, for: date)
                else { continue }
                return text.found(range, interval)
            }
        }
        return nil
    }

    private static let relative: [(unit: Calendar.Component, ago: Int, names: [String])] = [
        (.day, 2, ["day before yesterday", "vorgestern", "avant-hier", "anteayer", "前天"]),
        (.day, 1, ["yesterday", "gestern", "hier", "ayer", "昨天"]),
        (.day, 0, ["today", "heute", "aujourd'hui", "hoy", "今天"]),
        (
            .weekOfYear, 1,
            ["last week", "letzte woche", "letzter woche", "la semaine dernière", "la semana pasada", "上周", "上个星期"]
        ),
        (.weekOfYear, 0, ["this week", "diese woche", "dieser woche", "cette semaine", "esta semana", "这周", "本周"]),
        (.month, 1, ["last month", "letzten monat", "le mois dernier", "el mes pasado", "上个月", "上月"]),
        (.month, 0, ["this month", "diesen monat", "ce mois-ci", "este mes", "这个月", "本月"]),
        (.year, 1, ["last year", "letztes jahr", "l'année dernière", "el año pasado", "去年"]),
        (.year, 0, ["this year", "dieses jahr", "cette année", "este año", "今年"]),
    ]

    /// Finds a day, week, month or year a number of them ago, in English: "3 days ago", "a week ago".
    private static func ago(in text: PhraseText, now: Date, calendar: Calendar) -> (DateExpression, String)? {
        guard text.words.contains("ago"),
            let match = text.text.firstMatch(of: /(?i)\b([0-9]{1,3}|[a-z]+) (day|week|month|year)s? ago\b/),
            let count = Int(match.1) ?? numbers[match.1.lowercased()], let unit = units[match.2.lowercased()],
            let date = calendar.date(byAdding: unit, value: -count, to: now),
            let interval = calendar.dateInterval(of: unit, for: date)
        else { return nil }
        return text.found(match.range, interval)
    }

    private static let units: [String: Calendar.Component] = [
        "day": .day, "week": .weekOfYear, "month": .month, "year": .year,
    ]
    private static let numbers = [
        "a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
        "ten": 10,
    ]

    /// Finds a day of the week by its name: the latest one before today.
    private static func weekday(in text: PhraseText, now: Date, calendar: Calendar) -> (DateExpression, String)? {
        let days = gregorian(like: calendar)
        for (number, phrase) in weekdays {
            guard let range = text.range(of: phrase),
                let date = days.nextDate(
                    after: days.startOfDay(for: now), matching: DateComponents(weekday: number),
                    matchingPolicy: .nextTime, direction: .backward),
                let interval = days.dateInterval(of: .day, for: date)
            else { continue }
            return text.found(range, interval)
        }
        return nil
    }

    /// Finds a month by its name with a preposition, because "may" alone is a verb. Without a year after it, it is the
    /// latest one already begun.
    private static func month(in text: PhraseText, now: Date, calendar: Calendar) -> (DateExpression, String)? {
        let months = gregorian(like: calendar)
        for (number, phrase) in monthPhrases {
            guard var range = text.range(of: phrase) else { continue }
            var date = months.nextDate(
                after: now, matching: DateComponents(month: number, day: 1), matchingPolicy: .nextTime,
                direction: .backward)
            if let year = text.text[range.upperBound...].prefixMatch(of: /,? (?:de |of )?((?:19|20)[0-9]{2})\b/) {
                range = range.lowerBound..<year.range.upperBound
                date = months.date(from: DateComponents(year: Int(year.1), month: number, day: 1))
            }
            if let date, let interval = months.dateInterval(of: .month, for: date) {
                return text.found(range, interval)
            }
        }
        return nil
    }

    private static let weekdays = phrases(
        [("en", ["on ", "last "]), ("de", ["am ", "letzten "]), ("es", ["el "])], \.weekdaySymbols)
    /// Backward from December: in Chinese, 十二月 contains 二月.
    private static let monthPhrases = phrases(
        [
            ("en", ["in ", "last ", "this "]), ("de", ["im "]), ("fr", ["en "]), ("es", ["en "]), ("zh", [""]),
        ], \.monthSymbols
    ).reversed()

    /// Returns names after prepositions, with the numbers of the names.
    private static func phrases(
        _ prepositions: [(language: String, prepositions: [String])], _ names: (Calendar) -> [String]
    ) -> [(number: Int, phrase: String)] {
        prepositions.flatMap { language, prepositions in
            var calendar = Calendar(identifier: .gregorian)
            calendar.locale = Locale(identifier: language)
            return names(calendar).enumerated().flatMap { index, name in
                prepositions.map { (index + 1, $0 + name) }
            }
        }
    }

    /// Whether a string has more common words of German than of French.
    private static func isGerman(_ text: String) -> Bool {
        let words = text.lowercased().split { !$0.isLetter }
        return words.count(where: german.contains) > words.count(where: french.contains)
    }

    private static let german: Set<Substring> = [
        "am", "auf", "das", "der", "die", "es", "für", "gesagt", "habe", "haben", "hat", "ich", "im", "in", "ist",
        "man",
        "mir", "mit", "nicht", "notiert", "steht", "uns", "und", "von", "war", "was", "wir", "wo", "zeig", "über",
    ]
    private static let french: Set<Substring> = [
        "ai", "avons", "avez", "ce", "d", "de", "des", "dit", "du", "elle", "est", "il", "j", "je", "l", "la", "le",
        "les",
        "mes", "nous", "on", "parlé", "que", "qu", "qui", "quoi", "un", "une", "vous",
    ]

    /// Returns the calendar for the names of days and months, in the user's time zone.
    static func gregorian(like calendar: Calendar) -> Calendar {
        var gregorian = Calendar(identifier: .gregorian)
        gregorian.timeZone = calendar.timeZone
        return gregorian
    }
}
