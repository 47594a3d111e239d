import Foundation
import RecollectCore

/// A day of the journal, parsed for merging.
struct JournalVersion {
    /// The line `# 2026-11-21`; `nil` if the first line is another one.
    var dayLine: ByteText?
    /// The text before the first entry, without the day's line.
    var head = Alternatives()
    /// The entries by their IDs.
    var entries: [ByteText: Entry] = [:]
    /// The unchanged lines of the entries' headings.
    private(set) var headings: [ArraySlice<UInt8>] = []
    /// The entries without an ID in the file, in order.
    private var unnamed: [KnownEntries.ReadEntry] = []
    /// The IDs given to entries without one, by their time.
    private var givenIDs: [String: Set<ByteText>] = [:]

    /// An entry with the text up to the next one.
    struct Entry: Equatable {
        var heading: Heading
        var struck: Strike
        var alternatives: Alternatives

        /// Returns the entry with another ID.
        func named(_ id: ByteText) -> Entry {
            var line = heading.line
            line.id = id.text
            return Entry(heading: Heading(line), struck: struck, alternatives: alternatives)
        }

        func isSame(as other: Entry) -> Bool {
            heading == other.heading && struck == other.struck && alternatives.isSame(as: other.alternatives)
        }
    }

    /// The heading of an entry without its title and without strikethrough, ordered by its text.
    struct Heading: Comparable {
        let line: JournalHeadingLine
        private let text: ByteText

        init(_ line: JournalHeadingLine) {
            self.line = line
            text = ByteText(line.text)
        }

        static func == (left: Heading, right: Heading) -> Bool { left.text == right.text }
        static func < (left: Heading, right: Heading) -> Bool { left.text < right.text }
    }

    /// The strikeout of an entry, if any, and its date. An earlier date is greater.
    enum Strike: Comparable {
        case never
        case atSomeTime
        case at(Date)

        init(_ line: JournalHeadingLine) {
            self = line.struckAt.map(Self.at) ?? (line.isStruck ? .atSomeTime : .never)
        }

        static func < (left: Strike, right: Strike) -> Bool {
            switch (left, right) {
            case (.at(let left), .at(let right)): left > right
            case (.never, .atSomeTime), (.never, .at), (.atSomeTime, .at): true
            default: false
            }
        }
    }

    init() {}
}

// MARK: Reading

extension JournalVersion {
    /// Creates a day from the bytes of a file; `nil` if they are not UTF-8.
    /// - Parameters:
    ///   - bytes: The content.
    ///   - base: A common ancestor. Its entries without IDs are the version's, if they are the only ones at their time.
    ///   - cut: The headings of the base, if the bytes may be its beginning. A last line without a line end is an
    ///     incomplete heading if it is a prefix of one.
    ///   - known: The entries of this file read so far.
    init?(
        _ bytes: [UInt8], from base: JournalVersion? = nil, cutting cut: [ArraySlice<UInt8>] = [],
        knowing known: inout KnownEntries
    ) {
        guard let text = Self.text(of: bytes, cutting: cut) else { return nil }
        entries.reserveCapacity(known.count)
        /// The first byte of the current entry.
        var start = text.startIndex
        for (line, isCode) in JournalLines(text) where !isCode && Self.isHeading(line) {
            take(text[start..<line.startIndex], knowing: &known)
            headings.append(line)
            start = line.startIndex
        }
        take(text[start...], knowing: &known)
        nameEntries()
        if let base { takeIDs(of: base) }
    }

    /// Gives IDs to the entries without one. The second entry of the same content has an ID with `-2` at the end.
    private mutating func nameEntries() {
        var numbers = NameNumbers()
        for read in unnamed {
            let id = ByteText(numbers.next(read.id.text) { entries[ByteText($0)] != nil })
            givenIDs[read.entry.heading.line.time, default: []].insert(id)
            entries[id] = id == read.id ? read.entry : read.entry.named(id)
        }
        unnamed = []
    }

    /// Gives entries the IDs of the base's, if both had none and are the only ones at their time.
    private mutating func takeIDs(of base: JournalVersion) {
        for (time, given) in givenIDs where given.count == 1 {
            guard let known = base.givenIDs[time], known.count == 1, let old = given.first, let new = known.first,
                entries[new] == nil, let entry = entries.removeValue(forKey: old)
            else { continue }
            entries[new] = entry.named(new)
        }
    }

    /// Takes the text up to a heading: an entry with its heading, or the text before the first entry.
    private mutating func take(_ text: ArraySlice<UInt8>, knowing known: inout KnownEntries) {
        let text = ByteText(text)
        guard !headings.isEmpty else { return takeHead(text.lines.trimmingBlankLines) }
        guard let read = known.entry(text) else { return }
        guard !read.isGivenID else { return unnamed.append(read) }
        var entry = read.entry
        // Removed first, so that adding texts does not copy the existing ones.
        if var other = entries.removeValue(forKey: read.id) {
            other.heading = max(entry.heading, other.heading)
            other.struck = max(entry.struck, other.struck)
            other.alternatives.add(entry.alternatives)
            entry = other
        }
        entries[read.id] = entry
    }

    private mutating func takeHead(_ lines: [ByteText]) {
        var lines = lines
        if let first = lines.first, Self.isDayLine(first) {
            dayLine = first.trimmingCarriageReturn
            lines = Array(lines.dropFirst()).trimmingBlankLines
        }
        head = Alternatives(ofHead: lines)
    }

    /// The entries read from the versions of a day, by their text. Versions have most entries in common, and comparing
    /// texts takes much less time than reading them.
    struct KnownEntries {
        struct ReadEntry {
            let id: ByteText
            /// Whether the entry has no ID in its heading.
            let isGivenID: Bool
            let entry: Entry
        }

