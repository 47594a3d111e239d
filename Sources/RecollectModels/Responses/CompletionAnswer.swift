#if Models
    import RecollectAgents

    /// The body of an answer: an event stream, or one whole object of JSON.
    ///
    /// Its first byte tells which: an object begins with a brace, and no line of an event stream does. Types that servers give are often
    /// wrong.
    struct CompletionAnswer {
        var reader: CompletionReader
        private var events = ServerSentEventParser(limit: CompletionAttempt.sizeLimit)
        /// What came as long as nobody knows which it is, then all of an object.
        private var bytes: [UInt8] = []
        private var isWhole: Bool?

        /// - Parameter maxReplyBytes: how many bytes of UTF-8 the model may say.
        init(maxReplyBytes: Int) {
            reader = CompletionReader(maxBytes: maxReplyBytes)
        }

        mutating func read(_ piece: UnsafeRawBufferPointer, _ yield: (LLMStreamEvent) -> Void) throws {
            if isWhole == false {
                return try events.read(piece) { try reader.read($0, yield) }
            }
            guard bytes.count + piece.count <= events.limit else { throw ServerSentEventParser.TooLong() }
            bytes += piece
            guard isWhole == nil, let start = bytes.firstIndex(where: { !Self.leading.contains($0) }) else { return }
            isWhole = bytes[start] == UInt8(ascii: "{")
            if isWhole == true {
                bytes.removeFirst(start)
            } else {
                try bytes.withUnsafeBytes { bytes in try events.read(bytes) { try reader.read($0, yield) } }
                bytes = []
            }
        }

        mutating func finish(_ yield: (LLMStreamEvent) -> Void) throws {
            if isWhole == true {
                try reader.read(bytes, yield)
            } else {
                try events.finish { try reader.read($0, yield) }
            }
        }

        /// Blanks, ends of lines, and the bytes of a byte order mark.
        private static let leading: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
    }
#endif
