import Foundation
import RecollectFileSystem

/// The summary of a scope, stored beside its messages in a separate scope of the same session.
///
/// Two messages are saved together with a budget of two: a heading with the role `assistant`, then the summary with
/// the role `system`. So neither repeats the previous role, whatever was stored before, and each summary replaces
/// the previous one, in any store of the four methods.
struct StoredSummary: Sendable {
    /// The prefix of the agent IDs of scopes with summaries, and of the IDs of their messages.
    static let prefix = "recollect.summary/"

    /// The summary, in the form given to agents.
    let message: ConversationMessage
    /// The ID of the last message covered by the summary.
    private let through: ByteString
    /// The IDs of the last covered messages. Between these, other messages are not covered: a UI has inserted or moved them.
    private let covered: [ByteString]
    /// The IDs of the messages after the last covered one at the time of the summary.
    private let followers: Set<ByteString>

    private static let field = "summary"
    /// The maximum number of IDs of covered messages, to bound the summary.
    private static let limit = 256

    /// Creates a summary covering the first messages and leaving the others.
    /// - Parameter previous: The summary of the messages before these.
    init(
        text: String, after previous: StoredSummary?, covering covered: ArraySlice<ConversationMessage>,
        leaving rest: ArraySlice<ConversationMessage>
    ) {
        let through = covered.last?.id ?? ""
        self.covered = ((previous?.covered ?? []) + covered.map { ByteString($0.id) }).suffix(Self.limit)
        let followers = rest.map(\.id)
        self.through = ByteString(through)
        self.followers = Set(followers.map { ByteString($0) })
        message = ConversationMessage(
            id: Self.prefix + UUID.random().uuidString, role: .system, parts: [.text(text)],
            metadata: [
                Self.field: [
                    "through": .string(through), "covers": .array(self.covered.map { .string($0.string) }),
                    "followedBy": .array(followers.map { .string($0) }),
                ]
            ])
    }

    /// Creates a summary from the messages of its scope; `nil` if they contain none.
    init?(in messages: [ConversationMessage]) {
        guard let message = messages.last(where: { $0.role == .system }),
            case .object(let fields)? = message.metadata[Self.field], case .string(let through)? = fields["through"],
            case .array(let followers)? = fields["followedBy"]
        else { return nil }
        self.message = message
        self.through = ByteString(through)
        covered = (fields["covers"]?.arrayValue ?? []).compactMap(\.stringValue).map { ByteString($0) }
        self.followers = Set(followers.compactMap(\.stringValue).map { ByteString($0) })
    }

    /// The messages to save.
    var batch: [ConversationMessage] {
        let heading = ConversationMessage(
            id: Self.prefix + UUID.random().uuidString, role: .assistant, text: "The conversation so far:",
            timestamp: message.timestamp)
        return [heading, message]
    }

    /// Returns the scope that stores the summary of a scope.
    static func scope(of scope: Scope) -> Scope {
        scope.session.scope(agentId: prefix + scope.agentId)
    }

    /// Whether an ID, of an agent or a message, is reserved for summaries.
    static func isReserved(_ id: String) -> Bool {
        id.utf8.starts(with: prefix.utf8)
    }

    /// Whether the messages include the last message covered by the summary.
    func reaches(into messages: [ConversationMessage]) -> Bool {
        messages.contains { ByteString($0.id) == through }
    }

    /// Returns the messages of the whole history not covered by the summary; `nil` if the summary does not fit this
    /// history.
    ///
    /// If the last covered message is missing, the first message of the history decides. If it is one of the
    /// followers, a trim removed the last covered message and all before it, and the summary is still valid.
    /// Otherwise the message was deleted or replaced by a branch, and the summary describes removed content.
    func uncovered(of messages: [ConversationMessage]) -> [ConversationMessage]? {
        if let last = messages.lastIndex(where: { ByteString($0.id) == through }) {
            let known = Set(covered)
            // Of a long history, the first covered messages are unknown.
            let isCut = covered.isEmpty || covered.count == Self.limit
            let inserted = messages[..<last].drop { isCut && !known.contains(ByteString($0.id)) }
                .filter { !known.contains(ByteString($0.id)) }
            return inserted + messages[(last + 1)...]
        }
        guard let first = messages.first, followers.contains(ByteString(first.id)) else { return nil }
        return messages
    }
}
