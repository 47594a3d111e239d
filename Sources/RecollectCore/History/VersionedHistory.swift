/// A history with a version for the windows of each session, for a view that conforms to `VersionedChatStorage`.
package protocol VersionedHistory: HistoryStore {
    /// Returns the version of a session's windows: see `VersionedChatStorage`.
    func version(of conversation: ConversationID) async throws -> ChatVersion
}
