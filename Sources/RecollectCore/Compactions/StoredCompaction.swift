import Foundation
import RecollectFileSystem

/// A compaction in a store without compactions of its own, as messages of a separate scope of the same session.
///
/// Each one is two messages saved together: a heading with the role `assistant`, then the summary with the role
/// `system`. So neither repeats the previous role, whatever was stored before.
struct StoredCompaction: Sendable {
    let compaction: Compaction
    /// The IDs of the last covered messages. Between these, other messages are not covered: a UI has inserted or moved them.
    private let covered: [ByteString]
    /// The IDs of the messages after the last covered one at the time of the compaction.
    private let followers: Set<ByteString>

    private static let field = "summary"
    /// The maximum number of IDs of covered messages, to bound the message.
    private static let limit = 256

    /// Creates a compaction of the first messages not covered.
    init(
        _ compaction: Compaction, after previous: StoredCompaction?, covering covered: ArraySlice<ConversationMessage>,
        leaving rest: ArraySlice<ConversationMessage>
    ) {
        self.compaction = compaction
        self.covered = ((previous?.covered ?? []) + covered.map { ByteString($0.id) }).suffix(Self.limit)
        followers = Set(rest.map { ByteString($0.id) })
    }

    /// Creates a compaction from its message; `nil` for another message.
    init?(_ message: ConversationMessage) {
        guard message.role == .system, case .object(let fields)? = message.metadata[Self.field],
            let id = fields["id"]?.stringValue, let author = fields["author"]?.stringValue,
            let last = fields["lastMessageId"]?.stringValue, case .integer(let count)? = fields["messageCount"]
        else { return nil }
        compaction = Compaction(
            id: id, summary: message.text, author: author, createdAt: message.timestamp, lastMessageId: last,
            messageCount: Int(count), previousId: fields["previousId"]?.stringValue)
        covered = Self.ids(fields["covers"])
        followers = Set(Self.ids(fields["followedBy"]))
    }

    private static func ids(_ value: JSONValue?) -> [ByteString] {
        (value?.arrayValue ?? []).compactMap(\.stringValue).map { ByteString($0) }
    }

    /// The messages to save, with new IDs.
    var batch: [ConversationMessage] {
        var fields = compaction.fields
        fields["covers"] = .array(covered.map { .string($0.string) })
        fields["followedBy"] = .array(followers.sorted { $0.string < $1.string }.map { .string($0.string) })
        return [
            ConversationMessage(
                id: Compaction.messagePrefix + UUID.random().uuidString, role: .assistant,
                text: "The conversation so far:", timestamp: compaction.createdAt),
            ConversationMessage(
                id: Compaction.messagePrefix + UUID.random().uuidString, role: .system,
                parts: [.text(compaction.summary)], timestamp: compaction.createdAt,
                metadata: [Self.field: .object(fields)]),
        ]
    }

    /// Returns the scope of a scope's compactions.
    static func scope(of scope: Scope) -> Scope {
        scope.session.scope(agentId: Compaction.messagePrefix + scope.agentId)
    }

    /// Whether an ID, of an agent or a message, is reserved for compactions.
    static func isReserved(_ id: String) -> Bool {
        id.utf8.starts(with: Compaction.messagePrefix.utf8)
    }

    /// Returns whether each message of the whole history is covered; `nil` if the compaction does not fit this history.
    ///
    /// If the last covered message is missing, the first message of the history decides. If it is one of the
    /// followers, a trim removed the last covered message and all before it, and the compaction is still valid.
    /// Otherwise the message was deleted or replaced, and the summary describes removed content.
    func coverage(of messages: [ConversationMessage]) -> [Bool]? {
        let through = ByteString(compaction.lastMessageId)
        guard let last = messages.lastIndex(where: { ByteString($0.id) == through }) else {
            let first = messages.first { $0.role != .system } ?? messages.first
            guard let first, followers.contains(ByteString(first.id)) else { return nil }
            return messages.map { _ in false }
        }
        let known = Set(covered)
        // Of a long history, the first covered messages are unknown.
        let isCut = covered.count == Self.limit
        var isKnown = !isCut
        return messages.enumerated().map { index, message in
            guard index <= last else { return false }
            let isCovered = known.contains(ByteString(message.id))
            isKnown = isKnown || isCovered
            return isCovered || !isKnown
        }
    }
}
