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
                workspace.configuration.logger.warning("an edit in a chat was not saved: \(error)")
            }
        }
        return kept
    }

    /// Publishes a session, and reads the attachments to be kept beside the file from the history.
    func publishing<Result>(
        attachmentsOf history: some HistoryStore, userId: String, _ publish: ([String: [UInt8]]) async throws -> Result
    ) async throws -> Result {
        var attachments: [String: [UInt8]] = [:]
        while true {
            do {
                return try await publish(attachments)
            } catch let unread as UnreadAttachments {
                // Missing bytes are empty.
                for hash in unread.hashes {
                    attachments[hash] = try await bytes(of: hash, userId: userId, in: history) ?? []
                }
            }
        }
    }

    /// Writes the attachments of messages missing in a merge beside the session's file, with their bytes. Attachments too large
    /// for the workspace stay in the history alone.
    /// - Throws: `UnreadAttachments` if there are others than the given ones.
    func keep(
        _ attachments: [String: [UInt8]], of missing: ChatProjection, missingIn merged: ChatProjection
    ) throws {
        let there = Set(merged.entries.flatMap(\.message.storedAttachments))
        let lost = missing.entries.flatMap(\.message.attachments).filter { attachment in
            attachment.storedHash.map { !there.contains($0) } ?? false
        }
        let unread = lost.compactMap(\.storedHash).filter { attachments[$0] == nil }
        guard unread.isEmpty else { throw UnreadAttachments(hashes: unread) }
        for attachment in lost {
            guard let bytes = attachment.storedHash.flatMap({ attachments[$0] }), !bytes.isEmpty else { continue }
            do {
                _ = try workspace.writer.keep(bytes, beside: path(of: attachment, in: missing.session))
            } catch let error as RecollectError where error.code == .tooLarge {
                workspace.configuration.logger.warning("an attachment was not saved: \(error)")
            }
        }
    }

    /// Returns the bytes of an attachment; `nil` if the history does not have them.
    private func bytes(of hash: String, userId: String, in history: some HistoryStore) async throws -> [UInt8]? {
        do {
            return Array(try await history.attachment(sha256: hash, userId: userId))
        } catch let error as RecollectError where error.code == .notFound || error.code == .damaged {
            return nil
        }
    }

    private func keepAttachments(
        removedBy edit: MessageEdit, in session: SessionKey, of history: some HistoryStore
    ) async throws {
        let remaining = Set(edit.new.storedAttachments)
        for attachment in edit.old.attachments {
            guard let hash = attachment.storedHash, !remaining.contains(hash),
                let bytes = try await bytes(of: hash, userId: session.userId, in: history)
            else { continue }
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

/// The bytes of attachments must be read from the history before a chat is published.
struct UnreadAttachments: Error {
    let hashes: [String]
}

extension Attachment {
    /// The hash of an attachment stored by hash.
    fileprivate var storedHash: String? {
        guard case .stored(let hash, _) = content else { return nil }
        return hash
    }
}
