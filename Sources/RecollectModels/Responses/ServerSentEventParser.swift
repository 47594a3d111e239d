/// An event from a server.
struct ServerSentEvent {
    /// The event's name; empty if it has none.
    var name: [UInt8]
    var data: [UInt8]
}

/// Parses server-sent events from pieces of any size.
///
/// The parser covers the part of the format used by chat-completions servers. Comments, fields other than
/// `data` and `event`, and events without data are skipped. A last event without an empty line after it counts.
/// Lines end in LF, CR or CR LF.
struct ServerSentEventParser {
    /// An event, or a line of one, exceeds the limit.
    struct TooLong: Error {}

    /// The maximum size of an event, in bytes.
    let limit: Int

    /// The incomplete line from earlier pieces.
    private var line: [UInt8] = []
    private var data: [UInt8]?
    private var name: [UInt8] = []
    private var isFirstLine = true
    /// Whether the last piece ended in CR. An LF at the start of the next one then belongs to it.
    private var endedInReturn = false

    init(limit: Int) {
        self.limit = limit
    }

    /// Reads a piece and passes each event completed by it to `body`.
    mutating func read(_ bytes: UnsafeRawBufferPointer, _ body: (ServerSentEvent) throws -> Void) throws {
        var rest = bytes[...]
        if endedInReturn, let first = rest.first {
            endedInReturn = false
            if first == .lineFeed { rest.removeFirst() }
        }
        while let end = rest.firstIndex(where: { $0 == .lineFeed || $0 == .carriageReturn }) {
            if line.isEmpty {
                try readLine(UnsafeRawBufferPointer(rebasing: rest[..<end]), body)
            } else {
                try append(rest[..<end])
                let whole = line
                line.removeAll(keepingCapacity: true)
                try whole.withUnsafeBytes { try readLine($0, body) }
            }
            let isReturn = rest[end] == .carriageReturn
            rest = rest[(end + 1)...]
            guard isReturn else { continue }
            if rest.isEmpty {
                endedInReturn = true
            } else if rest.first == .lineFeed {
                rest.removeFirst()
            }
        }
        try append(rest)
    }

    /// Ends the stream, and passes an event not yet ended to `body`.
    mutating func finish(_ body: (ServerSentEvent) throws -> Void) throws {
        let whole = line
        line = []
        try whole.withUnsafeBytes { try readLine($0, body) }
        try dispatch(body)
    }

    private mutating func append(_ bytes: Slice<UnsafeRawBufferPointer>) throws {
        guard line.count + bytes.count <= limit else { throw TooLong() }
        line += bytes
    }

    private mutating func readLine(_ bytes: UnsafeRawBufferPointer, _ body: (ServerSentEvent) throws -> Void) throws {
        var line = bytes[...]
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        }
        guard !line.isEmpty else { return try dispatch(body) }
        let field = line.prefix { $0 != UInt8(ascii: ":") }
        line = line[field.endIndex...].dropFirst()
        if line.first == UInt8(ascii: " ") { line.removeFirst() }
        if field.elementsEqual("event".utf8) { name = Array(line) }
        guard field.elementsEqual("data".utf8) else { return }
        guard (data?.count ?? 0) + line.count <= limit else { throw TooLong() }
        if data == nil { data = [] } else { data?.append(.lineFeed) }
        data? += line
    }

    private mutating func dispatch(_ body: (ServerSentEvent) throws -> Void) throws {
        defer { name = [] }
        guard let data else { return }
        self.data = nil
        try body(ServerSentEvent(name: name, data: data))
    }
}

extension UInt8 {
    fileprivate static let lineFeed = UInt8(ascii: "\n")
    fileprivate static let carriageReturn = UInt8(ascii: "\r")
}
