import Foundation

/// The written heading of an entry: `## 09:12 Title <!-- note ID DATE struck DATE by AGENT -->`.
///
/// The time of a struck-out entry is struck through. Everything except `## 09:12` is optional: users write only the
/// time, with or without a title, and an entry merged before its date was known has only an ID. Unknown words of
/// newer versions after these are preserved.
package struct JournalHeadingLine: Hashable {
    /// The time in the heading, as `09:12`.
    package let time: String
    /// The user's text in the heading.
    package var title: String
    /// The entry's ID; `nil` if it has none yet.
    package var id: String?
    /// The date of the entry; `nil` if only the time is known.
    package var date: Date?
    /// Whether the entry was struck out.
    package var isStruck = false
    /// The date of striking it out; `nil` if it was not recorded.
    package var struckAt: Date?
    /// The ID of the agent that wrote the entry; `nil` if it was not recorded.
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

    /// Creates a heading from a line without its line break; `nil` if it is not the heading of an entry.
    package init?(_ line: String) {
        var line = line
        guard let heading = line.withUTF8({ JournalHeadingLine($0[...]) }) else { return nil }
        self = heading
    }

    // A large journal has hundreds of thousands of headings, and bytes are much faster than characters.
    fileprivate typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    private init?(_ line: Bytes) {
        var rest = line
        guard let (hour, minute, isStruck) = rest.dropsTime() else { return nil }
        self.isStruck = isStruck
        time = (hour < 10 ? "0" : "") + String(hour) + (minute < 10 ? ":0" : ":") + String(minute)
        title = rest.trimmed
        // Users may have added words and comments of their own before and after it.
        guard let start = rest.range(ofLast: Self.opening),
            let end = rest[start.upperBound...].range(ofFirst: "-->"),
            take(rest[start.upperBound..<end.lowerBound])
        else { return }
        title = [rest[..<start.lowerBound], rest[end.upperBound...]].map(\.trimmed).filter { !$0.isEmpty }
            .joined(separator: " ")
    }

    /// Whether a line begins like the heading of an entry.
    package static func isHeading(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        var rest = line[...]
        return rest.dropsTime() != nil
    }

    /// The line, without a line break.
    package var text: String {
        var words = [isStruck ? "## ~~\(time)~~" : "## \(time)"]
        if !title.isEmpty { words.append(title) }
        if let id {
            words.append(Self.opening + Self.escaped(id))
            if let date { words.append(ISO8601.text(of: date)) }
            if let struckAt { words.append("struck \(ISO8601.text(of: struckAt))") }
            if let agentId { words.append("by \(Self.escaped(agentId))") }
            if !unknown.isEmpty { words.append(unknown) }
            words.append("-->")
        }
        return words.joined(separator: " ")
    }

    /// Returns the beginning of the comment in the heading of the entry with this ID.
    package static func opening(of id: String) -> String { "\(opening)\(escaped(id)) " }

    private static let opening = "<!-- note "

    /// Reads the content of a comment and returns whether it is the comment of an entry: an ID, followed by nothing, or by a
    /// date, a strikeout or an agent in this order. Other comments are text of the user, such as `<!-- note for Ann -->`.
    private mutating func take(_ comment: Bytes) -> Bool {
        var words = comment.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }[...]
        guard let id = words.popFirst().flatMap(Self.unescaped) else { return false }
        let date = words.first.flatMap(ISO8601.date)
        if date != nil { words.removeFirst() }
        var struckAt: Date?
        if words.first == "struck", let date = words.dropFirst().first.flatMap(ISO8601.date) {
            struckAt = date
            words.removeFirst(2)
        }
        var agentId: String?
        if words.first == "by", let id = words.dropFirst().first.flatMap(Self.unescaped) {
            agentId = id
            words.removeFirst(2)
        }
        guard date != nil || words.isEmpty else { return false }
        (self.id, self.date, self.struckAt, self.agentId) = (id, date, struckAt, agentId)
        if struckAt != nil { isStruck = true }
        unknown = words.joined(separator: " ")
        return true
    }

    /// Returns the ID without white space and without the end mark of a comment.
    private static func escaped(_ id: String) -> String {
        guard !id.isEmpty else { return "%" }
        guard !id.utf8.allSatisfy(isUnescaped) else { return id }
        let digits = Array("0123456789ABCDEF".utf8)
        let escaped = id.utf8.flatMap { byte in
            isUnescaped(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func isUnescaped(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Returns the ID of a word; `nil` for a word never written for an ID.
    private static func unescaped(_ word: String) -> String? {
        let id = word == "%" ? "" : word.removingPercentEncoding
        return id.flatMap { escaped($0).hasSameBytes(as: word) ? $0 : nil }
    }
}

extension JournalHeadingLine.Bytes {
    /// Drops a prefix; returns whether it was there.
    fileprivate mutating func drops(_ beginning: String) -> Bool {
        guard starts(with: beginning.utf8) else { return false }
        removeFirst(beginning.utf8.count)
        return true
    }

    /// Drops and returns a number with as many digits as possible; `nil` for too few digits.
    fileprivate mutating func dropsNumber(ofDigits count: ClosedRange<Int>) -> Int? {
        let digits = prefix(count.upperBound).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard digits.count >= count.lowerBound else { return nil }
        removeFirst(digits.count)
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Drops and returns the beginning of a heading, such as `## ~~09:12~~`; `nil` for other text.
    fileprivate mutating func dropsTime() -> (hour: Int, minute: Int, isStruck: Bool)? {
        guard drops("## ") else { return nil }
        let isStruck = drops("~~")
        guard let hour = dropsNumber(ofDigits: 1...2), drops(":"), let minute = dropsNumber(ofDigits: 2...2),
            hour < 24, minute < 60
        else { return nil }
        _ = drops("~~")
        return (hour, minute, isStruck)
    }

    fileprivate func range(ofFirst text: String) -> Range<Index>? { range(of: text, at: indices) }

    fileprivate func range(ofLast text: String) -> Range<Index>? { range(of: text, at: indices.reversed()) }

    /// Returns the range of an ASCII text at the first of these positions with the text.
    private func range(of text: String, at positions: some Sequence<Index>) -> Range<Index>? {
        let first = text.utf8.first
        return positions.first { self[$0] == first && self[$0...].starts(with: text.utf8) }
            .map { $0..<$0 + text.utf8.count }
    }

    /// The text without white space at its ends: tabs and Unicode's space separators.
    fileprivate var trimmed: String {
        func isSpace(_ scalar: Unicode.Scalar) -> Bool {
            scalar == "\t" || scalar.properties.generalCategory == .spaceSeparator
        }
        let rest = String(decoding: self, as: UTF8.self).unicodeScalars.drop(while: isSpace)
        return rest.lastIndex { !isSpace($0) }.map { String(rest[...$0]) } ?? ""
    }
}
