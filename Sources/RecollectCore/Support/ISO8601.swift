import Foundation

/// A parser for dates such as `2026-02-01T12:34:56.789Z`, as written by JavaScript, without a formatter.
package enum ISO8601 {
    /// Returns the date of a text in UTC or with an offset; `nil` for other formats, and for days past the end of
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
        func stands(_ characters: [Int: Unicode.Scalar]) -> Bool {
            characters.allSatisfy { $0.key < text.count && UInt32(text[$0.key]) == $0.value.value }
        }
        guard stands([4: "-", 7: "-", 10: "T", 13: ":", 16: ":"]), let year = number(0..<4), let month = number(5..<7),
            let day = number(8..<10), let hour = number(11..<13), let minute = number(14..<16),
            let second = number(17..<19), (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60,
            second <= 60, month == 12 || days(year, month, day) < days(year, month + 1, 1)
        else { return nil }
        var position = 19
        var fraction: Int64 = 0
        if stands([19: "."]) {
            position = 20
            while position < text.count, text[position] >= 0x30, text[position] <= 0x39 { position += 1 }
            let digits = min(position - 20, 3)
            guard digits > 0, let value = number(20..<20 + digits) else { return nil }
            fraction = [value * 100, value * 10, value][digits - 1]
        }
        var offset: Int64 = 0
        if !(stands([position: "Z"]) && position + 1 == text.count) {
            let isWest = stands([position: "-"])
            guard isWest || stands([position: "+"]), stands([position + 3: ":"]), position + 6 == text.count,
                let hours = number(position + 1..<position + 3), let minutes = number(position + 4..<position + 6)
            else { return nil }
            offset = (hours * 60 + minutes) * (isWest ? -60 : 60)
        }
        let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second - offset
        return seconds * 1000 + fraction
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
