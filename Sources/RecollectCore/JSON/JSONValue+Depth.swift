extension JSONValue {
    /// How deep arrays and objects may nest in a value that is saved: in a tool's arguments and results, in parts of other kinds,
    /// in metadata and in unknown fields. A save of deeper ones is refused with `tooLarge`.
    ///
    /// Stores and exports wrap a value in up to 16 levels more; so all that they write is within the 512 levels that they, and
    /// most readers of JSON, read.
    public static let depthLimit = JSONParser.depthLimit - 16

    /// Whether more arrays and objects than this stand one in the other. Looks no deeper.
    fileprivate func nests(deeperThan levels: Int) -> Bool {
        switch self {
        case .array(let elements): levels == 0 || elements.contains { $0.nests(deeperThan: levels - 1) }
        case .object(let members): levels == 0 || members.values.contains { $0.nests(deeperThan: levels - 1) }
        default: false
        }
    }

    /// Refuses a value that could be written and not be read again.
    fileprivate func checkDepth(of what: String) throws(RecollectError) {
        guard nests(deeperThan: Self.depthLimit) else { return }
        throw RecollectError(
            .tooLarge,
            "\(what) nests deeper than \(Self.depthLimit) levels and could not be read again; save it as text, say")
    }
}

// What a store calls before it saves anything. Prose is not looked at.

extension [ContentPart] {
    /// Refuses parts that could be written and not be read again.
    /// - Throws: `tooLarge` where a value nests deeper than `JSONValue.depthLimit`.
    package func checkDepth() throws(RecollectError) {
        for part in self {
            switch part {
            case .toolCall(_, _, let arguments): try arguments.checkDepth(of: "what a tool is called with")
            case .toolResult(_, let content): try content.checkDepth(of: "a tool's result")
            case .unknown(let value): try value.checkDepth(of: "a part of a message")
            case .text, .audioTranscript, .thinking, .attachment: break
            }
        }
    }
}

extension [ConversationMessage] {
    /// Refuses messages that could be written and not be read again.
    /// - Throws: `tooLarge` where a value nests deeper than `JSONValue.depthLimit`.
    package func checkDepth() throws(RecollectError) {
        for message in self { try message.checkDepth() }
    }
}

extension ConversationMessage {
    /// Refuses a message that could be written and not be read again.
    /// - Throws: `tooLarge` where a value nests deeper than `JSONValue.depthLimit`.
    package func checkDepth() throws(RecollectError) {
        try parts.checkDepth()
        for value in metadata.values { try value.checkDepth(of: "a message's metadata") }
        for value in unknownFields.values { try value.checkDepth(of: "a field of a message") }
    }
}

extension [ChatMessage] {
    /// Refuses entries that could be written and not be read again.
    /// - Throws: `tooLarge` where a value nests deeper than `JSONValue.depthLimit`.
    func checkDepth() throws(RecollectError) {
        for entry in self {
            for value in entry.metadata.values { try value.checkDepth(of: "an entry's metadata") }
        }
    }
}

extension ConversationDetails {
    /// Refuses details that could be written and not be read again.
    /// - Throws: `tooLarge` where a value nests deeper than `JSONValue.depthLimit`.
    package func checkDepth() throws(RecollectError) {
        for value in metadata.values { try value.checkDepth(of: "a conversation's metadata") }
    }
}
