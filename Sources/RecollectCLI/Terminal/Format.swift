#if CommandLine
    import Foundation

    /// Formats dates, counts and sizes, the same in every language of the system.
    struct Format {
        private let calendar: Calendar
        private let now: Date
        private let formatter: DateFormatter

        /// The user's calendar with English words and 24 hours, as everywhere in `recall`, for agents formatting
        /// dates by its locale.
        static var calendar: Calendar {
            let own = Calendar.current
            var calendar = own
            calendar.locale = Locale(identifier: "en_GB")
            (calendar.firstWeekday, calendar.minimumDaysInFirstWeek) = (own.firstWeekday, own.minimumDaysInFirstWeek)
            return calendar
        }

        init(now: Date = Date()) {
            self.now = now
            calendar = Calendar.current
            formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
        }

        /// A date in a list: `today 14:02`, `yesterday 09:10`, `3 Feb 09:10`, `3 Feb 2025`.
        func short(_ date: Date) -> String {
            let days = calendar.dateComponents(
                [.day], from: calendar.startOfDay(for: date), to: calendar.startOfDay(for: now)
            ).day
            switch days {
            case 0: return "today \(text(date, "HH:mm"))"
            case 1: return "yesterday \(text(date, "HH:mm"))"
            case let days? where days > 1 && days < 300: return text(date, "d MMM HH:mm")
            default: return text(date, "d MMM yyyy")
            }
        }

        /// A date with its year and seconds: `3 Feb 2026 09:10:04`.
        func full(_ date: Date) -> String {
            text(date, "d MMM yyyy HH:mm:ss")
        }

        private func text(_ date: Date, _ pattern: String) -> String {
            formatter.dateFormat = pattern
            return formatter.string(from: date)
        }

        /// A count with its noun: `1,878 messages`, `1 message`.
        static func count(_ count: Int, _ one: String, _ many: String? = nil) -> String {
            "\(grouped(count)) \(count == 1 ? one : many ?? one + "s")"
        }

        /// Digits in groups of three.
        static func grouped(_ count: Int) -> String {
            var groups = ""
            for (position, digit) in String(count.magnitude).reversed().enumerated() {
                if position > 0, position % 3 == 0 { groups.append(",") }
                groups.append(digit)
            }
            return (count < 0 ? "-" : "") + String(groups.reversed())
        }

        /// A number of tokens: `987`, `12.3k`, `4.5M`.
        static func tokens(_ count: Int) -> String {
            if count < 1000 { return String(count) }
            var (value, unit) = (Double(count) / 1000, "k")
            for larger in ["M", "G"] where value >= 999.95 {
                (value, unit) = (value / 1000, larger)
            }
            return String(format: "%.1f", value) + unit
        }

        /// A number of bytes: `512 bytes`, `9.9 MB`.
        static func bytes(_ count: Int64) -> String {
            if count < 1000 { return Self.count(Int(count), "byte") }
            var (value, unit) = (Double(count) / 1000, "KB")
            for larger in ["MB", "GB", "TB"] where value >= 999.95 {
                (value, unit) = (value / 1000, larger)
            }
            return "\(String(format: "%.1f", value)) \(unit)"
        }
    }
#endif
