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
            metadata: quotes.isEmpty ? [:] : [HistoryQuotation.metadataKey: .array(quotes.map(\.json))])
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
                            ? "To search all sessions, at any time, say “anywhere”."
                            : "I searched all your sessions.")
                } else {
                    "That is all I found about \(subject)\(scope(of: question))."
                }
            return HistoryAnswer(pieces: [text])
        }
        var answer = HistoryAnswer(pieces: [corrections(in: found) + opening(of: found, asked)])
        var titles: [SessionKey: String] = [:]
        for hit in found.hits {
            if titles[hit.session] == nil { titles[hit.session] = try await title(of: hit.session) }
            let heading =
                "\n\n• \(hit.timestamp.formatted(for: calendar)), \(speaker(of: hit)), in \(titles[hit.session] ?? "")"
            answer.pieces.append("\(heading)\n  “\(hit.snippet.text.onOneLine(atMost: 400))”")
            answer.quotes.append(HistoryQuote(hit))
        }
        if found.hasMore { answer.pieces.append("\n\nTo see more, say “more”.") }
        return answer
    }

    /// Returns a sentence for each corrected word.
    private func corrections(in found: HistorySearch.Found) -> String {
        var words: [String: String] = [:]
        for hit in found.hits { words.merge(hit.correctedWords) { first, _ in first } }
        return words.sorted { $0.key < $1.key }.map { "I searched for “\($1)” instead of “\($0)”. " }.joined()
    }

    /// Returns the introduction of the quotes.
    private func opening(of found: HistorySearch.Found, _ asked: HistoryQuestion.Asked) -> String {
        let subject = "\(asked.question.words.spoken)\(scope(of: asked.question))"
        if asked.shown.isEmpty, let time = asked.missedTime {
            return "I found nothing about \(subject) in that period (\(time.name)). "
                + (found.isPartial
                    ? "No message from any other time contains all of it, either. The closest matches:"
                    : "From other times:")
        }
        return found.isPartial
            ? "No message contains all of \(subject). The closest matches:"
            : "\(asked.shown.isEmpty ? "I found this" : "I also found this") about \(subject):"
    }

    /// Returns a reply with the latest sessions, of a time if one is given, without the current session.
    func sessions(in time: DateExpression?, besides asking: SessionKey) async throws -> HistoryAnswer {
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
            return HistoryAnswer(pieces: ["There are no earlier sessions\(when)."])
        }
        var answer = HistoryAnswer(pieces: ["What should I search for? Your latest sessions\(when):"])
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
        let line = singleLine
        return line.count <= count ? line : line.prefix(count) + "…"
    }
}
