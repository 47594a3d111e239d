import Foundation
import RecollectAgents
import RecollectCore

/// Tools for a model to read its user's history: `search_history`, `read_session` and `list_sessions`.
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

    /// All tools.
    public var all: [AgentTool] { [searchHistory, readSession, listSessions] }

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
                "order": [
                    "type": "string", "enum": .array(Self.orders.keys.sorted().map(JSONValue.string)),
                    "description": "The order of the hits (default relevance). By date, a hit has all of the words.",
                ],
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
                Reads the messages of one of this user's sessions in order: from the beginning, or around, after or before a given \
                message. If there are more, the result says how to continue.
                """,
            properties: [
                "session": ["type": "string", "description": "The session's ID, or the beginning of it."],
                "around": [
                    "type": "string",
                    "description":
                        "Return the message with this ID, such as that of a hit, and the messages before and after it.",
                ],
                "after": ["type": "string", "description": "Return the messages after the message with this ID."],
                "before": ["type": "string", "description": "Return the messages before the message with this ID."],
                "agent": [
                    "type": "string",
                    "description": "The agent of the message with the given ID, if several agents have one.",
                ],
                "limit": [
                    "type": "integer", "minimum": 1, "maximum": 50,
                    "description": "Maximum number of messages (default 20).",
                ],
            ],
            required: ["session"], calendar: calendar, run: read)
    }

    /// `list_sessions`: lists the sessions by their latest activity, at most 50.
    public var listSessions: AgentTool {
        AgentTool(
            name: HistoryQuotation.listTool,
            description: """
                Lists this user's sessions, the latest activity first, with title, dates, number of messages and agents. To find \
                something that was said, use search_history.
                """,
            properties: [
                "query": [
                    "type": "string", "description": "List only sessions with all of these words in title or messages.",
                ],
                "since": [
                    "type": "string",
                    "description": "List only sessions with activity from this day (2026-05-03) or time (ISO 8601) on.",
                ],
                "until": [
                    "type": "string",
                    "description": "List only sessions without activity after this day, or from this time on.",
                ],
                "after": ["type": "string", "description": "Continue after the session with this ID."],
                "limit": [
                    "type": "integer", "minimum": 1, "maximum": 50,
                    "description": "Maximum number of sessions (default 20).",
                ],
            ],
            required: [], calendar: calendar, run: list)
    }

    private static let orders: [String: SearchOrder] = [
        "relevance": .relevance, "newest": .newestFirst, "oldest": .oldestFirst,
    ]

    @Sendable private func search(_ arguments: ToolArguments, _ context: AgentContext) async throws -> JSONValue {
        var query = SearchQuery(userId: context.userId, text: try arguments.requiredText("query"))
        query.agentId = try arguments.text("agent")
        query.roles = try arguments.choice("role", of: ["user", "assistant"]).map { [Role(rawValue: $0)] } ?? []
        query.from = try arguments.date("since", isEnd: false)
        query.until = try arguments.date("until", isEnd: true)
        query.order =
            try arguments.choice("order", of: Self.orders.keys.sorted()).flatMap { Self.orders[$0] } ?? .relevance
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
        let (after, before) = (try arguments.text("after"), try arguments.text("before"))
        let around = try arguments.text("around")
        guard [around, after, before].compactMap(\.self).count < 2 else {
            throw ToolArguments.Failure(message: "Use only one of “around”, “after” and “before”.")
        }
        let session = try await session(arguments.requiredText("session"), of: context.userId)
        let agent = try arguments.text("agent")
        let stored = try await message(around ?? after ?? before, agentId: agent, in: session.id)
        let pages: [SessionPage]
        if around != nil, let stored {
            let own = Page<StoredMessage, MessageCursor>(elements: [stored], next: nil)
            let (earlier, later) = (limit / 2, (limit - 1) / 2)
            pages = [
                earlier > 0
                    ? try await page(.init(limit: earlier, before: stored.cursor), of: session, share: 0.4) : nil,
                SessionPage(own, isBackward: false, calendar: calendar),
                later > 0 ? try await page(.init(limit: later, after: stored.cursor), of: session, share: 0.4) : nil,
            ].compactMap(\.self)
        } else if before != nil {
            pages = [try await page(.init(limit: limit, before: stored?.cursor), of: session)]
        } else {
            pages = [try await page(.init(limit: limit, after: stored?.cursor), of: session)]
        }
        var result: [String: JSONValue] = [
            "session": .string(session.id.sessionId),
            "title": .string(session.displayTitle.onOneLine(atMost: 80)),
            "messages": .array(pages.flatMap(\.messages)),
        ]
        var continuations: [String] = []
        for page in pages {
            guard let next = page.next else { continue }
            var reference = "\(page.isBackward ? "before" : "after") = \(next.message.id)"
            // Several agents may have received a message with the same ID.
            if try await history.message(next.message.id, in: session.id)?.cursor != next.cursor {
                reference += " and agent = \(next.agentId)"
            }
            continuations.append(reference)
        }
        if !continuations.isEmpty {
            result["note"] = .string(
                "There are more messages. To continue: \(continuations.joined(separator: ", or "))")
        }
        return .object(result)
    }

    private func page(
        _ request: PageRequest<MessageCursor>, of session: Session, share: Double = 1
    ) async throws -> SessionPage {
        SessionPage(
            try await history.messages(of: session.id, agentId: nil, page: request),
            isBackward: request.direction == .backward, share: share, calendar: calendar)
    }

    @Sendable private func list(_ arguments: ToolArguments, _ context: AgentContext) async throws -> JSONValue {
        var query = SessionQuery(userId: context.userId, text: try arguments.text("query") ?? "")
        query.from = try arguments.date("since", isEnd: false)
        query.until = try arguments.date("until", isEnd: true)
        let limit = try arguments.number("limit", in: 1...50, default: 20)
        var cursor: SessionCursor?
        if let id = try arguments.text("after") { cursor = query.cursor(of: try await session(id, of: context.userId)) }
        let page = try await history.sessions(query, page: PageRequest(limit: limit, after: cursor))
        let listed = page.elements.map { session -> JSONValue in
            var listed: [String: JSONValue] = [
                "session": .string(session.id.sessionId), "title": .string(session.displayTitle.onOneLine(atMost: 80)),
                "created": session.createdAt.forModel(in: calendar),
                "lastActivity": session.lastActivityAt.forModel(in: calendar),
                "messages": .integer(Int64(session.messageCount)),
                "agents": .string(session.agentIds.joined(separator: ", ").onOneLine(atMost: 200)),
            ]
            if let folder = session.workingDirectory { listed["folder"] = .string(folder.onOneLine(atMost: 120)) }
            if session.id == context.session { listed["isCurrent"] = true }
            return .object(listed)
        }
        var result: [String: JSONValue] = ["sessions": .array(listed)]
        if page.next != nil, let last = page.elements.last {
            result["note"] = .string("There are more sessions. To continue: after = \(last.id.sessionId)")
        } else if listed.isEmpty {
            result["note"] = "There are no such sessions."
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

    private func message(
        _ messageId: String?, agentId: String?, in session: SessionKey
    ) async throws -> StoredMessage? {
        guard let messageId else { return nil }
        guard let stored = try await history.message(messageId, in: session, agentId: agentId) else {
            throw ToolArguments.Failure(
                message: "The session has no message with that ID. Omit it to read from the beginning.")
        }
        return stored
    }
}
