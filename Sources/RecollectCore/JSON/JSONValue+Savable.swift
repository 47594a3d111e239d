extension JSONValue {
    /// The maximum nesting of arrays and objects in a saved value, in levels: in arguments and results of tools, in
    /// parts of other kinds, in metadata and in unknown fields. Saves of deeper values throw `tooLarge`.
    ///
    /// Stores and exports add up to 16 levels. The sum is the parser's limit of 512, a common limit of JSON
    /// readers.
    public static let depthLimit = JSONParser.depthLimit - 16

    /// The maximum nesting of an external value, in levels: of a model's tool arguments, of tool results, and of
    /// other programs' transcripts. Deeper values are saved as a string with their JSON text.
    public static let externalDepthLimit = 128

    /// Whether the value exceeds the maximum nesting of external values.
    var exceedsExternalDepthLimit: Bool { nests(deeperThan: Self.externalDepthLimit) }

    /// The external value in the form for a history: as its JSON text if it is nested too deeply, and with text in
    /// place of numbers without a JSON representation.
    package var fromOutside: JSONValue {
        if exceedsExternalDepthLimit { return .string(jsonString) }
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

    /// Whether arrays and objects are nested deeper than a number of levels. Stops at this level.
    fileprivate func nests(deeperThan levels: Int) -> Bool {
        switch self {
        case .array(let elements): levels == 0 || elements.contains { $0.nests(deeperThan: levels - 1) }
        case .object(let members): levels == 0 || members.values.contains { $0.nests(deeperThan: levels - 1) }
        default: false
        }
    }

    /// Whether the value contains an infinite number or NaN. Not for deeper values than allowed.
    private var hasNumberWithoutJSON: Bool {
        switch self {
        case .number(let number): !number.isFinite
        case .array(let elements): elements.contains(where: \.hasNumberWithoutJSON)
        case .object(let members): members.values.contains(where: \.hasNumberWithoutJSON)
        default: false
        }
    }

    /// Throws an error for a value impossible to read again.
    func checkSavable(as what: String) throws(RecollectError) {
        if nests(deeperThan: Self.depthLimit) {
            throw RecollectError(
                .tooLarge,
                "\(what) is nested more than \(Self.depthLimit) levels deep and could not be read back; save it as text"
            )
        }
        if hasNumberWithoutJSON {
            throw RecollectError(
                .invalidArgument,
                "\(what) contains a number that JSON cannot represent (infinity or NaN); save it as text or null")
        }
    }
}

// Called by stores before every save. Text needs no check.

extension [ContentPart] {
    /// Throws an error for parts impossible to read again.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels, `invalidArgument` for a number without a
    ///   JSON representation, or for an unknown part in the form of a known one.
    package func checkSavable() throws(RecollectError) {
        for part in self {
            switch part {
            case .toolCall(_, _, let arguments): try arguments.checkSavable(as: "the input of a tool call")
            case .toolResult(_, let content): try content.checkSavable(as: "a tool result")
            case .unknown(let value):
                try value.checkSavable(as: "a part of a message")
                guard case .unknown = ContentPart(json: value) else {
                    throw RecollectError(
                        .invalidArgument,
                        "an unknown part of a message has the form of a known one, and would be read as such; use the known part"
                    )
                }
            case .text, .audioTranscript, .thinking, .attachment: break
            }
        }
    }
}

extension [ConversationMessage] {
    /// Throws an error for messages impossible to read again.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels, `invalidArgument` for a number without a
    ///   JSON representation, or for an unknown field with the name of a known one.
    package func checkSavable() throws(RecollectError) {
        for message in self { try message.checkSavable() }
    }
}

extension ConversationMessage {
    /// Throws an error for a message impossible to read again.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels, `invalidArgument` for a number without a
    ///   JSON representation, or for an unknown field with the name of a known one.
    package func checkSavable() throws(RecollectError) {
        try parts.checkSavable()
        if let name = unknownFields.keys.first(where: JSONWriter.Members.names.contains) {
            throw RecollectError(
                .invalidArgument,
                "a message has an unknown field named `\(name)`, a name that every message uses; rename the field")
        }
        for value in metadata.values { try value.checkSavable(as: "a message's metadata") }
        for value in unknownFields.values { try value.checkSavable(as: "a field of a message") }
    }
}

extension ConversationMessage {
    /// The message of another program's transcript in the form for a history, with deeply nested values as their
    /// JSON text.
    package var fromOutside: ConversationMessage {
        var message = self
        message.parts = parts.map(\.fromOutside)
        // Applied to members one level down, because importers collect all fields without a counterpart under one
        // name.
        message.metadata = metadata.mapValues { value in
            guard value.exceedsExternalDepthLimit, case .object(let members) = value else { return value.fromOutside }
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

extension SessionDetails {
    /// Throws an error for details impossible to read again.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels, `invalidArgument` for a number without a
    ///   JSON representation.
    package func checkSavable() throws(RecollectError) {
        for value in metadata.values { try value.checkSavable(as: "a session's metadata") }
    }
}
