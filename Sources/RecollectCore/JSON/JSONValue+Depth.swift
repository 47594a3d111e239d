extension JSONValue {
    /// The maximum nesting of arrays and objects in a saved value, in levels: in a tool's arguments and results, in parts of other
    /// kinds, in metadata and in unknown fields. Saves of deeper values throw `tooLarge`.
    ///
    /// Stores and exports add up to 16 levels. The sum is the parser's limit of 512, a common limit of JSON readers.
    public static let depthLimit = JSONParser.depthLimit - 16

    /// Whether arrays and objects nest deeper than a number of levels. Stops there.
    fileprivate func nests(deeperThan levels: Int) -> Bool {
        switch self {
        case .array(let elements): levels == 0 || elements.contains { $0.nests(deeperThan: levels - 1) }
        case .object(let members): levels == 0 || members.values.contains { $0.nests(deeperThan: levels - 1) }
        default: false
        }
    }

    /// Refuses a value nested too deep to be read.
    fileprivate func checkDepth(of what: String) throws(RecollectError) {
        guard nests(deeperThan: Self.depthLimit) else { return }
        throw RecollectError(
            .tooLarge,
            "\(what) nests deeper than \(Self.depthLimit) levels and could not be read again; save it as text, say")
    }
}

// What a store calls before it saves anything. Prose is not looked at.

extension [ContentPart] {
    /// Refuses parts nested too deep to be read.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels.
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
    /// Refuses messages nested too deep to be read.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels.
    package func checkDepth() throws(RecollectError) {
        for message in self { try message.checkDepth() }
    }
}

extension ConversationMessage {
    /// Refuses a message nested too deep to be read.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels.
    package func checkDepth() throws(RecollectError) {
        try parts.checkDepth()
        for value in metadata.values { try value.checkDepth(of: "a message's metadata") }
        for value in unknownFields.values { try value.checkDepth(of: "a field of a message") }
    }
}

extension [ChatMessage] {
    /// Refuses entries nested too deep to be read.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels.
    func checkDepth() throws(RecollectError) {
        for entry in self {
            for value in entry.metadata.values { try value.checkDepth(of: "an entry's metadata") }
        }
    }
}

extension ConversationDetails {
    /// Refuses details nested too deep to be read.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels.
    package func checkDepth() throws(RecollectError) {
        for value in metadata.values { try value.checkDepth(of: "a conversation's metadata") }
    }
}
