import Foundation
import RecollectCore

/// The details of imported sessions.
///
/// Details only for new sessions (tags, pin, archive mark) are saved when the session is created, before its first
/// message: after an interruption, the next import finds the session and cannot determine that it was new. All
/// other details are saved at the end, as far as the history lacks them.
struct ImportedSessions {
    private struct Learned {
        /// The title in an export, or in a transcript for one of its messages.
        var title: String?
        /// The last title of the session by its user, and the last generated one.
        var userTitle: String?
        var generatedTitle: String?
        var workingDirectory: String?
        var branch: String?
        var metadata: [String: JSONValue] = [:]
        var lastAccessedAt: Date?
        var isPinned: Bool?
        var isArchived: Bool?
        var tags: [String] = []
        var createdAt: Date?
        var firstMessage: String?
        /// A title for a session without one, if its first message was not written by its user.
        var opening = SessionTitleReader()
        var tasks = TaskNames()

        /// The best title and its kind: by a user, generated, for a message, or made from the session's opening (0).
        var bestTitle: (String, kind: Int64)? {
            let titles = [opening.title, title, generatedTitle, userTitle]
            return zip(titles, 0...).compactMap { title, kind in title.map { ($0, kind: Int64(kind)) } }.last
        }

        /// Whether to create the session even without a message.
        var needsNoMessage: Bool { createdAt != nil || firstMessage != nil }
    }

    /// The metadata key for a title set by an import. The next import uses it to recognize titles set by a user.
    static let importedTitle = "importedTitle"
    /// The metadata key for the kind of that title, and the kind without it: earlier versions saved none. Only a title of
    /// this kind or a better one replaces it.
    static let importedTitleKind = "importedTitleKind"
    private static let unknownTitleKind: Int64 = 1

    private var sessions: [SessionKey: Learned] = [:]
    /// Sessions already in the history, or created by this import.
    private var made: Set<SessionKey> = []
    /// Titles without a known session yet, by message ID.
    private var titles: [String: (title: String, session: SessionKey)] = [:]
    /// The first session of each message, by the hash of the message ID. It takes at most 24 bytes per message.
    private var firstSessions: [Int: Int32] = [:]
    /// The sessions with messages, in the order of the import.
    private var read: [SessionKey] = []

    /// The number of sessions.
    var count: Int { sessions.count }

    /// The users of the sessions, sorted.
    var users: [String] {
        Set(sessions.keys.map { ByteString($0.userId) }).sorted().map(\.string)
    }

    /// Collects the details in a batch.
    mutating func note(_ batch: TranscriptBatch) {
        for (title, id, session) in batch.titles { titles[id] = (title, session) }
        for (scope, messages) in batch.sessions.joined() {
            var learned = sessions[scope.session] ?? Learned()
            if read.last != scope.session { read.append(scope.session) }
            for message in messages {
                let hash = message.id.hashValue
                firstSessions[hash] = firstSessions[hash] ?? Int32(read.count - 1)
                // Sub-agents are asked by other agents.
                if scope.agentId == TranscriptReader.mainAgentId { learned.opening.note(message) }
                learned.tasks.note(message, of: scope.agentId)
                if let (title, _) = titles.removeValue(forKey: message.id) { learned.title = title }
            }
            sessions[scope.session] = learned
        }
        for (title, isByUser, session) in batch.sessionTitles {
            let field: WritableKeyPath<Learned, String?> = isByUser ? \.userTitle : \.generatedTitle
            sessions[session, default: Learned()][keyPath: field] = title
        }
        for (session, details) in batch.details {
            var learned = sessions[session] ?? Learned()
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
            sessions[session] = learned
        }
    }

    /// Collects the sub-agents in lines about their progress, with the calls that started them.
    mutating func note(_ agents: [NestedAgent: String?], of userId: String) {
        for (agent, call) in agents {
            sessions[SessionKey(userId: userId, sessionId: agent.sessionId)]?.tasks.set(agent.agentId, from: call)
        }
    }

    /// Creates the new sessions of a collected batch, before its messages are saved, if they have details for new
    /// sessions.
    ///
    /// A session with a creation date or a first message in its file is created even without messages.
    mutating func prepare(_ batch: TranscriptBatch, in history: any HistoryStore) async throws {
        let begun = batch.sessions.compactMap { runs in runs.first.map { ($0.scope.session, $0.messages.first) } }
        for (session, first) in batch.details.map({ ($0.0, nil) }) + begun where !made.contains(session) {
            guard let learned = sessions[session], learned.needsNoMessage || first != nil else { continue }
            made.insert(session)
            var details = SessionDetails(
                isPinned: learned.isPinned, isArchived: learned.isArchived, addedTags: learned.tags,
                firstMessage: learned.firstMessage, createdAt: learned.createdAt)
            guard details != SessionDetails(), try await history.session(session) == nil else {
                continue
            }
            // Appending its first message would set the same date.
            details.createdAt = details.createdAt ?? first?.timestamp
            try await history.update(session, with: details)
        }
    }

