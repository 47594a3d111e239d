/// A history with a version for the windows of each session, for views conforming to `VersionedChatStorage`.
package protocol VersionedHistory: HistoryStore {
    /// Returns the version of a session's windows: see `VersionedChatStorage`.
    func version(of session: SessionKey) async throws -> ChatVersion
}
