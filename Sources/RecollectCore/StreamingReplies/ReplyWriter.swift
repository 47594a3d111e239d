/// The persistence of a streaming reply in a store.
package protocol ReplyWriter: Sendable {
    /// Saves the current content of the reply in place of the last saved one, so that a call with an unknown result
    /// can be repeated.
    /// - Parameters:
    ///   - text: The text at its end; `nil` if the last part is not text.
    ///   - parts: All parts before the text, at least one; `nil` if unchanged since the last save.
    func save(_ text: String?, behind parts: [ContentPart]?) async throws
    /// Makes the reply a message and removes the streaming reply, in one step. A message of the scope with the same
    /// ID is edited.
    /// - Parameter isAppended: Whether the message has the appended content, and was not given at the end. Then a longer
    ///   increment saved by another writer of the store replaces its text.
    func finish(_ message: ConversationMessage, isAppended: Bool) async throws
}
