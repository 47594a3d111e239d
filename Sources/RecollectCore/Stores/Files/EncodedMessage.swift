/// A message with its JSON. Either one is created from the other, so stored JSON is never encoded again.
///
/// JavaScript programs write half a surrogate pair as an escape. It is read as U+FFFD, and its bytes stay.
struct EncodedMessage {
    let message: ConversationMessage
    let bytes: [UInt8]

    /// Creates an encoded message, with its JSON in one line.
    init(_ message: ConversationMessage) {
        var writer = JSONWriter()
        writer.write(message)
        self.message = message
        bytes = writer.bytes
    }

    /// Creates a message from stored bytes; `nil` for other bytes.
    init?(stored bytes: ArraySlice<UInt8>) {
        // The error is ignored: the salvage reports the damage.
        guard
            let message = try? bytes.withUnsafeBytes({
                try ConversationMessage(json: JSONParser.read($0, replacesLoneSurrogates: true) { try $0.value() })
            })
        else { return nil }
        self.message = message
        self.bytes = Array(bytes)
    }

    /// Returns a stored message and the range of its ID in the bytes; `nil` for other bytes.
    static func read(_ bytes: ArraySlice<UInt8>) -> (message: ConversationMessage, idRange: Range<Int>)? {
        bytes.withUnsafeBytes { bytes in
            guard
                let message = try? JSONParser.read(
                    bytes, replacesLoneSurrogates: true, { try ConversationMessage(json: $0.value()) }),
                let range = try? JSONParser.rangeOfID(in: bytes)
            else { return nil }
            return (message, range)
        }
    }

    /// The range of the ID in the bytes.
    var idRange: Range<Int> {
        // The bytes are JSON written by Recollect.
        bytes.withUnsafeBytes { try? JSONParser.rangeOfID(in: $0) } ?? 0..<0
    }

    /// Returns the messages of a stored array; `nil` for other bytes. The nesting limit applies to each message
    /// separately.
    static func messages(in bytes: [UInt8]) -> [ConversationMessage]? {
        try? bytes.withUnsafeBytes { bytes in
            try JSONParser.read(bytes, replacesLoneSurrogates: true) { parser in
                var messages: [ConversationMessage] = []
                try parser.forEachElement { parser in
                    messages.append(try parser.withNewDepth { try ConversationMessage(json: $0.value()) })
                }
                return messages
            }
        }
    }
}
