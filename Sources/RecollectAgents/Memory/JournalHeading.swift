import Foundation
import RecollectCore

/// The heading of an entry: `## 09:12 <!-- note ID 2026-11-21T09:12:07.123Z -->`, the time struck through and the comment ending with
/// `struck` and when, where the entry was struck out.
///
/// A person may write the time alone: then the id comes from the day and from how many entries come before.
struct JournalHeading {
    /// The entry without its text.
    let entry: JournalEntry
    /// The heading as it stands in the file.
    let line: String

    init(of entry: JournalEntry, on day: JournalDay) {
        self.entry = entry
        let time = day.time(of: entry.date)
        let struck = entry.struckAt.map { " struck \($0.inUTC)" } ?? ""
        line = """
            ## \(struck.isEmpty ? time : "~~\(time)~~") \
            <!-- note \(Self.escaped(entry.id)) \(entry.date.inUTC)\(struck) -->
            """
    }

    /// Reads a heading; `nil` for one that is not an entry's.
    init?(_ line: String, on day: JournalDay, number: Int) {
        self.line = line
        guard let match = line.wholeMatch(of: /## (~~)?([0-9]{1,2}):([0-9]{2})(?:~~)?(.*)/),
            let hour = Int(match.2), let minute = Int(match.3), (0...23).contains(hour), (0...59).contains(minute),
            let moment = day.moment(hour: hour, minute: minute)
        else { return nil }
        if let note = match.4.firstMatch(of: /<!-- note (\S+) (\S+)(?: struck (\S+))? -->/),
            let id = Self.unescaped(String(note.1)), let date = ISO8601.date(String(note.2))
        {
            let struckAt = note.3.flatMap { ISO8601.date(String($0)) }
            entry = JournalEntry(id: id, date: date, text: "", struckAt: struckAt)
        } else {
            let id = UUID(name: Array("\(day.name)\u{0}\(number)".utf8), in: Self.people).uuidString
            entry = JournalEntry(id: id, date: moment, text: "", struckAt: match.1 == nil ? nil : moment)
        }
    }

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

    private static func unescaped(_ text: String) -> String? {
        text == "%" ? "" : text.removingPercentEncoding
    }

    /// The namespace of the ids of entries that people wrote.
    private static let people = UUID(
        uuid: (0x3D, 0x90, 0x4B, 0xE2, 0x15, 0x7A, 0x4E, 0x0D, 0xB6, 0x51, 0x8C, 0x2F, 0x09, 0xD4, 0xA7, 0x62))
}

extension Date {
    /// The moment as `2026-11-21T09:12:07.123Z`. Formatters cut milliseconds whose fraction is no whole binary one.
    var inUTC: String {
        let (seconds, rest) = millisecondsSince1970.quotientAndRemainder(dividingBy: 1000)
        let milliseconds = rest < 0 ? rest + 1000 : rest
        let second = Date(timeIntervalSince1970: Double(rest < 0 ? seconds - 1 : seconds))
        return second.formatted(.iso8601).dropLast() + ".\(String(1000 + milliseconds).dropFirst())Z"
    }
}
