import RecollectCore

/// The attachments of a synchronized chat.
extension ChatsArea {
    /// Writes the attachments removed by edits beside the session's file, with their bytes. The file has only the hashes.
    /// - Returns: The edits without those of attachments too large for the workspace.
    func keepingAttachments(
        removedBy edits: [MessageEdit], in session: SessionKey, of history: some HistoryStore
    ) async throws -> [MessageEdit] {
        var kept: [MessageEdit] = []
        for edit in edits {
            do {
                try await keepAttachments(removedBy: edit, in: session, of: history)
                kept.append(edit)
            } catch let error as RecollectError where error.code == .tooLarge {
                workspace.configuration.logger.warning("an edit of a chat is not saved: \(error)")
            }
        }
        return kept
    }

    private func keepAttachments(
        removedBy edit: MessageEdit, in session: SessionKey, of history: some HistoryStore
    ) async throws {
        let remaining = Set(edit.new.storedAttachments)
        for attachment in edit.old.attachments {
            guard case .stored(let hash, _) = attachment.content, !remaining.contains(hash) else { continue }
            let bytes: [UInt8]
            do {
                bytes = Array(try await history.attachment(sha256: hash))
            } catch let error as RecollectError where error.code == .notFound || error.code == .damaged {
                continue
            }
            let path = path(of: attachment, in: session.sessionId)
            try await workspace.writing { [writer = workspace.writer] in _ = try writer.keep(bytes, beside: path) }
        }
    }

    /// Returns the base of a kept attachment's path: beside the session's file, with the extension of the attachment's name.
    private func path(of attachment: Attachment, in sessionId: String) -> WorkspacePath {
        let ending = (attachment.name ?? "").split(separator: ".").dropFirst().last.map(String.init) ?? ""
        let isPlain =
            (1...8).contains(ending.utf8.count) && ending.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        // A file named `.json` would be a session's.
        let hasEnding = isPlain && ending.lowercased() != "json"
        let name = FileNameEncoding.name(for: sessionId) + " attachment" + (hasEnding ? ".\(ending)" : "")
        return WorkspacePath(checked: ["Chats", name])
    }
}
