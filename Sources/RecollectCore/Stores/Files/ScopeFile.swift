import Foundation
import RecollectFileSystem

/// The known state of a scope's file, so that a save neither reads nor rewrites existing messages.
///
/// The file is a JSON array. A save writes its messages after the closing bracket. A durable save orders these
/// bytes before the next write. Then it replaces the bracket with a comma, or with a space in an empty array: this
/// single byte commits the save. A trim overwrites messages with white space. If there is more white space than
/// messages, the remaining messages move to a new file.
struct ScopeFile {
    struct Entry {
        /// The offset of the message in the file.
        var offset: Int
        let id: ByteString
        /// The range of the message's ID, relative to `offset`.
        let idRange: Range<Int>
    }

    private(set) var entries: [Entry] = []
    /// The IDs of the entries, for lookups.
    private(set) var ids: Set<ByteString> = []
    private(set) var lastRole: Role?
    /// The offset of the array's closing bracket.
    private(set) var closing = 1
    /// The last bytes before that bracket, at most 256. They differ after another process has moved the messages to a
    /// new file.
    private var lastBytes: [UInt8] = []

    /// Creates the state of an empty array, `[]`.
    init() {
        lastBytes = [Byte.openingBracket]
    }

    /// Creates the state from a file's bytes; `nil` if they are not a single array of messages.
    init?(_ bytes: [UInt8]) {
        guard let layout = MessageArray.layout(of: bytes) else { return nil }
        closing = layout.closing
        guard take(layout.messages, of: bytes, at: 0) else { return nil }
    }

    /// Reads the messages appended by other processes, and drops trimmed ones.
    ///
    /// Returns `false` if the file does not continue the known state and must be read from the start: another
    /// process may have moved the messages to a new file. An ID is unique, so an ID at its old offset proves that
    /// its message has not moved.
    mutating func follow(_ file: OpenFile) throws -> Bool {
        let start = closing - lastBytes.count
        let size = try file.checkedSize()
        guard size > closing else { return false }
        let bytes = try file.read(at: start, count: size - start)
        guard bytes.starts(with: lastBytes), let mark = bytes.dropFirst(lastBytes.count).first else { return false }
        guard try entries.last.map({ try exists($0, in: file) }) ?? isEmpty(file) else { return false }
        // Trimmed messages first: an appended one may have the ID of a trimmed one.
        var trimmed = 0
        while trimmed < entries.count,
            try file.read(at: entries[trimmed].offset, count: 1) != [Byte.openingBrace]
        {
            trimmed += 1
        }
        forget(first: trimmed)
        if mark != Byte.closingBracket {
            let wasEmpty = entries.isEmpty
            let rest = lastBytes.count + (wasEmpty ? 1 : 0)
            guard let layout = MessageArray.layout(ofRest: bytes, from: rest, begun: !wasEmpty) else { return false }
            closing = start + layout.closing
            guard take(layout.messages, of: bytes, at: start) else { return false }
        }
        return try entries.first.map { try exists($0, in: file) && isFirst($0, in: file) } ?? true
    }

    /// Whether no message precedes the known end of an empty array. The bytes at that end do not prove it: text may
    /// have a bracket after spaces.
    private func isEmpty(_ file: OpenFile) throws -> Bool {
        try file.read(at: 0, count: closing).filter { !MessageArray.isSpace($0) } == [Byte.openingBracket]
    }

    /// Whether no message precedes a message. If one does, an earlier content of the file was restored after a trim.
    private func isFirst(_ entry: Entry, in file: OpenFile) throws -> Bool {
        let count = min(entry.offset, Self.maxSeparatorLength)
        return try !file.read(at: entry.offset - count, count: count).contains(Byte.comma)
    }

    /// Whether a message is still at its known offset.
    private func exists(_ entry: Entry, in file: OpenFile) throws -> Bool {
        let bytes = try file.read(at: entry.offset + entry.idRange.lowerBound, count: entry.idRange.count)
        // Bytes other than a string are not an ID.
        let id = try? bytes.withUnsafeBytes {
            try JSONParser.read($0, replacesLoneSurrogates: true) { try $0.string() }
        }
        return id.map { ByteString($0) } == entry.id
    }

