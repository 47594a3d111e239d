#if Models
    /// An event that a server sent.
    struct ServerSentEvent {
        /// Its kind; empty where it has none.
        var name: [UInt8]
        var data: [UInt8]
    }

    /// Reads server-sent events from bytes that come in any pieces.
    ///
    /// Only what chat-completions servers send counts: comments and fields other than `data` and `event` are read past, and so is an
    /// event without data. A last event without the empty line behind it is an event too. Lines end in LF, CR or both.
    struct ServerSentEventParser {
        /// An event, or a line of one, is longer than the limit.
        struct TooLong: Error {}

        /// How many bytes an event may have.
        let limit: Int

        /// The line under way, as far as it has come in earlier pieces.
        private var line: [UInt8] = []
        private var data: [UInt8]?
        private var name: [UInt8] = []
        private var isFirstLine = true
        /// Whether the last piece ended in CR: an LF at the start of the next one then belongs to it.
        private var endedInReturn = false

        init(limit: Int) {
            self.limit = limit
        }

        /// Reads a piece and gives every event that ends in it.
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
                    try keep(rest[..<end])
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
            try keep(rest)
        }

        /// Ends the stream: gives an event that nothing ended.
        mutating func finish(_ body: (ServerSentEvent) throws -> Void) throws {
            let whole = line
            line = []
            try whole.withUnsafeBytes { try readLine($0, body) }
            try dispatch(body)
        }

        private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) throws {
            guard line.count + bytes.count <= limit else { throw TooLong() }
            line += bytes
        }

        private mutating func readLine(_ bytes: UnsafeRawBufferPointer, _ body: (ServerSentEvent) throws -> Void) throws
        {
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
#endif
