import Foundation

/// A time range named in a question: "last week", "gestern", "on Monday", "3 days ago", "in May", "3 May",
/// "2026-05-03".
struct SpokenTime: Equatable {
    /// The name, as in the question.
    let name: String
    let from: Date
    let until: Date

    /// Finds the name of a time range in a text. Returns the range and the text without its name.
    ///
    /// Relative names ("yesterday") come first, then "… ago", dates, days of the week and months.
    /// - Parameters:
    ///   - text: The text.
    ///   - now: The date of the text.
    ///   - calendar: The calendar for the beginnings of days, weeks and months.
    static func find(in text: String, now: Date, calendar: Calendar) -> (time: SpokenTime, rest: String)? {
        for (unit, ago, names) in relative {
            // In German, this word means "here".
            for name in names where name != "hier" || !ContentWords.isGerman(text) {
                guard let range = text.range(ofPhrase: name),
                    let moment = calendar.date(byAdding: unit, value: -ago, to: now),
                    let stretch = calendar.dateInterval(of: unit, for: moment)
                else { continue }
                return (SpokenTime(String(text[range]), stretch), text.replacingCharacters(in: range, with: " "))
            }
        }
        return ago(in: text, now: now, calendar: calendar) ?? date(in: text, now: now, calendar: calendar)
            ?? weekday(in: text, now: now, calendar: calendar) ?? month(in: text, now: now, calendar: calendar)
    }

    init(_ name: String, _ stretch: DateInterval) {
        self.name = name
        from = stretch.start
        until = stretch.end
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
    private static func ago(in text: String, now: Date, calendar: Calendar) -> (time: SpokenTime, rest: String)? {
        guard let match = text.firstMatch(of: /(?i)\b([0-9]{1,3}|[a-z]+) (day|week|month|year)s? ago\b/),
            let count = Int(match.1) ?? numbers[match.1.lowercased()], let unit = units[match.2.lowercased()],
            let moment = calendar.date(byAdding: unit, value: -count, to: now),
            let stretch = calendar.dateInterval(of: unit, for: moment)
        else { return nil }
        return (SpokenTime(String(match.0), stretch), text.replacingCharacters(in: match.range, with: " "))
    }

    private static let units: [String: Calendar.Component] = [
        "day": .day, "week": .weekOfYear, "month": .month, "year": .year,
    ]
    private static let numbers = [
        "a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
        "ten": 10,
    ]

    /// Finds a day of the week by its name: the latest one before today.
    private static func weekday(in text: String, now: Date, calendar: Calendar) -> (time: SpokenTime, rest: String)? {
        var days = gregorian(like: calendar)
        for (language, prepositions) in [
            ("en", ["on ", "last "]), ("de", ["am ", "letzten "]), ("es", ["el "]),
        ] {
            days.locale = Locale(identifier: language)
            for (index, name) in days.weekdaySymbols.enumerated() {
                guard let range = prepositions.lazy.compactMap({ text.range(ofPhrase: $0 + name) }).first,
                    let date = days.nextDate(
                        after: days.startOfDay(for: now), matching: DateComponents(weekday: index + 1),
                        matchingPolicy: .nextTime, direction: .backward),
                    let stretch = days.dateInterval(of: .day, for: date)
                else { continue }
                return (SpokenTime(String(text[range]), stretch), text.replacingCharacters(in: range, with: " "))
            }
        }
        return nil
    }

    /// Finds a month by its name with a preposition, because "may" alone is a verb: the latest one already begun.
    private static func month(in text: String, now: Date, calendar: Calendar) -> (time: SpokenTime, rest: String)? {
        var months = gregorian(like: calendar)
        for (language, prepositions) in [
            ("en", ["in ", "last ", "this "]), ("de", ["im "]), ("fr", ["en "]), ("es", ["en "]), ("zh", [""]),
        ] {
            months.locale = Locale(identifier: language)
            // Backward from December: in Chinese, 十二月 contains 二月.
            for (index, name) in months.monthSymbols.enumerated().reversed() {
                guard let range = prepositions.lazy.compactMap({ text.range(ofPhrase: $0 + name) }).first,
                    let date = months.nextDate(
                        after: now, matching: DateComponents(month: index + 1, day: 1),
                        matchingPolicy: .nextTime, direction: .backward),
                    let stretch = months.dateInterval(of: .month, for: date)
                else { continue }
                return (SpokenTime(String(text[range]), stretch), text.replacingCharacters(in: range, with: " "))
            }
        }
        return nil
    }

    /// Returns the calendar for the names of days and months, in the user's time zone.
    static func gregorian(like calendar: Calendar) -> Calendar {
        var gregorian = Calendar(identifier: .gregorian)
        gregorian.timeZone = calendar.timeZone
        return gregorian
    }
}

extension String {
    /// Returns the range of a phrase, ignoring case and accents, and not inside longer words. In scripts without
    /// spaces, it may be anywhere.
    func range(ofPhrase phrase: String) -> Range<Index>? {
        var start = startIndex
        while let range = range(
            of: phrase, options: [.caseInsensitive, .diacriticInsensitive], range: start..<endIndex)
        {
            let touchesLeft =
                range.lowerBound > startIndex && self[index(before: range.lowerBound)].continues(self[range.lowerBound])
            let touchesRight =
                range.upperBound < endIndex && self[index(before: range.upperBound)].continues(self[range.upperBound])
            if !touchesLeft, !touchesRight { return range }
            start = index(after: range.lowerBound)
        }
        return nil
    }
}

extension Character {
    /// Whether this character and a neighbor are letters of one word, in scripts with spaces between words.
    fileprivate func continues(_ neighbor: Character) -> Bool {
        isPartOfWord && neighbor.isPartOfWord
    }

    private var isPartOfWord: Bool {
        (isLetter || isNumber) && unicodeScalars.first?.isInUnspacedScript == false
    }
}