    /// Saves the details missing in the history.
    mutating func update(_ history: any HistoryStore) async throws {
        try await findTitledSessions(history)
        try await withThrowingTaskGroup(of: Void.self) { group in
            var running = 0
            for (session, learned) in sessions {
                // Concurrent updates share their commits.
                if running == 16 { try await group.next() } else { running += 1 }
                group.addTask { try await Self.update(session, learned, history) }
            }
            try await group.waitForAll()
        }
    }

    /// Finds the sessions of titles.
    ///
    /// A title may come after its message, or in another session's file.
    private mutating func findTitledSessions(_ history: any HistoryStore) async throws {
        for (id, (title, own)) in titles.sorted(by: { $0.key < $1.key }) {
            let first = firstSessions[id.hashValue].map { read[Int($0)] }
            for session in [own, first].compactMap({ $0 }) where sessions[session] != nil {
                guard try await history.message(id, in: session) != nil else { continue }
                sessions[session]?.title = title
                break
            }
        }
    }

    private static func update(
        _ session: SessionKey, _ learned: Learned, _ history: any HistoryStore
    ) async throws {
        guard let current = try await history.session(session) else { return }
        var details = SessionDetails()
        // A title set or removed by a user stays, and so does one of a better kind from another file.
        let kindBefore =
            current.title == nil ? -1 : current.metadata[importedTitleKind]?.integerValue ?? unknownTitleKind
        if current.title == current.metadata[importedTitle]?.stringValue, let (title, kind) = learned.bestTitle,
            kind >= kindBefore, title != current.title || kind > kindBefore
        {
            details.title = title
            details.metadata[importedTitle] = .string(title)
            // An export has the kind of its title.
            if learned.metadata[importedTitle] == nil { details.metadata[importedTitleKind] = .integer(kind) }
        }
        if current.workingDirectory == nil { details.workingDirectory = learned.workingDirectory }
        if current.branchName == nil { details.branchName = learned.branch }
        try await setOrigin(&details, of: current, history)
        for (name, value) in learned.metadata where current.metadata[name] == nil {
            details.metadata[name] = value
        }
        let names = learned.tasks.agentNames.merging(current.agentNames) { _, current in current }
        if names != current.agentNames {
            details.metadata[Session.agentNamesKey] = .object(names.mapValues { .string($0) })
        }
        if let accessed = learned.lastAccessedAt, accessed > current.lastAccessedAt {
            details.lastAccessedAt = accessed
        }
        guard details != SessionDetails() else { return }
        try await history.update(session, with: details, createIfMissing: false)
    }

    /// Sets the working directory and the branch from the first messages of the session.
    ///
    /// A sub-agent's file may be imported before that of its session. Then the values are marked, and the import of an
    /// earlier message replaces them.
    private static func setOrigin(
        _ details: inout SessionDetails, of current: Session, _ history: any HistoryStore
    ) async throws {
        let page = PageRequest<MessageCursor>(limit: 20)
        var first = try await history.messages(of: current.id, agentId: TranscriptReader.mainAgentId, page: page)
            .elements
        let isFinal = !first.isEmpty
        if !isFinal { first = try await history.messages(of: current.id, agentId: nil, page: page).elements }
        let fields: [(WritableKeyPath<SessionDetails, String?>, KeyPath<Session, String?>, name: String)] = [
            (\.workingDirectory, \.workingDirectory, ClaudeCodeLine.Name.workingDirectory),
            (\.branchName, \.branchName, ClaudeCodeLine.Name.branch),
        ]
        for (detail, field, name) in fields where details[keyPath: detail] == nil {
            let mark = "imported.\(name)"
            let (set, imported) = (current[keyPath: field], current.metadata[mark]?.stringValue)
            guard set == nil || set == imported, let value = first.lazy.compactMap({ text(name, in: $0.message) }).first
            else { continue }
            if value != set { details[keyPath: detail] = value }
            if isFinal, imported != nil { details.metadata[mark] = .null }
            if !isFinal, imported != value { details.metadata[mark] = .string(value) }
        }
    }

    private static func text(_ name: String, in message: ConversationMessage) -> String? {
        guard let value = message.metadata[name]?.stringValue, !value.isEmpty else { return nil }
        return value
    }
}
