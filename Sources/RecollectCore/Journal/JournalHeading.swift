import Foundation

/// The heading of an entry: `## 09:12 <!-- note ID 2026-11-21T09:12:07.123Z -->`, the time struck through and the comment ending with
/// `struck` and when, where the entry was struck out.
///
/// A person may write the time alone, or words of their own behind it: then the id is made of the day and of how many entries come
/// before, `2026-11-21#3`.
package struct JournalHeading {
    /// The entry; of its text only what a person wrote into the heading.
    package let entry: JournalEntry
    /// The heading as it stands in the file.
    package let line: String

    package init(of entry: JournalEntry, on day: JournalDay) {
        self.init(of: entry, title: "", on: day)
    }

    private init(of entry: JournalEntry, title: String, on day: JournalDay) {
        self.entry = entry
        let time = day.time(of: entry.date)
        let struck = entry.struckAt.map { " struck \($0.inUTC)" } ?? ""
        line = """
            ## \(struck.isEmpty ? time : "~~\(time)~~")\(title.isEmpty ? "" : " " + title) \
            \(Self.name(of: entry.id))\(entry.date.inUTC)\(struck) -->
            """
    }

    /// Reads a heading; `nil` for one that is not an entry's.
    /// - Parameter number: how many entries come before it.
    package init?(_ line: String, on day: JournalDay, number: Int) {
        var rest = Substring(line)
        guard rest.drops("## ") else { return nil }
        let isStruck = rest.drops("~~")
        guard let hour = rest.dropsNumber(ofDigits: 1...2), rest.drops(":"),
            let minute = rest.dropsNumber(ofDigits: 2...2), hour < 24, minute < 60
        else { return nil }
        _ = rest.drops("~~")
        self.line = line
        let comment = rest.range(of: "<!--", options: .literal)
        let title = rest[..<(comment?.lowerBound ?? rest.endIndex)].trimmingCharacters(in: .whitespaces)
        if let comment, let note = Self.entry(rest[comment.upperBound...], title: title) {
            entry = note
        } else {
            guard let moment = day.moment(hour: hour, minute: minute) else { return nil }
            entry = JournalEntry(
                id: Self.idPrefix(on: day) + String(number), date: moment, text: title,
                struckAt: isStruck ? moment : nil)
        }
    }

    /// The same heading of an entry that was struck out at a moment.
    package func struck(at moment: Date, on day: JournalDay) -> JournalHeading {
        var struck = entry
        struck.struckAt = moment.wholeMilliseconds
        return JournalHeading(of: struck, title: entry.text, on: day)
    }

    /// Reads what a comment says: `note ID DATE -->`, or `note ID DATE struck DATE -->`.
    private static func entry(_ comment: Substring, title: String) -> JournalEntry? {
        let words = comment.split(separator: " ")
        guard words.count >= 4, words[0] == "note", let id = unescaped(words[1]),
            let date = ISO8601.date(String(words[2]))
        else { return nil }
        let struckAt = words[3] == "struck" && words.count >= 6 ? ISO8601.date(String(words[4])) : nil
        return JournalEntry(id: id, date: date, text: title, struckAt: struckAt)
    }

    /// How the comment of an entry begins, as it stands in a file that holds the entry.
    package static func name(of id: String) -> String { "<!-- note \(escaped(id)) " }

    /// How the ids begin of entries that people wrote on a day.
    package static func idPrefix(on day: JournalDay) -> String { day.name + "#" }

    /// The id without white space and without what ends a comment.
    private static func escaped(_ id: String) -> String {
        guard !id.isEmpty else { return "%" }
        return id.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain =
                scalar.properties.isAlphabetic && scalar.isASCII || ("0"..."9").contains(scalar) || scalar == "-"
            return isPlain ? String(scalar) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    private static func unescaped(_ text: Substring) -> String? {
        text == "%" ? "" : text.removingPercentEncoding
    }
}

extension Substring {
    /// Drops a beginning; returns whether it stood there.
    fileprivate mutating func drops(_ beginning: String) -> Bool {
        guard utf8.starts(with: beginning.utf8) else { return false }
        self = self[utf8.index(startIndex, offsetBy: beginning.utf8.count)...]
        return true
    }

    /// Drops a number of so many digits, as many as there are, and gives it.
    fileprivate mutating func dropsNumber(ofDigits count: ClosedRange<Int>) -> Int? {
        let digits = prefix(count.upperBound).prefix { $0.isASCII && $0.isNumber }
        guard digits.count >= count.lowerBound else { return nil }
        self = self[digits.endIndex...]
        return Int(digits)
    }
}

extension Date {
    /// The moment as `2026-11-21T09:12:07.123Z`. Formatters cut milliseconds whose fraction is no whole binary one.
    package var inUTC: String {
        let (seconds, rest) = millisecondsSince1970.quotientAndRemainder(dividingBy: 1000)
        let milliseconds = rest < 0 ? rest + 1000 : rest
        let second = Date(timeIntervalSince1970: Double(rest < 0 ? seconds - 1 : seconds))
        return second.formatted(.iso8601).dropLast() + ".\(String(1000 + milliseconds).dropFirst())Z"
    }
}
