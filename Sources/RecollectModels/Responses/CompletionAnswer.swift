import RecollectAgents

/// The body of an answer: an event stream, or a single JSON object.
///
/// The first byte decides: an object begins with a brace, and no line of an event stream does. Content types from
/// servers are often wrong.
struct CompletionAnswer {
    /// The maximum size of an event, or of an answer without streaming, in bytes.
    static let sizeLimit = 16 << 20

    var reader: CompletionReader
    private var events = ServerSentEventParser(limit: sizeLimit)
    /// The received bytes of a JSON object.
    private var bytes: [UInt8] = []
    /// Whether the body is a JSON object; `nil` before the first byte other than white space.
    private var isWhole: Bool?

    /// Creates a reader of a body.
    /// - Parameter maxReplyBytes: The limit for the reply, in bytes of UTF-8.
    init(maxReplyBytes: Int) {
        reader = CompletionReader(maxBytes: maxReplyBytes)
    }

    mutating func read(_ piece: UnsafeRawBufferPointer, _ yield: (LLMStreamEvent) -> Void) throws {
        var piece = piece[...]
        if isWhole == nil {
            piece = piece.drop(while: Self.leading.contains)
            guard let first = piece.first else { return }
            isWhole = first == UInt8(ascii: "{")
        }
        if isWhole == true {
            guard bytes.count + piece.count <= events.limit else { throw ServerSentEventParser.TooLong() }
            bytes += piece
        } else {
            try events.read(UnsafeRawBufferPointer(rebasing: piece)) { try reader.read($0, yield) }
        }
    }

    mutating func finish(_ yield: (LLMStreamEvent) -> Void) throws {
        if isWhole == true {
            try reader.read(bytes, yield)
        } else {
            try events.finish { try reader.read($0, yield) }
        }
    }

    /// White space, and the bytes of a byte order mark.
    private static let leading: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
}
