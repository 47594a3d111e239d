import Foundation
import RecollectCore

/// Exports a session as a file for other programs, page by page, with memory independent of its length.
///
/// ```swift
/// try await SessionExporter(history: history).export(session, as: .markdown) { try file.write(contentsOf: $0) }
/// ```
public struct SessionExporter: Sendable {
    /// The format of the file.
    public enum Format: String, CaseIterable, Sendable {
        /// One JSON object with the session's details and messages.
        case json
        /// One complete message per line. Importing the file gives equal messages.
        case jsonl
        /// Text to read.
        case markdown
    }

    private let history: any HistoryStore
    private let maxLineBytes: Int
    private static let pageSize = 200

    /// An attachment with missing or damaged content.
    public struct MissingAttachment: Sendable, Hashable {
        /// The ID of the message with the attachment.
        public let messageId: String
        /// The SHA-256 of the attachment's content.
        public let sha256: String
    }

    /// Creates an exporter of a history.
    public init(history: any HistoryStore) {
        self.init(history: history, maxLineBytes: HistoryLine.maxBytes)
    }

    init(history: any HistoryStore, maxLineBytes: Int) {
        self.history = history
        self.maxLineBytes = maxLineBytes
    }

    /// Exports a session: messages of all agents in the order of the session.
    ///
    /// Attachments are included in base64, except in Markdown. One with missing or damaged content is included as
    /// its hash, together with its message.
    ///
    /// - Parameters:
    ///   - id: The session.
    ///   - format: The format of the text.
    ///   - write: Receives the text in pieces, in order, on the caller's task; each call is awaited.
    /// - Returns: The attachments included without their content.
    /// - Throws: `notFound` for an unknown session; `tooLarge` in `jsonl` for a message of more than 1 GiB, the
    ///   limit of an import; errors of the history and of `write`.
    @discardableResult
    public func export(
        _ id: SessionKey, as format: Format, to write: ([UInt8]) async throws -> Void
    ) async throws -> [MissingAttachment] {
        guard let session = try await history.session(id) else {
            throw RecollectError(.notFound, "there is no session \(id.sessionId)")
        }
        try await write(Self.head(of: session, format))
        var isFirst = true
        var missing: [MissingAttachment] = []
        try await history.forEachPage(of: id, pageSize: Self.pageSize) { page in
            var bytes: [UInt8] = []
            for var stored in page {
                if format != .markdown {
                    stored.message = try await withAttachments(stored.message, of: id.userId, &missing)
                }
                if format == .json, !isFirst { bytes += Array(",\n".utf8) }
                bytes += try text(of: stored, in: session, format)
                isFirst = false
            }
            try await write(bytes)
        }
        if format == .json { try await write(Array("\n]}\n".utf8)) }
        return missing
    }

    private static func head(of session: Session, _ format: Format) -> [UInt8] {
        switch format {
        case .json: return Array("{\"session\":\(session.listed.jsonString),\"messages\":[\n".utf8)
        case .jsonl: return HistoryLine.header(of: session)
        case .markdown: return Array(Markdown.head(of: session).utf8)
        }
    }

    private func text(of stored: StoredMessage, in session: Session, _ format: Format) throws -> [UInt8] {
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
                    "message \(stored.message.id) of session \(session.id.sessionId) is \(line.count) bytes with its"
                        + " attachments, but an import reads at most \(maxLineBytes) bytes per line; export it as JSON")
            }
            return line
        case .markdown: return Array(Markdown.section(of: stored, in: session).utf8)
        }
    }

    /// Returns the message with the content of its attachments, as far as available.
    private func withAttachments(
        _ message: ConversationMessage, of userId: String, _ missing: inout [MissingAttachment]
    ) async throws -> ConversationMessage {
        var message = message
        for (index, part) in message.parts.enumerated() {
            guard case .attachment(var attachment) = part, case .stored(let sha256, _) = attachment.content else {
                continue
            }
            do {
                attachment.content = .inline(try await history.attachment(sha256: sha256, userId: userId))
                message.parts[index] = .attachment(attachment)
            } catch let error as RecollectError where error.isMissingAttachment {
                missing.append(MissingAttachment(messageId: message.id, sha256: sha256))
            }
        }
        return message
    }
}

extension RecollectError {
    /// Whether a history throws the error for an attachment without content: missing, damaged, or without a valid
    /// hash.
    fileprivate var isMissingAttachment: Bool { [.notFound, .damaged, .invalidArgument].contains(code) }
}
