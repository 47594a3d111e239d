import Foundation

/// The heading of an entry as it is written: `## 09:12 Title <!-- note ID DATE struck DATE by AGENT -->`.
///
/// The time is struck through where the entry was struck out. Everything but `## 09:12` may be missing: a person writes the time alone,
/// with or without a title, and an entry that was merged before anyone knew its moment has an id alone. What a newer version
/// writes behind the words known here is kept.
package struct JournalHeadingLine: Hashable {
    /// The time that it shows, `09:12`.
    package let time: String
    /// What a person wrote into it.
    package var title: String
    /// The entry's name; `nil` where it has none yet.
    package var id: String?
    /// The moment of the entry; `nil` where only the time is known.
    package var date: Date?
    /// Whether it was struck out.
    package var isStruck = false
    /// When that was; `nil` where nobody wrote it down.
    package var struckAt: Date?
    /// The agent that wrote the entry; `nil` where nobody wrote it down.
    package var agentId: String?
    private var unknown = ""

    package init(of entry: JournalEntry, by agentId: String?, on day: JournalDay) {
        time = day.time(of: entry.date)
        title = ""
        id = entry.id
        date = entry.date
        isStruck = entry.struckAt != nil
        struckAt = entry.struckAt
        self.agentId = agentId
    }

    /// Reads a line without its end; `nil` for one that is no entry's heading.
    package init?(_ line: String) {
        var rest = Substring(line)
        guard rest.drops("## ") else { return nil }
        isStruck = rest.drops("~~")
        guard let hour = rest.dropsNumber(ofDigits: 1...2), rest.drops(":"),
            let minute = rest.dropsNumber(ofDigits: 2...2), hour < 24, minute < 60
        else { return nil }
        _ = rest.drops("~~")
        time = (hour < 10 ? "0" : "") + String(hour) + (minute < 10 ? ":0" : ":") + String(minute)
        title = rest.trimmingCharacters(in: .whitespaces)
        // A person may have written words, and comments of their own, before it and behind it.
        guard let start = rest.range(of: Self.opening, options: [.literal, .backwards]),
            let end = rest.range(of: "-->", options: .literal, range: start.upperBound..<rest.endIndex),
            take(rest[start.upperBound..<end.lowerBound])
        else { return }
        title = [rest[..<start.lowerBound], rest[end.upperBound...]].map {
            $0.trimmingCharacters(in: .whitespaces)
        }.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The line, without its end.
    package var text: String {
        var words = [isStruck ? "## ~~\(time)~~" : "## \(time)"]
        if !title.isEmpty { words.append(title) }
        if let id {
            words.append(Self.opening + Self.escaped(id))
            if let date { words.append(date.inUTC) }
            if let struckAt { words.append("struck \(struckAt.inUTC)") }
            if let agentId { words.append("by \(Self.escaped(agentId))") }
            if !unknown.isEmpty { words.append(unknown) }
            words.append("-->")
        }
        return words.joined(separator: " ")
    }

    /// How the comment begins of an entry that has that id.
    package static func opening(of id: String) -> String { "\(opening)\(escaped(id)) " }

    private static let opening = "<!-- note "

    /// Takes what stands in a comment; returns whether it is a note's.
    private mutating func take(_ comment: Substring) -> Bool {
        var words = comment.split(separator: " ")[...]
        guard let id = words.popFirst().flatMap(Self.unescaped) else { return false }
        self.id = id
        date = words.first.flatMap { ISO8601.date(String($0)) }
        if date != nil { words.removeFirst() }
        var others: [Substring] = []
        while let word = words.popFirst() {
            if word == "struck", let moment = words.first.flatMap({ ISO8601.date(String($0)) }) {
                struckAt = moment
                isStruck = true
                words.removeFirst()
            } else if word == "by", let agentId = words.first.flatMap(Self.unescaped) {
                self.agentId = agentId
                words.removeFirst()
            } else {
                others.append(word)
            }
        }
        unknown = others.joined(separator: " ")
        return true
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
