import RecollectCore

/// Sub-agents with messages in lines about their progress, in the file of the agent that started them.
///
/// Such lines count only for a sub-agent without a file: they may be fewer, and lack fields. So they are read after all files,
/// and messages from them are deleted before the first message of the sub-agent's file. The result is the same for files
/// imported in any order.
struct NestedAgents {
    private let userId: String
    private var found: [(path: String, agents: [NestedAgent: String?])] = []
    /// The scopes of which no messages need to be replaced any more.
    private var checked: Set<Scope> = []

    init(userId: String) {
        self.userId = userId
    }

    /// Notes the sub-agents of a batch, and deletes messages replaced by it.
    mutating func prepare(_ batch: TranscriptBatch, in history: any HistoryStore) async throws {
        found += batch.nested
        for (scope, messages) in batch.sessions.joined() where scope.agentId != TranscriptReader.mainAgentId {
            guard messages.contains(where: { !$0.isProgress }), checked.insert(scope).inserted,
                try await history.hasProgress(scope)
            else { continue }
            try await history.deleteAll(in: scope)
        }
    }

    /// Returns the files with sub-agents without messages in the history, or only with messages from such lines.
    func files(missingIn history: any HistoryStore) async throws -> [TranscriptFile] {
        var files: [TranscriptFile] = []
        for (path, agents) in found {
            var missing: Set<NestedAgent> = []
            for agent in agents.keys {
                let scope = Scope(userId: userId, sessionId: agent.sessionId, agentId: agent.agentId)
                if try await history.first(of: scope)?.isProgress ?? true { missing.insert(agent) }
            }
            guard !missing.isEmpty else { continue }
            files.append(
                TranscriptFile(path: path, byteCount: 0) { [missing] in
                    try TranscriptReader(path: path, nested: missing)
                })
        }
        return files
    }
}

extension ConversationMessage {
    /// Whether the message is from a line about the progress of a sub-agent.
    fileprivate var isProgress: Bool { metadata[ClaudeCodeLine.Name.isProgress] == true }
}

extension HistoryStore {
    fileprivate func first(of scope: Scope) async throws -> ConversationMessage? {
        try await messages(of: scope.session, agentId: scope.agentId, page: PageRequest(limit: 1)).elements.first?
            .message
    }

    /// Whether one of the first messages of a scope is from a line about progress.
    fileprivate func hasProgress(_ scope: Scope) async throws -> Bool {
        try await messages(of: scope.session, agentId: scope.agentId, page: PageRequest(limit: 100)).elements
            .contains { $0.message.isProgress }
    }

    /// Deletes all messages of a sub-agent: its file has them. Others are among them if two imports ran at the same time.
    fileprivate func deleteAll(in scope: Scope) async throws {
        while true {
            let page = try await messages(of: scope.session, agentId: scope.agentId, page: PageRequest(limit: 500))
            let replaced = page.elements.map(\.message).filter { $0.metadata[ClaudeCodeLine.Name.isSidechain] == true }
            guard !replaced.isEmpty, try await !delete(replaced, in: scope.session).isEmpty else { return }
        }
    }
}