    /// Returns the bytes of the last messages, as a JSON array.
    func bytes(ofLast count: Int, from file: OpenFile) throws -> [UInt8] {
        guard count > 0, !entries.isEmpty else { return [Byte.openingBracket, Byte.closingBracket] }
        let start = entries[max(0, entries.count - count)].offset
        // The byte before a message is white space, a comma or the opening bracket.
        var bytes = try file.read(at: start - 1, count: closing - start + 2)
        bytes[0] = Byte.openingBracket
        if bytes.count > 1 { bytes[bytes.count - 1] = Byte.closingBracket }
        return bytes
    }

    /// Appends messages. With `isDurable`, syncs them before returning.
    /// - Throws: `tooLarge` if the file would be too large to be read again, before any change.
    mutating func append(
        _ messages: [EncodedMessage], to file: OpenFile, isDurable: Bool, maxSize: Int = OpenFile.maxSize
    ) throws {
        guard let last = messages.last else { return }
        guard messages.reduce(closing + 1, { $0 + 2 + $1.bytes.count }) <= maxSize else {
            throw RecollectError(
                .tooLarge,
                "\(file.path) would become larger than \(maxSize >> 20) MB; nothing was saved: keep fewer messages "
                    + "or start another session")
        }
        // Other programs may end the file with a line break. Bytes after the bracket are white space, because the file
        // was read as a whole array.
        if try file.size() > closing + 1 { try file.truncate(to: closing + 1) }
        try write(messages, behind: closing, of: file)
        if isDurable { try file.orderWrites() }
        try file.write([entries.isEmpty ? Byte.space : Byte.comma], at: closing)
        if isDurable { try file.synchronize() }

        // Two bytes precede each message: the bracket or comma, and a line break.
        var end = closing
        for message in messages {
            add(message.message, idRange: message.idRange, offset: end + 2)
            end += 2 + message.bytes.count
        }
        closing = end
        remember(end: last.bytes[...])
    }

    /// Writes messages and a closing bracket after an offset. Small messages are joined; messages of 1 MiB or more
    /// are not copied.
    private func write(_ messages: [EncodedMessage], behind end: Int, of file: OpenFile) throws {
        var position = end + 1
        var text: [UInt8] = []
        func flush() throws {
            try file.write(text, at: position)
            position += text.count
            text = []
        }
        for (index, message) in messages.enumerated() {
            if index > 0 { text.append(Byte.comma) }
            text.append(Byte.newline)
            if message.bytes.count < 1 << 20 {
                text += message.bytes
                if text.count >= 1 << 20 { try flush() }
            } else {
                try flush()
                try file.write(message.bytes, at: position)
                position += message.bytes.count
            }
        }
        text.append(Byte.closingBracket)
        try flush()
    }

    /// Writes an empty array if the file is empty.
    func begin(_ file: OpenFile) throws {
        if try file.size() == 0 { try file.write([Byte.openingBracket, Byte.closingBracket], at: 0) }
    }

    /// The array's end, for undoing a failed append. It holds no reference to the entries: otherwise the append
    /// would copy them.
    struct End {
        fileprivate let closing: Int
        fileprivate let isNew: Bool

        /// Restores the file, and syncs it.
        func restore(_ file: OpenFile) throws {
            if isNew {
                try file.truncate(to: 0)
            } else {
                try file.write([Byte.closingBracket], at: closing)
                try file.truncate(to: closing + 1)
            }
            try file.synchronize()
        }
    }

    var end: End { End(closing: closing, isNew: entries.isEmpty && closing == 1) }

    /// The work for a trim to `count` messages.
    enum Trim {
        case nothing
        /// Overwrite the removed messages with white space.
        case blank
        /// Move the remaining messages to a new file.
        case move
    }

