import Foundation
import RecollectCore

/// What the session view asks of a history.
extension SQLiteHistoryStore {
    /// All messages of a conversation in order, replies in flight at the end.
    func transcript(of conversation: ConversationID) async throws -> [ConversationMessage] {
        // Replies first: one that ends between the two is then in both, and not in neither.
        let replies = try await repliesInFlight(in: conversation)
        let messages = try await read { db in
            try MessageQueries.number(of: conversation, db).map { try MessageQueries.all(of: $0, db) } ?? []
        }
        guard !replies.isEmpty else { return messages }
        // It may have ended meanwhile, or a UI saved it itself while it streams.
        let saved = Set(messages.map { ByteString($0.id) })
        return messages + replies.map(\.message).filter { !saved.contains(ByteString($0.id)) }
    }

    /// The same on the thread that asks, with the bytes of attachments. Blocks.
    func transcriptNow(of conversation: ConversationID) throws -> [ConversationMessage] {
        let messages = try readNow { db in
            try MessageQueries.number(of: conversation, db).map { try MessageQueries.all(of: $0, db) } ?? []
        }
        return try messages.map { message in
            try message.mappingAttachments { content in
                guard case .stored(let hash, _) = content else { return content }
                do {
                    return .inline(try attachments.read(hash))
                } catch let error as RecollectError where error.code == .notFound || error.code == .damaged {
                    return content
                }
            }
        }
    }
}
