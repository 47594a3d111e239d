import Foundation
import RecollectCore

/// Writes a conversation as a file that others can read, page by page, so that memory does not grow with its length.
public struct ConversationExporter: Sendable {
    /// What is written.
    public enum Format: String, CaseIterable, Sendable {
        /// One JSON object: the session's details and its messages.
        case json
        /// One message a line, with everything that it holds; importing it gives equal messages.
        case jsonl
        /// Prose to read.
        case markdown
    }

    private let history: any HistoryStore
    private let maxLineBytes: Int
    private static let pageSize = 200

    /// An attachment whose bytes the history does not have, or not as they were saved.
    public struct MissingAttachment: Sendable, Hashable {
        /// The message that holds it.
        public let messageId: String
        /// The SHA-256 of its bytes.
        public let sha256: String
    }

    /// Makes an exporter of a history.
    public init(history: any HistoryStore) {
        self.init(history: history, maxLineBytes: HistoryLine.maxBytes)
    }

    init(history: any HistoryStore, maxLineBytes: Int) {
        self.history = history
        self.maxLineBytes = maxLineBytes
    }

    /// Exports a conversation: messages of all agents in the order of saving.
    ///
    /// `write` gets the text in pieces, in order, on the caller's task, and is waited for. Attachments go along in base64,
    /// but not into Markdown. One whose bytes are gone or damaged goes along as its hash, and its message with it.
    /// - Returns: The attachments that went along without their bytes.
    /// - Throws: `notFound` for an unknown conversation; `tooLarge` for a message of more than 1 GB in `jsonl`, the limit of an
    ///   import; errors of the history and of `write`.
    @discardableResult
    public func export(
        _ id: ConversationID, as format: Format, to write: ([UInt8]) async throws -> Void
    ) async throws -> [MissingAttachment] {
        guard let conversation = try await history.conversation(id) else {
            throw RecollectError(.notFound, "there is no session \(id.sessionId)")
        }
        try await write(Self.head(of: conversation, format))
        var page = PageRequest<MessageCursor>(limit: Self.pageSize)
        var isFirst = true
        var missing: [MissingAttachment] = []
        while true {
            let messages = try await history.messages(of: id, agentId: nil, page: page)
            var bytes: [UInt8] = []
            for var stored in messages.elements {
                if format != .markdown { stored.message = try await withAttachments(stored.message, &missing) }
                if format == .json, !isFirst { bytes += Array(",\n".utf8) }
                bytes += try text(of: stored, in: conversation, format)
                isFirst = false
            }
            try await write(bytes)
            guard let next = messages.next else { break }
            page = PageRequest(limit: Self.pageSize, after: next)
        }
        if format == .json { try await write(Array("\n]}\n".utf8)) }
        return missing
    }

    private static func head(of conversation: Conversation, _ format: Format) -> [UInt8] {
        switch format {
        case .json: return Array("{\"session\":\(conversation.listed.jsonString),\"messages\":[\n".utf8)
        case .jsonl: return HistoryLine.header(of: conversation)
        case .markdown: return Array(Markdown.head(of: conversation).utf8)
        }
    }

    private func text(of stored: StoredMessage, in conversation: Conversation, _ format: Format) throws -> [UInt8] {
        switch format {
        case .json:
            var writer = JSONWriter()
            stored.writeListed(to: &writer)
            return writer.bytes
        case .jsonl:
            let line = HistoryLine.line(of: stored.message, agentId: stored.agentId)
            guard line.count <= maxLineBytes else {
                throw RecollectError(
                    .tooLarge,
                    "message \(stored.message.id) of session \(conversation.id.sessionId) takes \(line.count) bytes with its"
                        + " attachments, and an import reads lines up to \(maxLineBytes); export it as JSON")
            }
            return line
        case .markdown: return Array(Markdown.section(of: stored, showsAgent: conversation.agents.count > 1).utf8)
        }
    }

    /// The message with the bytes of its attachments, as far as they are there.
    private func withAttachments(
        _ message: ConversationMessage, _ missing: inout [MissingAttachment]
    ) async throws -> ConversationMessage {
        var message = message
        for (index, part) in message.parts.enumerated() {
            guard case .attachment(var attachment) = part, case .stored(let sha256, _) = attachment.content else {
                continue
            }
            do {
                attachment.content = .inline(try await history.attachment(sha256: sha256))
                message.parts[index] = .attachment(attachment)
            } catch let error as RecollectError where error.isMissingAttachment {
                missing.append(MissingAttachment(messageId: message.id, sha256: sha256))
            }
        }
        return message
    }
}

extension RecollectError {
    /// Whether a history throws it for an attachment without bytes: not kept, changed, or without a valid hash.
    fileprivate var isMissingAttachment: Bool { [.notFound, .damaged, .invalidArgument].contains(code) }
}
