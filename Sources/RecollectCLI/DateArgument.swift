#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect

    /// A date argument: a day (`2026-02-03`, from midnight in the local time zone), a day and a time
    /// (`2026-02-03T09:30`, or with seconds and a zone), or an age (`90m`, `12h`, `7d`, `2w`).
    struct DateArgument: ExpressibleByArgument {
        let date: Date

        init?(argument: String) {
            self.init(argument, now: Date())
        }

        init?(_ text: String, now: Date) {
            guard let date = Self.ago(text, now: now) ?? ISO8601.date(text) ?? Self.local(text) else { return nil }
            self.date = date
        }

        private static let units: [Character: (unit: Calendar.Component, count: Int)] = [
            "m": (.minute, 1), "h": (.hour, 1), "d": (.day, 1), "w": (.day, 7),
        ]

        private static func ago(_ text: String, now: Date) -> Date? {
            guard let (unit, days) = text.last.flatMap({ units[$0] }), let count = UInt16(text.dropLast()) else {
                return nil
            }
            return Calendar.current.date(byAdding: unit, value: -Int(count) * days, to: now)
        }

        private static func local(_ text: String) -> Date? {
            // The formatter reads 26 as the year 26.
            guard text.prefix(while: { $0 != "-" }).count == 4 else { return nil }
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.isLenient = false
            for pattern in ["yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm", "yyyy-MM-dd'T'HH:mm:ss"] {
                formatter.dateFormat = pattern
                if let date = formatter.date(from: text) { return date }
            }
            return nil
        }
    }
#endif
