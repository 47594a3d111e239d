extension JSONValue {
    /// The maximum nesting of arrays and objects in a saved value, in levels: in a tool's arguments and results, in parts of other
    /// kinds, in metadata and in unknown fields. Saves of deeper values throw `tooLarge`.
    ///
    /// Stores and exports add up to 16 levels. The sum is the parser's limit of 512, a common limit of JSON readers.
    public static let depthLimit = JSONParser.depthLimit - 16

    /// The maximum nesting of a value that comes from outside, in levels: what a model calls a tool with, what a tool gives back,
    /// and what another program's transcript holds. Deeper ones are kept as a string, their JSON text.
    public static let outsideDepthLimit = 128

    /// Whether the value nests deeper than what comes from outside may.
    var isDeepForOutside: Bool { nests(deeperThan: Self.outsideDepthLimit) }

    /// The value as a history takes it from outside: as its JSON text where it nests too deep, and with a word in the place of a
    /// number that JSON cannot write.
    package var fromOutside: JSONValue {
        if isDeepForOutside { return .string(jsonString) }
        return hasNumberWithoutJSON ? writingNumbersWithoutJSON() : self
    }

    private func writingNumbersWithoutJSON() -> JSONValue {
        switch self {
        case .number(let number) where !number.isFinite: .string(number.description)
        case .array(let elements): .array(elements.map { $0.writingNumbersWithoutJSON() })
        case .object(let members): .object(members.mapValues { $0.writingNumbersWithoutJSON() })
        default: self
        }
    }

    /// Whether arrays and objects nest deeper than a number of levels. Stops there.
    fileprivate func nests(deeperThan levels: Int) -> Bool {
        switch self {
        case .array(let elements): levels == 0 || elements.contains { $0.nests(deeperThan: levels - 1) }
        case .object(let members): levels == 0 || members.values.contains { $0.nests(deeperThan: levels - 1) }
        default: false
        }
    }

    /// Whether a number in the value is infinite or not a number; not for values nested too deep.
    private var hasNumberWithoutJSON: Bool {
        switch self {
        case .number(let number): !number.isFinite
        case .array(let elements): elements.contains(where: \.hasNumberWithoutJSON)
        case .object(let members): members.values.contains(where: \.hasNumberWithoutJSON)
        default: false
        }
    }

    /// Refuses a value that could not be read again.
    fileprivate func checkSavable(as what: String) throws(RecollectError) {
        if nests(deeperThan: Self.depthLimit) {
            throw RecollectError(
                .tooLarge,
                "\(what) nests deeper than \(Self.depthLimit) levels and could not be read again; save it as text, say")
        }
        if hasNumberWithoutJSON {
            throw RecollectError(
                .invalidArgument,
                "\(what) holds a number that JSON cannot write (infinite, or not a number); save it as text or as null")
        }
    }
}

// What a store calls before it saves anything. Prose is not looked at.

extension [ContentPart] {
    /// Refuses parts that could not be read again.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels, `invalidArgument` for a number that JSON cannot write.
    package func checkSavable() throws(RecollectError) {
        for part in self {
            switch part {
            case .toolCall(_, _, let arguments): try arguments.checkSavable(as: "what a tool is called with")
            case .toolResult(_, let content): try content.checkSavable(as: "a tool's result")
            case .unknown(let value): try value.checkSavable(as: "a part of a message")
            case .text, .audioTranscript, .thinking, .attachment: break
            }
        }
    }
}

extension [ConversationMessage] {
    /// Refuses messages that could not be read again.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels, `invalidArgument` for a number that JSON cannot write.
    package func checkSavable() throws(RecollectError) {
        for message in self { try message.checkSavable() }
    }
}

extension ConversationMessage {
    /// Refuses a message that could not be read again.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels, `invalidArgument` for a number that JSON cannot write.
    package func checkSavable() throws(RecollectError) {
        try parts.checkSavable()
        if let name = unknownFields.keys.first(where: JSONWriter.Members.names.contains) {
            throw RecollectError(
                .invalidArgument,
                "a message has an unknown field called `\(name)`, which every message has; give it another name")
        }
        for value in metadata.values { try value.checkSavable(as: "a message's metadata") }
        for value in unknownFields.values { try value.checkSavable(as: "a field of a message") }
    }
}

extension ConversationMessage {
    /// The message as a history takes it from another program's transcript: what nests too deep stands there as its JSON text.
    package var fromOutside: ConversationMessage {
        var message = self
        message.parts = parts.map(\.fromOutside)
        // Members of a member, because importers keep all that has no place of its own together under one name.
        message.metadata = metadata.mapValues { value in
            guard value.isDeepForOutside, case .object(let members) = value else { return value.fromOutside }
            return .object(members.mapValues(\.fromOutside))
        }
        return message
    }
}

extension ContentPart {
    fileprivate var fromOutside: ContentPart {
        switch self {
        case .toolCall(let id, let name, let arguments):
            .toolCall(id: id, name: name, arguments: arguments.fromOutside)
        case .toolResult(let id, let content): .toolResult(id: id, content: content.fromOutside)
        case .unknown(let value): .unknown(value.fromOutside)
        case .text, .audioTranscript, .thinking, .attachment: self
        }
    }
}

extension [ChatMessage] {
    /// Refuses entries that could not be read again.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels, `invalidArgument` for a number that JSON cannot write.
    func checkSavable() throws(RecollectError) {
        for entry in self {
            for value in entry.metadata.values { try value.checkSavable(as: "an entry's metadata") }
        }
    }
}

extension ConversationDetails {
    /// Refuses details that could not be read again.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels, `invalidArgument` for a number that JSON cannot write.
    package func checkSavable() throws(RecollectError) {
        for value in metadata.values { try value.checkSavable(as: "a conversation's metadata") }
    }
}
