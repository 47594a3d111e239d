extension ConversationMessage {
    /// Whether the content is the same, regardless of the IDs.
    package func hasSameContent(as other: ConversationMessage) -> Bool {
        // `==` treats canonically equivalent texts as equal. Their JSON differs.
        role.rawValue.hasSameBytes(as: other.role.rawValue) && timestamp == other.timestamp
            && ContentPart.write(list: parts).hasSameBytes(as: ContentPart.write(list: other.parts))
            && JSONValue.write(object: metadata).hasSameBytes(as: JSONValue.write(object: other.metadata))
            && JSONValue.write(object: unknownFields).hasSameBytes(as: JSONValue.write(object: other.unknownFields))
    }
}
