/// What a message's metadata says of how it came to its end.
extension ConversationMessage {
    /// Whether it was stopped before all of it had been said: by its user, by a failure, or because the process ended.
    public var isInterrupted: Bool {
        get { metadata[Self.interrupted] == true }
        set { metadata[Self.interrupted] = newValue ? true : nil }
    }

    /// Whether more of it may come: true only of replies in flight, never of a saved message.
    public var isInFlight: Bool {
        get { metadata[Self.inFlight] == true }
        set { metadata[Self.inFlight] = newValue ? true : nil }
    }

    private static let interrupted = "interrupted"
    private static let inFlight = "inFlight"
}
