import Foundation
import RecollectCore

/// A user's question about the history.
struct HistoryQuestion: Equatable {
    /// The topic.
    var words: ContentWords
    /// The time of the messages; `nil` for any time.
    var time: DateExpression?
    /// Whether the question is only about the current session.
    var isOfThisSession = false
    /// Whether the question is only about the user's messages.
    var isOfUser = false

    init(_ text: String, now: Date, calendar: Calendar) {
        var rest = text
        for phrase in Self.thisSession {
            if let range = rest.range(ofPhrase: phrase) {
                isOfThisSession = true
                rest.replaceSubrange(range, with: " ")
            }
        }
        isOfUser = Self.user.contains { rest.range(ofPhrase: $0) != nil }
        if let found = DateExpression.find(in: rest, now: now, calendar: calendar) {
            time = found.time
            rest = found.rest
        }
        words = ContentWords(rest)
    }

    /// The same question for all sessions, times and authors.
    var widened: HistoryQuestion {
        var wide = self
        wide.time = nil
        wide.isOfThisSession = false
        wide.isOfUser = false
        return wide
    }

    var isNarrow: Bool { time != nil || isOfThisSession || isOfUser }

    /// A question with the state of its answer.
    struct Asked {
        var question: HistoryQuestion
        /// The quotes in earlier replies to the same question.
        var shown: Set<HistoryQuote.Location> = []
        /// The requested time, if there are no matches within it. The question is then for all times.
        var missedTime: DateExpression?
    }

    /// Returns the question of an input: its own, or for a follow-up the previous one in the agent's messages. A
    /// follow-up without a previous question is a question of its own.
    static func asked(_ text: String, after said: [ConversationMessage], now: Date, calendar: Calendar) -> Asked {
        guard let followUp = FollowUp(text) else {
            return Asked(question: HistoryQuestion(text, now: now, calendar: calendar))
        }
        var isWide = followUp == .anywhere
        var shown: Set<HistoryQuote.Location> = []
        for message in said.reversed() {
            if message.role == .assistant {
                shown.formUnion(message.quotes.map(\.location))
            } else if message.role == .user {
                guard let earlier = FollowUp(message.text) else {
                    // Times are relative to the earlier message: "yesterday" remains the same day.
                    let question = HistoryQuestion(message.text, now: message.timestamp, calendar: calendar)
                    return Asked(question: isWide ? question.widened : question, shown: shown)
                }
                isWide = isWide || earlier == .anywhere
            }
        }
        return Asked(question: HistoryQuestion(text, now: now, calendar: calendar))
    }

    private enum FollowUp {
        case more, anywhere

        init?(_ text: String) {
            let words = text.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " }
                .split(separator: " ").joined(separator: " ")
            if Self.moreWords.contains(words) {
                self = .more
            } else if Self.anywhereWords.contains(words) {
                self = .anywhere
            } else {
                return nil
            }
        }

        private static let moreWords: Set = [
            "more", "more please", "show more", "next", "and then", "go on", "what else", "anything else", "mehr",
            "weiter",
            "noch mehr", "mehr bitte", "plus", "encore", "la suite", "más", "mas", "sigue", "更多", "还有吗", "继续",
        ]
        private static let anywhereWords: Set = [
            "anywhere", "everywhere", "at any time", "any time", "all sessions", "in all sessions", "search everything",
            "yes",
            "yes please", "überall", "ja", "ja bitte", "partout", "oui", "en todas partes", "sí", "si", "到处", "全部", "好",
            "好的",
        ]
    }

    private static let thisSession = [
        "in this session", "in this conversation", "in this chat", "in dieser sitzung", "in diesem gespräch",
        "in diesem chat",
        "dans cette conversation", "dans cette session", "en esta conversación", "en esta sesión", "在这次对话中", "在这次对话里",
        "这次对话",
    ]
    private static let user = [
        "did I", "have I", "had I", "habe ich", "hab ich", "sagte ich", "ai-je", "j'ai dit", "dije yo", "he dicho",
        "我说过", "我提到",
        "我什么时候",
    ]
}
