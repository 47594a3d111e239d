import Foundation
import RecollectCore

/// The file of a day: its bytes as they are, and the entries that they hold.
///
/// An entry is a heading (`JournalHeading`) and what follows it up to the next heading of the first or second level. Lines that are
/// quoted come back without their mark, others as they are; empty lines around all of it do not count.
struct JournalPage {
    let day: JournalDay
    private(set) var bytes: [UInt8]
    private(set) var entries: [JournalEntry] = []
    /// Where the heading of each entry stands in the bytes.
    private var headings: [Range<Int>] = []

    init(day: JournalDay) {
        self.init(day: day, bytes: Array("# \(day.name)\n".utf8))
    }

    init(day: JournalDay, bytes: [UInt8]) {
        self.day = day
        self.bytes = bytes
        read()
    }

    /// Adds an entry at the end.
    mutating func append(_ entry: JournalEntry) {
        let heading = JournalHeading(of: entry, on: day)
        let quotation = entry.text.utf8.split(separator: Byte.lineFeed, omittingEmptySubsequences: false).map {
            $0.isEmpty ? ">" : "> " + String(decoding: $0, as: UTF8.self)
        }
        // Another program may have left the last line without its end.
        if bytes.last != Byte.lineFeed { bytes.append(Byte.lineFeed) }
        bytes += Array("\n\(heading.line)\n\n\(quotation.joined(separator: "\n"))\n".utf8)
        read()
    }

    /// Strikes an entry out: nothing but its heading changes.
    mutating func strike(at place: Int, _ moment: Date) {
        entries[place].struckAt = moment.wholeMilliseconds
        bytes.replaceSubrange(headings[place], with: JournalHeading(of: entries[place], on: day).line.utf8)
        read()
    }

    private mutating func read() {
        entries = []
        headings = []
        var body: [ArraySlice<UInt8>] = []
        var isInEntry = false
        var start = 0
        func finish() {
            if isInEntry { entries[entries.count - 1].text = Self.text(of: body) }
            body = []
        }
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: Byte.lineFeed) ?? bytes.count
            let line = bytes[start..<end]
            if line.starts(with: Array("# ".utf8)) || line.starts(with: Array("## ".utf8)) {
                finish()
                // Editors of Windows end lines with two bytes; the first of them is no part of a heading.
                let text = line.last == Byte.carriageReturn ? line.dropLast() : line
                let heading = JournalHeading(String(decoding: text, as: UTF8.self), on: day, number: entries.count)
                isInEntry = heading != nil
                if let heading {
                    entries.append(heading.entry)
                    headings.append(text.startIndex..<text.endIndex)
                }
            } else if isInEntry {
                body.append(line)
            }
            start = end + 1
        }
        finish()
    }

    private static func text(of body: [ArraySlice<UInt8>]) -> String {
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
