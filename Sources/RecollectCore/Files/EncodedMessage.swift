/// A message and its JSON: made from the one or the other, so that what was stored is never encoded again.
struct EncodedMessage {
    let message: ConversationMessage
    let bytes: [UInt8]

    /// Encodes a message in one line.
    init(_ message: ConversationMessage) {
        var writer = JSONWriter()
        writer.write(message)
        self.message = message
        bytes = writer.bytes
    }

    /// Reads a stored message; `nil` for bytes that are none.
    init?(stored bytes: ArraySlice<UInt8>) {
        // Not being a message is an answer here: what follows is salvage, which tells of it.
        guard
            let message = try? bytes.withUnsafeBytes({
                try ConversationMessage(json: JSONParser.read($0) { try $0.value() })
            })
        else { return nil }
        self.message = message
        self.bytes = Array(bytes)
    }

    /// Reads a stored message and where its id stands in its bytes; `nil` for bytes that are none.
    static func read(_ bytes: ArraySlice<UInt8>) -> (message: ConversationMessage, idPlace: Range<Int>)? {
        bytes.withUnsafeBytes { bytes in
            guard let message = try? JSONParser.read(bytes, { try ConversationMessage(json: $0.value()) }),
                let place = try? JSONParser.placeOfID(in: bytes)
            else { return nil }
            return (message, place)
        }
    }

    /// Where the id stands in the bytes.
    var idPlace: Range<Int> {
        // They are JSON of our own.
        bytes.withUnsafeBytes { try? JSONParser.placeOfID(in: $0) } ?? 0..<0
    }

    /// Reads an array of stored messages, each as deep as one alone; `nil` for bytes that are none.
    static func messages(in bytes: [UInt8]) -> [ConversationMessage]? {
        try? bytes.withUnsafeBytes { bytes in
            try JSONParser.read(bytes) { parser in
                var messages: [ConversationMessage] = []
                try parser.forEachElement { parser in
                    messages.append(try parser.countingDepthAnew { try ConversationMessage(json: $0.value()) })
                }
                return messages
            }
        }
    }
}
