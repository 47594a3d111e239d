import Foundation
import RecollectCore

/// What an import learns of its sessions beside their messages.
///
/// What only a session that comes new is given (tags, pin, archive) the history is told when the session is made, before its first
/// message: the next import after one that was interrupted finds the session and cannot know that it was new. All else is told at
/// the end, where the history does not have it.
struct ImportedSessions {
    private struct Learned {
        var title: String?
        var workingDirectory: String?
        var branch: String?
        var metadata: [String: JSONValue] = [:]
        var lastAccessedAt: Date?
        var isPinned: Bool?
        var isArchived: Bool?
        var tags: [String] = []
        var createdAt: Date?
        var firstMessage: String?
        /// What it is called where no title is given and its first words are none of its user's.
        var opening = SessionOpening()

        /// Whether it is a session also without a message.
        var needsNoMessage: Bool { createdAt != nil || firstMessage != nil }
    }

    /// In a session's metadata: the title that an import gave it, so that the next one knows it from a person's.
    static let importedTitle = "importedTitle"

    private var sessions: [ConversationID: Learned] = [:]
    /// Sessions that the history has, or that were made because it had none.
    private var made: Set<ConversationID> = []
    /// Titles whose session is not known yet, by the message that it holds.
    private var titles: [String: (title: String, conversation: ConversationID)] = [:]

    /// How many sessions had messages.
    var count: Int { sessions.count }

    /// Whose sessions they are, in order.
    var users: [String] {
        Set(sessions.keys.map { ByteString($0.userId) }).sorted().map(\.string)
    }

    /// Takes note of a batch.
    mutating func note(_ batch: TranscriptBatch) {
        for (title, id, conversation) in batch.titles { titles[id] = (title, conversation) }
        for (scope, messages) in batch.sessions.joined() {
            var learned = sessions[scope.conversation] ?? Learned()
            for message in messages {
                learned.opening.note(message)
                if let (title, _) = titles.removeValue(forKey: message.id) { learned.title = title }
                learned.workingDirectory =
                    learned.workingDirectory ?? Self.text(ClaudeCodeLine.Name.workingDirectory, in: message)
                learned.branch = learned.branch ?? Self.text(ClaudeCodeLine.Name.branch, in: message)
            }
            sessions[scope.conversation] = learned
        }
        for (conversation, details) in batch.details {
            var learned = sessions[conversation] ?? Learned()
            learned.title = details.title ?? learned.title
            learned.workingDirectory = details.workingDirectory ?? learned.workingDirectory
            learned.branch = details.branchName ?? learned.branch
            learned.metadata.merge(details.metadata) { _, new in new }
            learned.lastAccessedAt = details.lastAccessedAt ?? learned.lastAccessedAt
            learned.isPinned = details.isPinned ?? learned.isPinned
            learned.isArchived = details.isArchived ?? learned.isArchived
            learned.tags += details.addedTags
            learned.createdAt = learned.createdAt ?? details.createdAt
            learned.firstMessage = learned.firstMessage ?? details.firstMessage
            sessions[conversation] = learned
        }
    }

    /// Makes the sessions of a noted batch, before its messages are saved, that come new with more than messages; those whose history
    /// tells when they were made, or what was said first, may have no messages.
    mutating func prepare(_ batch: TranscriptBatch, in history: any HistoryStore) async throws {
        let begun = batch.sessions.compactMap { runs in runs.first.map { ($0.scope.conversation, $0.messages.first) } }
        for (conversation, first) in batch.details.map({ ($0.0, nil) }) + begun where !made.contains(conversation) {
            guard let learned = sessions[conversation], learned.needsNoMessage || first != nil else { continue }
            made.insert(conversation)
            var details = ConversationDetails(
                isPinned: learned.isPinned, isArchived: learned.isArchived, addedTags: learned.tags,
                firstMessage: learned.firstMessage, createdAt: learned.createdAt)
            guard details != ConversationDetails(), try await history.conversation(conversation) == nil else {
                continue
            }
            // As the append of its first message would.
            details.createdAt = details.createdAt ?? first?.timestamp
            try await history.update(conversation, with: details)
        }
    }

    /// Tells the history what it does not know yet.
    mutating func update(_ history: any HistoryStore) async throws {
        try await findTitledSessions(history)
        try await withThrowingTaskGroup(of: Void.self) { group in
            var running = 0
            for (conversation, learned) in sessions {
                // Several at once share their commits.
                if running == 16 { try await group.next() } else { running += 1 }
                group.addTask { try await Self.update(conversation, learned, history) }
            }
            try await group.waitForAll()
        }
    }

    /// A title may come after its message, or in another session's file: asks the sessions of this import for the message.
    private mutating func findTitledSessions(_ history: any HistoryStore) async throws {
        for (id, (title, own)) in titles.sorted(by: { $0.key < $1.key }) {
            for conversation in [own] + sessions.keys.filter({ $0 != own })
            where sessions[conversation] != nil {
                guard try await history.message(id, in: conversation) != nil else { continue }
                sessions[conversation]?.title = title
                break
            }
        }
    }

    private static func update(
        _ conversation: ConversationID, _ learned: Learned, _ history: any HistoryStore
    ) async throws {
        guard let current = try await history.conversation(conversation) else { return }
        var details = ConversationDetails()
        let isImported = current.title == current.metadata[importedTitle]?.stringValue
        // A title that was told replaces any that an import gave, one made of the opening none.
        let title = current.title == nil || isImported ? learned.title : nil
        if let title = title ?? (current.title == nil ? learned.opening.title : nil), title != current.title {
            details.title = title
            details.metadata[importedTitle] = .string(title)
        }
        if current.workingDirectory == nil { details.workingDirectory = learned.workingDirectory }
        if current.branchName == nil { details.branchName = learned.branch }
        for (name, value) in learned.metadata where current.metadata[name] == nil {
            details.metadata[name] = value
        }
        if let accessed = learned.lastAccessedAt, accessed > current.lastAccessedAt {
            details.lastAccessedAt = accessed
        }
        guard details != ConversationDetails() else { return }
        try await history.update(conversation, with: details, makesNew: false)
    }

    private static func text(_ name: String, in message: ConversationMessage) -> String? {
        guard let value = message.metadata[name]?.stringValue, !value.isEmpty else { return nil }
        return value
    }
}
