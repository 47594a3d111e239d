import Foundation
import RecollectAgents
import RecollectCore

/// A reply from the history, in the pieces to stream.
struct HistoryAnswer {
    var pieces: [String] = []
    var quotes: [HistoryQuote] = []

    var message: ConversationMessage {
        ConversationMessage(
            role: .assistant, text: pieces.joined(),
            metadata: quotes.isEmpty ? [:] : ["quotes": .array(quotes.map(\.json))])
    }
}

/// Writes replies of the historian.
struct HistoryWriter {
    let history: any HistoryStore
    let calendar: Calendar

    /// Returns a reply with the quotes found. Without any, it says what was searched and how to widen the search.
    func quotations(_ found: HistorySearch.Found, of asked: HistoryQuestion.Asked) async throws -> HistoryAnswer {
        let question = asked.question
        let subject = question.words.spoken
        guard !found.hits.isEmpty else {
            let text =
                if asked.shown.isEmpty {
                    "I found nothing about \(subject)\(scope(of: question)). "
                        + (question.isNarrow
                            ? "Say “anywhere” and I search all sessions, at any time."
                            : "I searched all your conversations.")
                } else {
                    "That is all I found about \(subject)\(scope(of: question))."
                }
            return HistoryAnswer(pieces: [text])
        }
        var answer = HistoryAnswer(pieces: [opening(of: found, asked)])
        var titles: [SessionKey: String] = [:]
        for hit in found.hits {
            if titles[hit.session] == nil { titles[hit.session] = try await title(of: hit.session) }
            let heading =
                "\n\n• \(hit.timestamp.formatted(for: calendar)), \(speaker(of: hit)), in \(titles[hit.session] ?? "")"
            answer.pieces.append("\(heading)\n  “\(hit.snippet.text.onOneLine(atMost: 400))”")
            answer.quotes.append(HistoryQuote(hit))
        }
        if found.hasMore { answer.pieces.append("\n\nThere is more: say “more”.") }
        return answer
    }

    /// Returns the introduction of the quotes.
    private func opening(of found: HistorySearch.Found, _ asked: HistoryQuestion.Asked) -> String {
        let subject = "\(asked.question.words.spoken)\(scope(of: asked.question))"
        if asked.shown.isEmpty, let time = asked.missedTime {
            return "I found nothing about \(subject) in that time (\(time.name)). "
                + (found.isPartial
                    ? "At other times no message has all of it either. These come closest:"
                    : "At other times this was said:")
        }
        return found.isPartial
            ? "No message has all of \(subject). These come closest:"
            : "\(asked.shown.isEmpty ? "This was" : "This too was") said about \(subject):"
    }

    /// Returns a reply with the latest sessions, of a time if one is given, without the current session.
    func sessions(in time: SpokenTime?, besides asking: SessionKey) async throws -> HistoryAnswer {
        let query = SessionQuery(userId: asking.userId, from: time?.from)
        var listed: [Session] = []
        var cursor: SessionCursor?
        repeat {
            let page = try await history.sessions(query, page: PageRequest(limit: 50, after: cursor))
            listed += page.elements.filter { session in
                session.id != asking && time.map { session.createdAt < $0.until } ?? true
            }
            cursor = page.next
        } while listed.count < HistorySearch.quotationCount && cursor != nil
        let when = time.map { " (\($0.name))" } ?? ""
        guard !listed.isEmpty else {
            return HistoryAnswer(pieces: ["There are no earlier conversations\(when)."])
        }
        var answer = HistoryAnswer(pieces: ["What is it about? Your latest conversations\(when):"])
        for session in listed.prefix(HistorySearch.quotationCount) {
            answer.pieces.append(
                "\n\n• \(session.lastActivityAt.formatted(for: calendar)), \(try await name(of: session))")
        }
        return answer
    }

    /// Returns the conditions of a question other than its words, as the user phrased them.
    private func scope(of question: HistoryQuestion) -> String {
        var conditions: [String] = []
        if question.isOfUser { conditions.append("said by you") }
        if question.isOfThisSession { conditions.append("in this session") }
        if let time = question.time { conditions.append(time.name) }
        return conditions.isEmpty ? "" : " (\(conditions.joined(separator: ", ")))"
    }

    private func speaker(of hit: SearchHit) -> String {
        let agent = hit.agentId.onOneLine(atMost: 60)
        switch hit.role {
        case .user: return agent.isEmpty ? "you" : "you to \(agent)"
        case .assistant: return agent.isEmpty ? "the assistant" : agent
        default: return hit.role.rawValue
        }
    }

    private func title(of id: SessionKey) async throws -> String {
        guard let session = try await history.session(id) else { return id.sessionId.onOneLine(atMost: 60) }
        return try await name(of: session)
    }

    /// Returns a session's title, and the first 8 characters of its ID, or all of it if they are not unique.
    private func name(of session: Session) async throws -> String {
        let sessionId = session.id.sessionId
        let beginning = String(sessionId.prefix(8))
        let same = try await history.sessions(of: session.id.userId, sessionIdPrefix: beginning, limit: 2)
        let name = same.count == 1 ? beginning : sessionId
        return "“\(session.displayTitle.onOneLine(atMost: 60))” [\(name)]"
    }
}

extension String {
    /// Returns the text with every run of white space replaced by one space, cut after this number of characters.
    func onOneLine(atMost count: Int) -> String {
        let line = split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.count <= count ? line : line.prefix(count) + "…"
    }
}
