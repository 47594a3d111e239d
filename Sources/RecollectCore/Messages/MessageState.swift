/// Metadata about the state of a message.
extension ConversationMessage {
    /// Whether the message was stopped before its end: by its user, by a failure, or by the end of the process.
    public var isInterrupted: Bool {
        get { metadata[Self.interrupted] == true }
        set { metadata[Self.interrupted] = newValue ? true : nil }
    }

    /// Whether the message is a streaming reply. Saved messages never have this mark.
    public var isStreaming: Bool {
        get { metadata[Self.streaming] == true }
        set { metadata[Self.streaming] = newValue ? true : nil }
    }

    /// Whether a window by tokens prefers the message's turn to newer ones: see `HistoryStore.window(of:tokens:)`.
    public var isPinned: Bool {
        get { metadata[Self.pinned] == true }
        set { metadata[Self.pinned] = newValue ? true : nil }
    }

    private static let interrupted = "interrupted"
    private static let streaming = "streamingReply"
    package static let pinned = "pinned"
}
