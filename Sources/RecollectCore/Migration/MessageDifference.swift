/// The comparison of a message with its copy in another store, with attachments compared by their hashes.
/// Text is compared by its bytes.
package enum MessageDifference {
    /// Returns the name of the first different field; `nil` if there is none.
    static func field(_ left: ChatMessage, _ right: ChatMessage) -> String? {
        if left.id != right.id { return "id" }
        if !left.role.rawValue.hasSameBytes(as: right.role.rawValue) { return "role" }
        if !left.content.hasSameBytes(as: right.content) { return "content" }
        if left.timestamp != right.timestamp { return "timestamp" }
        if left.isComplete != right.isComplete { return "isComplete" }
        if !left.messageType.rawValue.hasSameBytes(as: right.messageType.rawValue) { return "messageType" }
        if !left.toolName.hasSameBytes(as: right.toolName) { return "toolName" }
        if !left.toolInputData.hasSameBytes(as: right.toolInputData) { return "toolInputData" }
        if left.isError != right.isError { return "isError" }
        if !left.attachments.map(\.hashed).hasSameBytes(as: right.attachments.map(\.hashed)) { return "attachments" }
        if left.wasCancelled != right.wasCancelled { return "wasCancelled" }
        if left.taskGroupId != right.taskGroupId { return "taskGroupId" }
        if left.isTaskContainer != right.isTaskContainer { return "isTaskContainer" }
        return left.metadata.hasSameBytes(as: right.metadata) ? nil : "metadata"
    }

    /// Returns the name of the first different field; `nil` if there is none.
    package static func field(_ left: ConversationMessage, _ right: ConversationMessage) -> String? {
        let (left, right) = (left.mappingAttachments(\.hashed), right.mappingAttachments(\.hashed))
        guard EncodedMessage(left).bytes != EncodedMessage(right).bytes else { return nil }
        if !left.id.hasSameBytes(as: right.id) { return "id" }
        if !left.role.rawValue.hasSameBytes(as: right.role.rawValue) { return "role" }
        if left.timestamp != right.timestamp { return "timestamp" }
        if JSONValue.write(object: left.metadata) != JSONValue.write(object: right.metadata) { return "metadata" }
        if !left.unknownFields.hasSameBytes(as: right.unknownFields) { return "unknownFields" }
        return "parts"
    }
}

extension ConversationMessage {
    /// Compares the parts of two messages byte by byte, and attachments by their hashes.
    package func hasSameParts(as other: ConversationMessage) -> Bool {
        if parts.count == 1, other.parts.count == 1, let text = parts[0].text, let otherText = other.parts[0].text {
            return text.hasSameBytes(as: otherText)
        }
        var same = self
        same.parts = other.parts
        return MessageDifference.field(self, same) == nil
    }
}

extension RecollectError {
    /// Returns the error for different content under a message's ID, in the target or twice in the source. The target
    /// is left unchanged.
    static func conflict(session: String, message: String, field: String) -> RecollectError {
        RecollectError(
            .conflict,
            "session \(session): two messages with the ID \(message) differ in `\(field)`, one in each store or both in "
                + "the source; this run wrote nothing to this session: delete one or change its ID, and migrate again")
    }

    /// Returns the error for a field read back differently from the target.
    package static func verificationFailed(session: String, message: String, field: String) -> RecollectError {
        verificationFailed(session: session, "the `\(field)` of message \(message) was changed by the target")
    }

    /// Returns the error for a target without the saved content.
    static func verificationFailed(session: String, _ what: String) -> RecollectError {
        RecollectError(
            .verificationFailed,
            "session \(session): \(what); the migration stopped, and the source is unchanged")
    }
}

extension Attachment {
    /// The attachment with the hash of its bytes in place of them. The number of bytes follows from the hash, so a wrong one
    /// is no difference.
    fileprivate var hashed: Attachment {
        Attachment(mediaType: mediaType, name: name, content: content.hashed)
    }
}

extension Attachment.Content {
    fileprivate var hashed: Attachment.Content {
        switch self {
        case .inline(let bytes): .stored(sha256: Attachment.sha256(of: bytes), byteCount: 0)
        case .stored(let hash, _): .stored(sha256: hash, byteCount: 0)
        case .remote: self
        }
    }
}
