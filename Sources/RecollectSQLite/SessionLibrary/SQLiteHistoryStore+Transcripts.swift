import Foundation
import RecollectCore

/// Operations for the session view.
extension SQLiteHistoryStore {
    /// Returns all messages of a session in order, with their agents and the bytes of their attachments, and the sequence
    /// numbers of the saved ones. Streaming replies are at the end.
    func transcript(of session: SessionKey) async throws -> (messages: [AgentMessage], sequences: [SequenceNumber]) {
        // Replies are read first: a reply ending between the two reads is then in both, not in neither.
        let replies = try await streamingReplies(in: session)
        let saved = try await read { db in
            try MessageQueries.number(of: session, db).map { try MessageQueries.all(of: $0, db) } ?? []
        }
        let (messages, sequences) = (saved.map(\.message), saved.map(\.sequence))
        guard !replies.isEmpty else {
            return (try await restoringAttachments(of: messages, userId: session.userId), sequences)
        }
        // The reply may have ended meanwhile, or a UI saved it while it was streaming.
        let ids = Set(messages.map { [ByteString($0.agentId), ByteString($0.message.id)] })
        let streaming = replies.filter { reply in
            ["", reply.agentId].allSatisfy { !ids.contains([ByteString($0), ByteString(reply.message.id)]) }
        }
        return (try await restoringAttachments(of: messages + streaming, userId: session.userId), sequences)
    }

    /// Returns the entries of a page's messages as the whole transcript shows them, without entries shown before
    /// the page.
    func entries(of page: [StoredMessage], in session: SessionKey) async throws -> [ChatMessage] {
        let earlier = try await sharedIDs(of: page, in: session)
        var entries: [ChatMessage] = []
        for (stored, earlier) in zip(page, earlier) {
            let messages = try await restoringAttachments(
                of: earlier + [AgentMessage(agentId: stored.agentId, message: stored.message)],
                userId: session.userId)
            entries += Transcript(messages).entries.dropFirst(Transcript(messages.dropLast()).entries.count)
        }
        return entries
    }

    /// Returns, for each message, the earlier messages of other agents with the same ID.
    private func sharedIDs(
        of page: [StoredMessage], in session: SessionKey
    ) async throws -> [[AgentMessage]] {
        let hasOneAgent = try await read { db in
            try MessageQueries.number(of: session, db).map { try SessionRow.scopes(of: $0, db).count < 2 }
        }
        guard hasOneAgent == false else { return page.map { _ in [] } }
        return try await readUpToDate { db in
            guard let number = try MessageQueries.number(of: session, db) else { return page.map { _ in [] } }
            return try page.map { stored in
                try MessageQueries.sequences(of: stored.message.id, in: number, db)
                    .compactMap { try MessageQueries.stored($0, db) }
                    .filter { $0.cursor < stored.cursor }.map { AgentMessage(agentId: $0.agentId, message: $0.message) }
            }
        }
    }

    /// Returns messages of a user with the bytes of their attachments.
    func restoringAttachments(of messages: [AgentMessage], userId: String) async throws -> [AgentMessage] {
        let restored = try await restoringAttachments(of: messages.map(\.message), userId: userId)
        return zip(messages, restored).map { AgentMessage(agentId: $0.agentId, message: $1) }
    }

    /// Returns the saved messages on the calling thread, with the bytes of attachments. Blocks.
    func transcriptNow(of session: SessionKey) throws -> [AgentMessage] {
        let messages = try readNow { db in
            try MessageQueries.number(of: session, db).map { try MessageQueries.all(of: $0, db) } ?? []
        }
        return try messages.map(\.message).map { item in
            let restored = try item.message.mappingAttachments { content in
                guard case .stored(let hash, _) = content else { return content }
                do {
                    return .inline(try attachments.read(hash))
                } catch let error as RecollectError where error.code == .notFound || error.code == .damaged {
                    return content
                }
            }
            return AgentMessage(agentId: item.agentId, message: restored)
        }
    }
}
