import Foundation

/// Reads and writes dates such as `2026-02-01T12:34:56.789Z`, as written by JavaScript. Imports and merges read and write
/// hundreds of thousands of dates, and Foundation's formatters take several times as long.
package enum ISO8601 {
    /// Returns the date of a string in UTC or with an offset; `nil` for other formats, and for days past the end of
    /// a month.
    package static func date(_ text: String) -> Date? {
        var text = text
        return text.withUTF8 { milliseconds($0).map(Date.init(millisecondsSince1970:)) }
    }

    private static func milliseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        func number(_ range: Range<Int>) -> Int64? {
            guard range.upperBound <= text.count else { return nil }
            var value: Int64 = 0
            for byte in text[range] {
                guard byte >= 0x30, byte <= 0x39 else { return nil }
                value = value * 10 + Int64(byte - 0x30)
            }
            return value
        }
        func stands(_ character: Unicode.Scalar, at position: Int) -> Bool {
            position < text.count && UInt32(text[position]) == character.value
        }
        guard stands("-", at: 4), stands("-", at: 7), stands("T", at: 10), stands(":", at: 13), stands(":", at: 16),
            let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19), (1...12).contains(month),
            (1...31).contains(day), hour < 24, minute < 60, second <= 60,
            month == 12 || days(year, month, day) < days(year, month + 1, 1)
        else { return nil }
        var position = 19
        var fraction: Int64 = 0
        if stands(".", at: 19) {
            position = 20
            while position < text.count, text[position] >= 0x30, text[position] <= 0x39 { position += 1 }
            let digits = min(position - 20, 3)
            guard digits > 0, let value = number(20..<20 + digits) else { return nil }
            fraction = [value * 100, value * 10, value][digits - 1]
        }
        var offset: Int64 = 0
        if !(stands("Z", at: position) && position + 1 == text.count) {
            let isWest = stands("-", at: position)
            guard isWest || stands("+", at: position), stands(":", at: position + 3), position + 6 == text.count,
                let hours = number(position + 1..<position + 3), let minutes = number(position + 4..<position + 6)
            else { return nil }
            offset = (hours * 60 + minutes) * (isWest ? -60 : 60)
        }
        let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second - offset
        return seconds * 1000 + fraction
    }

    /// Returns the date in UTC with milliseconds. Years have at least four digits.
    package static func text(of date: Date) -> String {
        let (seconds, milliseconds) = floorDivided(date.millisecondsSince1970, by: 1000)
        let (days, secondOfDay) = floorDivided(seconds, by: 86_400)
        let (year, month, day) = yearMonthDay(after: days)
        // Only wrong dates have other years.
        guard (0...9999).contains(year) else {
            return Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601).dropLast()
                + ".\(String(1000 + milliseconds).dropFirst())Z"
        }
        return String(unsafeUninitializedCapacity: 24) { text in
            func write(_ number: Int64, digits: Int, at position: Int, before end: Unicode.Scalar) {
                var rest = number
                for index in stride(from: position + digits - 1, through: position, by: -1) {
                    text[index] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                text[position + digits] = UInt8(ascii: end)
            }
            write(year, digits: 4, at: 0, before: "-")
            write(month, digits: 2, at: 5, before: "-")
            write(day, digits: 2, at: 8, before: "T")
            write(secondOfDay / 3600, digits: 2, at: 11, before: ":")
            write(secondOfDay / 60 % 60, digits: 2, at: 14, before: ":")
            write(secondOfDay % 60, digits: 2, at: 17, before: ".")
            write(milliseconds, digits: 3, at: 20, before: "Z")
            return 24
        }
    }

    private static func floorDivided(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    /// Returns the date that number of days after 1970-01-01 in the Gregorian calendar: the inverse of `days`.
    private static func yearMonthDay(after days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floorDivided(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        return (era * 400 + yearOfEra + (month >= 10 ? 1 : 0), month + (month < 10 ? 3 : -9), day)
    }

    /// Returns the days from 1970-01-01 in the Gregorian calendar. Years are counted from March, so a leap day
    /// comes last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