    func trim(to count: Int) -> Trim {
        guard count < entries.count else { return .nothing }
        let head = offset(ofLast: count)
        let live = closing - head
        return head > max(live, 1 << 14) ? .move : .blank
    }

    /// Overwrites all but the last messages with white space. The first remaining message keeps its line break and
    /// indentation: `MessageSalvage` needs them.
    ///
    /// The change is durable with the next durable save at the latest. A power loss before then brings the trimmed
    /// messages back.
    mutating func blank(to count: Int, in file: OpenFile) throws {
        guard let first = entries.first?.offset else { return }
        let end = try offset(ofLast: count) - lineBreak(beforeLast: count, in: file).count
        try file.write([UInt8](repeating: Byte.space, count: end - first), at: first)
        forget(first: entries.count - count)
        if entries.isEmpty {
            remember(end: [UInt8](repeating: Byte.space, count: min(end - first, Self.remembered))[...])
        }
    }

    /// Copies the last messages, and the line break before them, unchanged into an empty file. `self` then describes the
    /// new file.
    mutating func move(last count: Int, from file: OpenFile, to newFile: OpenFile) throws {
        let start = offset(ofLast: count)
        let beginning = try [Byte.openingBracket] + lineBreak(beforeLast: count, in: file)
        try newFile.write(beginning, at: 0)
        var copied = start
        while copied < closing {
            let piece = try file.read(at: copied, count: min(1 << 20, closing - copied))
            guard !piece.isEmpty else { throw POSIXFailure(EIO) }
            try newFile.write(piece, at: beginning.count + copied - start)
            copied += piece.count
        }
        try newFile.write([Byte.closingBracket], at: beginning.count + closing - start)
        forget(first: entries.count - count)
        for index in entries.indices { entries[index].offset -= start - beginning.count }
        closing -= start - beginning.count
        if entries.isEmpty { remember(end: beginning[...]) }
    }

    private func offset(ofLast count: Int) -> Int {
        entries.suffix(count).first?.offset ?? closing
    }

    /// The line break and indentation before the last messages; empty without messages, or if other bytes precede
    /// the first of them in its line.
    private func lineBreak(beforeLast count: Int, in file: OpenFile) throws -> ArraySlice<UInt8> {
        guard let offset = entries.suffix(count).first?.offset else { return [] }
        let size = min(offset, Self.maxSeparatorLength)
        let bytes = try file.read(at: offset - size, count: size)
        let space = bytes[(bytes.lastIndex { !MessageArray.isSpace($0) }.map { $0 + 1 } ?? 0)...]
        return space.lastIndex(of: Byte.newline).map { space[$0...] } ?? []
    }

    /// Adds the messages in bytes beginning at `offset` of the file. Returns `false` if one is unreadable.
    private mutating func take(_ ranges: [Range<Int>], of bytes: [UInt8], at offset: Int) -> Bool {
        for range in ranges {
            guard let (message, idRange) = EncodedMessage.read(bytes[range]) else { return false }
            add(message, idRange: idRange, offset: offset + range.lowerBound)
        }
        remember(end: bytes[..<(closing - offset)])
        return true
    }

    private mutating func add(_ message: ConversationMessage, idRange: Range<Int>, offset: Int) {
        let id = ByteString(message.id)
        entries.append(Entry(offset: offset, id: id, idRange: idRange))
        ids.insert(id)
        lastRole = message.role
    }

    private mutating func forget(first count: Int) {
        guard count > 0 else { return }
        for entry in entries.prefix(count) { ids.remove(entry.id) }
        entries.removeFirst(count)
        if entries.isEmpty { lastRole = nil }
    }

    private static let remembered = 256
    /// The maximum number of bytes between two messages, in files of any program.
    private static let maxSeparatorLength = 64

    private mutating func remember(end bytes: ArraySlice<UInt8>) {
        // At most the last message: no trim by another process changes it.
        let last = entries.last.map { closing - $0.offset } ?? Self.remembered
        lastBytes = Array(bytes.suffix(min(last, Self.remembered)))
    }
}
