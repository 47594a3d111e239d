import Foundation
import RecollectAgents
import RecollectCore

/// Tools for a model to read its user's history: `search_history` and `read_session`.
///
/// ```swift
/// let assistant = Agent(
///     name: "Assistant", description: "Answers from earlier sessions.", model: client,
///     tools: HistoryTools(history: history).all)
/// ```
///
/// The tools read the messages of the turn's user (`AgentContext.userId`) in all sessions and with all agents, and
/// none of any other user. Discarded sessions are neither found nor read. The turn's own input
/// (`AgentContext.inputId`) is not found. Results are limited in size; a result says how to read on. Invalid
/// arguments are reported to the model as text; errors of the history are thrown.
public struct HistoryTools: Sendable {
    private let history: any HistoryStore
    private let calendar: Calendar

    /// Creates the tools.
    /// - Parameters:
    ///   - history: The store to read.
    ///   - calendar: The calendar with the time zone for days and dates.
    public init(history: any HistoryStore, calendar: Calendar = .current) {
        self.history = history
        self.calendar = calendar
    }

    /// Both tools.
    public var all: [AgentTool] { [searchHistory, readSession] }

    /// `search_history`: finds messages by a question or their words, best first, at most 20. Each hit has the session,
    /// its title, the message ID, the agent, the role, the date, a snippet, and the words of the query that it lacks or that
    /// were corrected.
    public var searchHistory: AgentTool {
        AgentTool(
            name: HistoryQuotation.searchTool,
            description: """
                Searches the messages of this user's earlier sessions, both the user's and the agents'. The query may be a question or a \
                few words. Messages with all of its words come first, then those with some, or near them. To read the messages around \
                a hit, use read_session.
                """,
            properties: [
                "query": [
                    "type": "string",
                    "description": """
                    A question, or the words to find. A message must have a phrase in quotation marks and a word after +, and must \
                    not have a word after -. Misspelled words are corrected.
                    """,
                ],
                "session": [
                    "type": "string", "description": "Search only this session: its ID, or the beginning of its ID.",
                ],
                "agent": ["type": "string", "description": "Search only messages to and from this agent: its ID."],
                "role": [
                    "type": "string", "enum": ["user", "assistant"],
                    "description": "Search only messages with this role.",
                ],
                "since": [
                    "type": "string", "description": "Search only from this day (2026-05-03) or time (ISO 8601) on.",
                ],
                "until": ["type": "string", "description": "Search only to the end of this day, or before this time."],
                "limit": [
                    "type": "integer", "minimum": 1, "maximum": 20,
                    "description": "Maximum number of hits (default 8).",
                ],
            ],
            required: ["query"], calendar: calendar, run: search)
    }

    /// `read_session`: reads a session in pages of at most 50 messages and about 16 KB.
    public var readSession: AgentTool {
        AgentTool(
            name: HistoryQuotation.readTool,
            description: """
                Reads the messages of one of this user's sessions in order: from the beginning, or after or before a given \
                message. If there are more, the result says how to continue.
                """,
            properties: [
                "session": ["type": "string", "description": "The session's ID, or the beginning of it."],
                "after": ["type": "string", "description": "Return the messages after the message with this ID."],
                "before": ["type": "string", "description": "Return the messages before the message with this ID."],
                "agent": [
                    "type": "string",
                    "description": "The agent of the “after” or “before” message, if several agents have its ID.",
                ],
                "limit": [
                    "type": "integer", "minimum": 1, "maximum": 50,
                    "description": "Maximum number of messages (default 20).",
                ],
            ],
            required: ["session"], calendar: calendar, run: read)
    }

    @Sendable private func search(_ arguments: ToolArguments, _ context: AgentContext) async throws -> JSONValue {
        var query = SearchQuery(userId: context.userId, text: try arguments.requiredText("query"))
        query.agentId = try arguments.text("agent")
        query.roles = try arguments.choice("role", of: ["user", "assistant"]).map { [Role(rawValue: $0)] } ?? []
        query.from = try arguments.date("since", isEnd: false)
        query.until = try arguments.date("until", isEnd: true)
        let limit = try arguments.number("limit", in: 1...20, default: 8)
        // One more, because the current input may be among the hits.
        query.limit = limit + 1
        if let id = try arguments.text("session") {
            query.sessionId = try await session(id, of: context.userId).id.sessionId
        }
        let page = try await history.search(query)
        let found = page.elements.filter { hit in
            hit.session != context.session || !(context.inputId?.hasSameBytes(as: hit.messageId) ?? false)
        }
        var hits: [JSONValue] = []
        for hit in found.prefix(limit) {
            let title = try await history.session(hit.session)?.displayTitle ?? hit.session.sessionId
            var listed: [String: JSONValue] = [
                "session": .string(hit.session.sessionId), "title": .string(title.onOneLine(atMost: 80)),
                "message": .string(hit.messageId), "agent": .string(hit.agentId), "role": .string(hit.role.rawValue),
                "when": hit.timestamp.forModel(in: calendar),
                "snippet": .string(hit.snippet.text.onOneLine(atMost: 600)),
            ]
            if !hit.missingWords.isEmpty {
                listed["missing"] = .string(hit.missingWords.joined(separator: ", ").onOneLine(atMost: 200))
            }
            if !hit.correctedWords.isEmpty {
                listed["corrected"] = .object(hit.correctedWords.mapValues(JSONValue.string))
            }
            hits.append(.object(listed))
        }
        var result: [String: JSONValue] = ["hits": .array(hits)]
        if page.next != nil || found.count > limit {
            result["note"] = "There are more hits. Add words or search a shorter period."
        }
        if hits.isEmpty { result["note"] = "No hits. Try fewer or other words, or a longer period." }
        return .object(result)
    }

