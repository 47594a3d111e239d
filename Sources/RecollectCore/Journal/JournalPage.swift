import Crypto
import Foundation

/// The file of a day: its unchanged bytes, with the entries in them.
///
/// An entry is a heading (`JournalHeading`) and the text up to the next heading of the first or second level outside of
/// code blocks. Quoted lines are returned without the quotation mark, others unchanged. Empty lines around the text are
/// ignored.
package struct JournalPage {
    package let day: JournalDay
    package private(set) var bytes: [UInt8]

    package init(day: JournalDay) {
        self.init(day: day, bytes: Array("# \(day.name)\n".utf8))
    }

    package init(day: JournalDay, bytes: [UInt8]) {
        self.day = day
        self.bytes = bytes
    }

    /// Adds an entry at the end.
    /// - Parameter agentId: The author, if the file itself does not identify them.
    package mutating func append(_ entry: JournalEntry, by agentId: String? = nil) {
        let heading = JournalHeadingLine(of: entry, by: agentId, on: day)
        let quotation = entry.text.utf8.split(separator: Byte.lineFeed, omittingEmptySubsequences: false).map {
            $0.isEmpty ? ">" : "> " + String(decoding: $0, as: UTF8.self)
        }
        // Another program may have left the last line without a line break.
        if bytes.last != Byte.lineFeed { bytes.append(Byte.lineFeed) }
        bytes += Array("\n\(heading.text)\n\n\(quotation.joined(separator: "\n"))\n".utf8)
    }

    /// Returns the page with an entry struck out. Only its heading changes.
    package func striking(_ entry: Entry, at date: Date) -> JournalPage {
        var page = self
        page.bytes.replaceSubrange(entry.range, with: entry.heading.struck(at: date).utf8)
        return page
    }

    // MARK: Reading

    /// An entry with its heading and the heading's range in the bytes.
    package struct Entry {
        package fileprivate(set) var heading: JournalHeading
        package let range: Range<Int>
        package var body: [ArraySlice<UInt8>] = []

        /// The whole entry.
        package var whole: JournalEntry {
            var entry = heading.entry
            entry.text = [entry.text, JournalPage.text(of: body)].filter { !$0.isEmpty }.joined(separator: "\n")
            return entry
        }
    }

    /// Returns the entry with this ID; `nil` if there is none.
    ///
    /// The bytes are first searched for the ID, and the lines are parsed only if it is found, so adding to a long
    /// day is as fast as to a short one.
    package func entry(_ id: String) -> Entry? {
        guard id.hasPrefix(JournalHeading.idPrefix(on: day)) || bytes.contains(JournalHeadingLine.opening(of: id))
        else {
            return nil
        }
        return entries().first { $0.heading.entry.id.hasSameBytes(as: id) }
    }

    /// Returns all entries, in file order.
    ///
    /// An entry of a person has no written ID. Its ID has the day, and the hash of its date and text, as
    /// `2026-11-21#3f2a9c1b04d7`: it stays if other entries are inserted or removed. The second entry of the same content
    /// ends with `-2`.
    package func entries() -> [Entry] {
        var entries = readEntries()
        var taken = Set(entries.compactMap(\.heading.written.id).map { ByteString($0) })
        var numbers = NameNumbers()
        for position in entries.indices where entries[position].heading.written.id == nil {
            let entry = entries[position].whole
            let content = "\(entry.date.timeIntervalSince1970)\n\(entry.text)"
            let hash = SHA256.hash(data: Data(content.utf8)).lowercaseHexadecimal.prefix(12)
            let id = numbers.next(JournalHeading.idPrefix(on: day) + hash) { taken.contains(ByteString($0)) }
            taken.insert(ByteString(id))
            entries[position].heading = entries[position].heading.identified(as: id)
        }
        return entries
    }

    private func readEntries() -> [Entry] {
        var entries: [Entry] = []
        var isInEntry = false
        for (line, isCode) in JournalLines(bytes[...]) {
            if !isCode, Self.isHeading(line) {
                // Windows editors end lines with two bytes; the first is not part of the heading.
                let text = line.last == Byte.carriageReturn ? line.dropLast() : line
                let heading = JournalHeading(String(decoding: text, as: UTF8.self), on: day)
                isInEntry = heading != nil
                if let heading { entries.append(Entry(heading: heading, range: text.indices)) }
            } else if isInEntry {
                entries[entries.count - 1].body.append(line)
            }
        }
        return entries
    }

    /// Whether a line is a heading of the first or second level, including an empty one, possibly truncated.
    private static func isHeading(_ line: ArraySlice<UInt8>) -> Bool {
        let rest = line.drop { $0 == UInt8(ascii: "#") }
        return (1...2).contains(line.count - rest.count) && rest.first ?? Byte.space <= Byte.space
    }

    fileprivate static func text(of body: [ArraySlice<UInt8>]) -> String {
        let isBlank: (ArraySlice<UInt8>) -> Bool = { $0.allSatisfy { $0 <= Byte.space } }
        guard let first = body.firstIndex(where: { !isBlank($0) }), let last = body.lastIndex(where: { !isBlank($0) })
        else { return "" }
        let lines = body[first...last].map { line in
            guard line.first == Byte.quotation else { return line }
            let rest = line.dropFirst()
            return rest.first == Byte.space ? rest.dropFirst() : rest
        }
        return String(decoding: Array(lines.joined(separator: [Byte.lineFeed])), as: UTF8.self)
    }

    private enum Byte {
        static let lineFeed = UInt8(ascii: "\n")
        static let carriageReturn = UInt8(ascii: "\r")
        static let space = UInt8(ascii: " ")
        static let quotation = UInt8(ascii: ">")
    }
}

extension [UInt8] {
    /// Whether the array contains the bytes of a string.
    fileprivate func contains(_ text: String) -> Bool {
        Data(self).range(of: Data(text.utf8)) != nil
    }
}
