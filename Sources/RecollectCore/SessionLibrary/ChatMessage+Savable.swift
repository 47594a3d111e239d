extension [ChatMessage] {
    /// Throws an error for entries impossible to read again.
    /// - Throws: `tooLarge` for more than `JSONValue.depthLimit` levels, `invalidArgument` for a number without a
    ///   JSON representation.
    func checkSavable() throws(RecollectError) {
        for entry in self {
            for value in entry.metadata.values { try value.checkSavable(as: "a message's metadata") }
        }
    }
}