    @Sendable private func read(_ arguments: ToolArguments, _ context: AgentContext) async throws -> JSONValue {
        let limit = try arguments.number("limit", in: 1...50, default: 20)
        let after = try arguments.text("after")
        let before = try arguments.text("before")
        guard after == nil || before == nil else {
            throw ToolArguments.Failure(message: "Use “after” or “before”, not both.")
        }
        let session = try await session(arguments.requiredText("session"), of: context.userId)
        let agent = try arguments.text("agent")
        let cursor = try await cursor(of: after ?? before, agentId: agent, in: session.id)
        let page = try await history.messages(
            of: session.id, agentId: nil,
            page: before == nil ? PageRequest(limit: limit, after: cursor) : PageRequest(limit: limit, before: cursor))
        let pages = SessionPages(page, isBackward: before != nil, calendar: calendar)
        var result: [String: JSONValue] = [
            "session": .string(session.id.sessionId),
            "title": .string(session.displayTitle.onOneLine(atMost: 80)),
            "messages": .array(pages.messages),
        ]
        if let next = pages.next {
            var reference = "\(before == nil ? "after" : "before") = \(next.message.id)"
            // Several agents may have received a message with the same ID.
            if try await history.message(next.message.id, in: session.id)?.cursor != next.cursor {
                reference += " and agent = \(next.agentId)"
            }
            result["note"] = .string("There are more messages. To continue: \(reference)")
        }
        return .object(result)
    }

    /// Returns the session with an ID, otherwise the only session with an ID beginning with it.
    private func session(_ sessionId: String, of userId: String) async throws -> Session {
        let key = SessionKey(userId: userId, sessionId: sessionId)
        if let session = try await history.session(key), session.discardedAt == nil {
            return session
        }
        let matching = try await history.sessions(of: userId, sessionIdPrefix: sessionId, limit: 20)
            .filter { $0.discardedAt == nil }
        guard let first = matching.first else {
            throw ToolArguments.Failure(
                message: "There is no session with that ID. Use the ID from a search_history hit.")
        }
        guard matching.count == 1 else {
            let ids = matching.prefix(5).map(\.id.sessionId).joined(separator: ", ")
            throw ToolArguments.Failure(message: "Several session IDs begin like that: \(ids). Use the full ID.")
        }
        return first
    }

    private func cursor(
        of messageId: String?, agentId: String?, in session: SessionKey
    ) async throws -> MessageCursor? {
        guard let messageId else { return nil }
        guard let stored = try await history.message(messageId, in: session, agentId: agentId) else {
            throw ToolArguments.Failure(
                message: "The session has no message with that ID. Omit it to read from the beginning.")
        }
        return stored.cursor
    }
}

/// The messages of one page for a model, within the size limit.
private struct SessionPages {
    /// The messages in order.
    private(set) var messages: [JSONValue] = []
    /// The message adjacent to the next page; `nil` if there is none.
    private(set) var next: StoredMessage?

    private static let maxBytes = 16_000
    private static let maxMessageBytes = 4_000

    init(_ page: Page<StoredMessage, MessageCursor>, isBackward: Bool, calendar: Calendar) {
        var bytes = 0
        var taken: [StoredMessage] = []
        for stored in isBackward ? page.elements.reversed() : page.elements {
            let text = Self.text(of: stored.message)
            bytes += min(text.utf8.count, Self.maxMessageBytes) + 200
            if bytes > Self.maxBytes, !taken.isEmpty { break }
            taken.append(stored)
            var message: [String: JSONValue] = [
                "message": .string(stored.message.id), "agent": .string(stored.agentId),
                "role": .string(stored.message.role.rawValue), "when": stored.message.timestamp.forModel(in: calendar),
                "text": .string(Self.cut(text)),
            ]
            if text.utf8.count > Self.maxMessageBytes { message["cut"] = true }
            messages.append(.object(message))
        }
        if isBackward { messages.reverse() }
        if taken.count < page.elements.count || page.next != nil { next = taken.last }
    }

    private static func text(of message: ConversationMessage) -> String {
        message.parts.compactMap { part in
            switch part {
            case .text(let text), .audioTranscript(let text): text
            case .toolCall(_, let name, _): "(calls \(name))"
            case .toolResult: "(a tool result)"
            case .attachment: "(an attachment)"
            case .thinking, .unknown: nil
            }
        }.joined(separator: "\n")
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > maxMessageBytes else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: maxMessageBytes)
        while String.Index(end, within: text) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}
