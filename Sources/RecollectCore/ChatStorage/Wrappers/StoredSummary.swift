import Foundation

/// The summary of a scope as it is kept in the storage itself: a message in a scope of its own in the same session.
///
/// Two messages are saved together with a budget of two: a heading of the role `assistant`, then the summary, `system`. So neither
/// repeats the role before it, whatever was there, and each summary takes the place of the last: over any store of four methods.
struct StoredSummary: Sendable {
    /// What the agent ids of scopes with summaries, and the ids of their messages, begin with.
    static let prefix = "recollect.summary/"

    /// The summary, as agents are given it.
    let message: ConversationMessage
    /// The id of the last message that it covers.
    private let through: ByteString
    /// The ids of the messages that followed that one.
    private let followers: Set<ByteString>

    private static let field = "summary"

    /// Makes a summary that covers the first messages and leaves the others.
    init(text: String, covering covered: ArraySlice<ConversationMessage>, leaving rest: ArraySlice<ConversationMessage>)
    {
        let through = covered.last?.id ?? ""
        let followers = rest.map(\.id)
        self.through = ByteString(through)
        self.followers = Set(followers.map { ByteString($0) })
        message = ConversationMessage(
            id: Self.prefix + UUID().uuidString, role: .system, parts: [.text(text)],
            metadata: [
                Self.field: ["through": .string(through), "followedBy": .array(followers.map { .string($0) })]
            ])
    }

    /// Reads what the scope of a summary holds; `nil` where there is none.
    init?(in messages: [ConversationMessage]) {
        guard let message = messages.last(where: { $0.role == .system }),
            case .object(let fields)? = message.metadata[Self.field], case .string(let through)? = fields["through"],
            case .array(let followers)? = fields["followedBy"]
        else { return nil }
        self.message = message
        self.through = ByteString(through)
        self.followers = Set(followers.compactMap(\.stringValue).map { ByteString($0) })
    }

    /// What is saved.
    var batch: [ConversationMessage] {
        let heading = ConversationMessage(
            id: Self.prefix + UUID().uuidString, role: .assistant, text: "The conversation so far:",
            timestamp: message.timestamp)
        return [heading, message]
    }

    /// The scope in which the summary of a scope is kept.
    static func scope(of scope: Scope) -> Scope {
        scope.conversation.scope(agentId: prefix + scope.agentId)
    }

    /// Whether an id, of an agent or a message, is one of those that summaries are kept under.
    static func isReserved(_ id: String) -> Bool {
        id.utf8.starts(with: prefix.utf8)
    }

    /// Whether the last message that it covers is among these.
    func reaches(into messages: [ConversationMessage]) -> Bool {
        messages.contains { ByteString($0.id) == through }
    }

    /// The messages of the whole history that it does not cover; `nil` where it is no summary of this history any more.
    ///
    /// Where the last message that it covers is gone, it was trimmed away with all before it if the history now begins with one of
    /// those that followed. Otherwise it was deleted, or taken out with what followed, and the summary tells of what is no more.
    func uncovered(of messages: [ConversationMessage]) -> [ConversationMessage]? {
        if let last = messages.lastIndex(where: { ByteString($0.id) == through }) {
            return Array(messages[(last + 1)...])
        }
        guard let first = messages.first, followers.contains(ByteString(first.id)) else { return nil }
        return messages
    }
}
