import Foundation

extension HistoryStore {
    /// Returns messages of a user with the bytes of all their attachments in this store.
    ///
    /// An attachment with missing or damaged bytes stays a hash, so that its message can still be read. For such a
    /// hash, `attachment(sha256:userId:)` throws the reason.
    public func restoringAttachments(
        of messages: [ConversationMessage], userId: String
    ) async throws -> [ConversationMessage] {
        guard messages.contains(where: \.hasAttachments) else { return messages }
        var bytes: [String: Data] = [:]
        for hash in Set(messages.flatMap(\.storedAttachments)) {
            do {
                bytes[hash] = try await attachment(sha256: hash, userId: userId)
            } catch let error as RecollectError where error.code == .notFound || error.code == .damaged {
                continue
            }
        }
        return messages.map { message in
            message.mappingAttachments { content in
                guard case .stored(let hash, _) = content, let kept = bytes[hash] else { return content }
                return .inline(kept)
            }
        }
    }
}

extension ConversationMessage {
    /// Whether any part is an attachment.
    package var hasAttachments: Bool {
        parts.contains { part in
            if case .attachment = part { true } else { false }
        }
    }

    /// The attachments in order.
    package var attachments: [Attachment] {
        parts.compactMap { part in
            if case .attachment(let attachment) = part { attachment } else { nil }
        }
    }

    /// The hashes of attachments with bytes in a history.
    package var storedAttachments: [String] {
        attachments.compactMap { attachment in
            if case .stored(let hash, _) = attachment.content { hash } else { nil }
        }
    }

    /// Whether any attachment has its bytes in the message itself.
    package var hasInlineAttachments: Bool {
        parts.contains { part in
            if case .attachment(let attachment) = part, case .inline = attachment.content { return true }
            return false
        }
    }

    /// Returns the message with the content of every attachment replaced.
    package func mappingAttachments(
        _ transform: (Attachment.Content) throws -> Attachment.Content
    ) rethrows -> ConversationMessage {
        var message = self
        message.parts = try parts.map { part in
            guard case .attachment(var attachment) = part else { return part }
            attachment.content = try transform(attachment.content)
            return .attachment(attachment)
        }
        return message
    }
}

extension Sequence<ConversationMessage> {
    /// Returns the messages with every inline attachment replaced by its hash, and the bytes by hash.
    package func separatingAttachments() -> (messages: [ConversationMessage], bytes: [String: Data]) {
        var bytes: [String: Data] = [:]
        let messages = map { message in
            guard message.hasInlineAttachments else { return message }
            return message.mappingAttachments { content in
                guard case .inline(let data) = content else { return content }
                let hash = Attachment.sha256(of: data)
                bytes[hash] = data
                return .stored(sha256: hash, byteCount: data.count)
            }
        }
        return (messages, bytes)
    }
}

extension Attachment {
    /// Returns the error for a hash without bytes in a store.
    package static func missing(_ sha256: String) -> RecollectError {
        RecollectError(
            .notFound,
            isHash(sha256)
                ? "the attachment \(sha256) is not in this store"
                : "this store has no attachment \(sha256.prefix(80)): that is not a SHA-256 hash in lowercase hex digits"
        )
    }
}