        private let day: String
        private var entries: [ByteText: ReadEntry] = [:]

        /// The number of different entries.
        var count: Int { entries.count }

        /// Creates an empty collection for a day.
        /// - Parameter day: The file's day.
        init(day: String) {
            self.day = day
        }

        /// Returns the entry with this text, the heading first; `nil` for different text.
        mutating func entry(_ text: ByteText) -> ReadEntry? {
            if let known = entries[text] { return known }
            let lines = text.lines
            guard let line = lines.first, var heading = JournalHeadingLine(line.trimmingCarriageReturn.text) else {
                return nil
            }
            let alternatives = Alternatives(ofEntry: Array(lines.dropFirst()).trimmingBlankLines, title: heading.title)
            heading.title = ""
            let struck = Strike(heading)
            heading.isStruck = false
            heading.struckAt = nil
            let isGivenID = heading.id == nil
            let id = heading.id ?? name(of: alternatives, at: heading.time)
            heading.id = id
            let read = ReadEntry(
                id: ByteText(id), isGivenID: isGivenID,
                entry: Entry(heading: Heading(heading), struck: struck, alternatives: alternatives))
            entries[text] = read
            return read
        }

        /// Returns an ID for an entry written by a person, the same on all devices for the same day, time and text.
        private func name(of alternatives: Alternatives, at time: String) -> String {
            var content = Array("\(day) \(time)\n".utf8)
            for (position, key) in alternatives.keys.sorted().enumerated() {
                if position > 0 { content.append(0) }
                content += key.bytes
            }
            return String(ContentHash(of: content).rawValue.prefix(24))
        }
    }

    /// Returns the text without an incomplete heading, and without Windows line ends; `nil` for invalid UTF-8.
    private static func text(of bytes: [UInt8], cutting headings: [ArraySlice<UInt8>]) -> ArraySlice<UInt8>? {
        var text = bytes[...].droppingByteOrderMark.droppingCutCharacter
        guard String(decoding: text, as: UTF8.self).utf8.elementsEqual(text) else { return nil }
        let last = text[(text.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? text.startIndex)...]
        if !last.isEmpty, headings.contains(where: { $0.count > last.count && $0.starts(with: last) }) {
            text = text[..<last.startIndex]
        }
        guard text.contains(UInt8(ascii: "\r")) else { return text }
        // Windows editors end all lines with CR LF, also the headings written by Recollect. Otherwise a carriage
        // return is content.
        let lines = ByteText(text).lines
        let ours = lines.filter { isDayLine($0) || isHeading($0.bytes[...]) }
        guard let first = ours.first, first.endsWithCarriageReturn, ours.allSatisfy(\.endsWithCarriageReturn) else {
            return text
        }
        return ByteText(lines: lines.map(\.trimmingCarriageReturn)).bytes[...]
    }

    private static func isHeading(_ line: ArraySlice<UInt8>) -> Bool {
        line.withUnsafeBufferPointer(JournalHeadingLine.isHeading)
    }

    /// Whether a line is `# 2026-11-21`.
    fileprivate static func isDayLine(_ line: ByteText) -> Bool {
        let bytes = line.trimmingCarriageReturn.bytes
        guard bytes.count == 12, bytes.starts(with: "# ".utf8) else { return false }
        return bytes.dropFirst(2).enumerated().allSatisfy { position, byte in
            [4, 7].contains(position) ? byte == UInt8(ascii: "-") : (0x30...0x39).contains(byte)
        }
    }
}

// MARK: Writing

extension JournalVersion {
    /// The file: the day, the text before the entries, and the entries in order.
    var bytes: [UInt8] {
        var parts: [[UInt8]] = []
        if let dayLine { parts.append(dayLine.bytes) }
        let head = head.asHead
        if !head.isEmpty { parts.append(head) }
        let ordered = entries.map { id, entry in (key: entry.sortKey(id), entry: entry) }.sorted { $0.key < $1.key }
        for (_, entry) in ordered {
            let (title, body) = entry.alternatives.asEntry
            var heading = entry.heading.line
            heading.title = title
            heading.isStruck = entry.struck != .never
            if case .at(let date) = entry.struck { heading.struckAt = date }
            parts.append(Array(heading.text.utf8))
            if !body.isEmpty { parts.append(body) }
        }
        var bytes: [UInt8] = []
        for part in parts {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "\n")) }
            bytes += part
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }
}

extension JournalVersion.Entry {
    /// The sort key: the displayed time, then the date, then the ID.
    fileprivate func sortKey(_ id: ByteText) -> ByteText {
        ByteText("\(heading.line.time) \(heading.line.date.map(ISO8601.text) ?? "")\0".utf8 + id.bytes)
    }
}

// MARK: Incomplete content

extension ArraySlice<UInt8> {
    /// The bytes without byte order marks, as written by Windows editors, and blank lines at the beginning.
    fileprivate var droppingByteOrderMark: ArraySlice<UInt8> {
        var rest = self
        while true {
            if rest.starts(with: [0xEF, 0xBB, 0xBF]) {
                rest = rest.dropFirst(3)
            } else if let end = rest.firstIndex(of: UInt8(ascii: "\n")), ByteText(rest[..<end]).isBlank {
                rest = rest[(end + 1)...]
            } else {
                return rest
            }
        }
    }

    /// The bytes without an incomplete character at the end.
    fileprivate var droppingCutCharacter: ArraySlice<UInt8> {
        guard let start = suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return self }
        let length =
            switch self[start] {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        return endIndex - start < length ? self[..<start] : self
    }
}
