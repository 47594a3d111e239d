/// A history that can tell cheaply whether a conversation's windows have changed: what is behind `VersionedChatStorage` of its view.
package protocol VersionedHistory: HistoryStore {
    /// The name of the state of a conversation's windows: see `VersionedChatStorage`.
    func version(of conversation: ConversationID) async throws -> ChatVersion
}
