import Foundation
import Recollect
import RecollectBuiltInAgents
import RecollectModels
import RecollectPostgres
import RecollectTranscripts

// The examples in the doc comments of the sources, in the order of the modules. `ExampleTests` compares them and runs
// some of them.

// MARK: - RecollectCore

func conversationMessage() -> ConversationMessage {
    let answer = ConversationMessage(
        role: .assistant,
        parts: [
            .toolCall(id: "call_1", name: "weather", arguments: ["city": "Tromsø"]),
            .toolResult(id: "call_1", content: ["sky": "clear"]),
            .text("Clear all night."),
        ])
    print(answer.text)  // Clear all night.
    return answer
}

func attachment(photo: Data, chat: any ChatStorage) async throws {
    let picture = Attachment(mediaType: "image/jpeg", name: "fjord.jpg", content: .inline(photo))
    let question = ConversationMessage(role: .user, parts: [.text("Where is this?"), .attachment(picture)])
    try await chat.save(question, userId: "ana", sessionId: "trip", agentId: "planner", maxMessages: 100)
}

func tokenWindow(_ history: any HistoryStore, of scope: Scope) async throws -> [ConversationMessage] {
    let counter = TokenCounter { message in message.text.utf8.count / 3 }
    let prompt = try await history.window(of: scope, tokens: 100_000, counter: counter)
    return prompt
}

func compaction(
    _ history: any HistoryStore, of scope: Scope,
    summarize: (String?, [ConversationMessage]) async throws -> String
) async throws {
    let chat = try await history.compactedMessages(of: scope)
    let old = chat.messages.dropLast(20)
    let summary = try await summarize(chat.compaction?.summary, Array(old))
    try await history.compact(
        Array(old), of: scope, into: summary, by: "my-model", after: chat.compaction?.id)
}

func tenantHistory(_ shared: any HistoryStore, subject: String) -> TenantHistoryStore {
    let tenant = Tenant(userId: subject)  // of the verified token
    let history = shared.scoped(to: tenant)
    return history
}

func historyChatStorage(history: any HistoryStore, message: ConversationMessage) async throws {
    let store = HistoryChatStorage(history: history, userId: "ana")
    try await store.save(message, userId: "ana", sessionId: "today", agentId: "helper", maxMessages: 100)
}

func chatStorage(_ storage: any ChatStorage) async throws -> [ConversationMessage] {
    let question = ConversationMessage(role: .user, text: "When does the ferry leave?")
    try await storage.save(question, userId: "ana", sessionId: "trip", agentId: "planner", maxMessages: 100)
    let prompt = try await storage.fetch(userId: "ana", sessionId: "trip", agentId: "planner", maxMessages: 20)
    return prompt
}

func fileChatStorage(folder: URL) async throws -> FileChatStorage {
    let files = FileChatStorage(baseURL: folder)
    let message = ConversationMessage(role: .user, text: "Hello")
    try await files.save(message, userId: "ana", sessionId: "trip", agentId: "planner", maxMessages: 100)
    return files
}

func inMemoryChatStorage() -> InMemoryChatStorage {
    let store = InMemoryChatStorage([ConversationMessage(role: .user, text: "A question for every preview")])
    return store
}

func userDefaultsChatStorage() -> UserDefaultsChatStorage {
    let store = UserDefaultsChatStorage(suiteName: "group.com.example.chat")
    return store
}

func wrappers(around server: any ChatStorage) -> any ChatStorage {
    let store = LoggingChatStorage(wrapping: CachingChatStorage(wrapping: server, lifetime: .seconds(5)))
    return store
}

func summarizing(history: any ChatStorage, client: any LLMClient) -> SummarizingChatStorage {
    let store = SummarizingChatStorage(wrapping: history, summarizer: LLMSummarizer(model: client).summarize)
    return store
}

func transforming(files: any ChatStorage) -> TransformingChatStorage {
    let store = TransformingChatStorage(wrapping: files) { message in
        message.mappingText { $0.replacing(/\b\d{16}\b/, with: "[card]") }
    }
    return store
}

func historyStore(_ history: any HistoryStore) async throws -> [StoredMessage] {
    let scope = Scope(userId: "ana", sessionId: "trip", agentId: "planner")
    try await history.append([ConversationMessage(role: .user, text: "Plan a trip.")], to: scope)
    try await history.update(scope.session, with: SessionDetails(title: "Tromsø", isPinned: true))
    let newest = try await history.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 50, before: nil))
    return newest.elements
}

func changes(of history: any HistoryStore, reload: (SessionKey) async -> Void) async throws {
    for try await change in try await history.changes() { await reload(change.session) }
}

func streamingReply(_ history: any HistoryStore, scope: Scope, pieces: AsyncStream<String>) async throws {
    let reply = try await history.beginReply(ConversationMessage(role: .assistant, text: ""), in: scope)
    for await piece in pieces { reply.append(piece) }
    try await reply.finish()
}

func turnLease(
    _ history: any HistoryStore, scope: Scope,
    turn: @escaping @Sendable ([ConversationMessage]) async throws -> [ConversationMessage]
) async throws {
    try await history.withLease(of: scope.session) {
        let past = try await history.window(of: scope, maxMessages: 100)
        try await history.append(try await turn(past), to: scope)
    }
}

func sessionQuery(_ history: any HistoryStore) async throws {
    let query = SessionQuery(userId: "ana", text: "ferry", tags: ["travel"], isArchived: false)
    let first = try await history.sessions(query, page: PageRequest(limit: 20))
    for session in first.elements { print(session.displayTitle, session.messageCount) }
    if let cursor = first.next {
        let second = try await history.sessions(query, page: PageRequest(limit: 20, after: cursor))
        print(second.elements.count, "more")
    }
}

struct EmbeddingReranker: SearchReranker {
    let similarity: @Sendable (_ text: String, _ query: String) async throws -> Double

    func scores(of candidates: [SearchCandidate], for query: SearchQuery) async throws -> [Double] {
        var scores: [Double] = []
        for candidate in candidates {
            scores.append(candidate.hit.score + (try await similarity(candidate.message.text, query.text)))
        }
        return scores
    }
}

func best(in history: any HistoryStore, by reranker: EmbeddingReranker) async throws -> [SearchHit] {
    try await history.search(SearchQuery(userId: "ana", text: "late boats", limit: 5), by: reranker)
}

func searchQuery(_ history: any HistoryStore) async throws {
    let query = SearchQuery(userId: "ana", text: "ferry timetable", roles: [.assistant], limit: 10)
    for hit in try await history.search(query).elements {
        print(hit.session.sessionId, hit.snippet.marked())  // trip The «ferry» «timetable» …
    }
}

func sessionStorage(_ sessions: any SessionStorageProtocol) async throws {
    try await sessions.saveSession(id: "trip", firstMessage: "Plan a trip.")
    try await sessions.updateSessionMessages(id: "trip", messages: [ChatMessage(role: .user, content: "Plan a trip.")])
    for session in try await sessions.getAllSessions() { print(session.id, session.messages.count) }
}

func errors(_ store: any ChatStorage, _ message: ConversationMessage) async throws {
    do {
        try await store.save(message, userId: "ana", sessionId: "trip", agentId: "planner", maxMessages: 100)
    } catch let error as RecollectError where error.code == .diskFull {
        print(error.message)  // Nothing was saved. The message names the file.
    }
}

func events(of history: SQLiteHistoryStore) -> Task<Void, Never> {
    let task = Task {
        for await event in history.events.stream() where event.kind == .salvaged {
            print("The history was damaged; its readable messages were saved to a new one.")
        }
    }
    return task
}

func tool() -> AgentTool {
    let clock = AgentTool(name: "current_time", description: "The time now, in ISO 8601.") { _, _ in
        .text(Date().formatted(.iso8601))
    }
    return clock
}

func journal(_ journal: any Journal) async throws -> [JournalEntry] {
    let id = JournalID(userId: "ana", agentId: "scribe")
    try await journal.append(JournalEntry(text: "The ferry leaves at nine."), to: id)
    let notes = try await journal.entries(JournalQuery(words: ["ferry"]), in: id)
    return notes
}

// MARK: - RecollectPostgres

#if Postgres
    func postgresHistoryStore() async throws -> PostgresChatStorage {
        let history = try PostgresHistoryStore(url: "postgres://app@db.example.com/chats?sslrootcert=/etc/ssl/ca.pem")
        try await history.migrate()
        let chat = PostgresChatStorage(history: history, userId: "ana")
        return chat
    }

    func postgresChatStorage(tenant: Tenant) throws -> PostgresChatStorage {
        let history = try PostgresHistoryStore(url: "postgres://chats@db.example.com/chats")
        let store = PostgresChatStorage(history: history.scoped(to: tenant), userId: tenant.userId)
        return store
    }
#endif

// MARK: - RecollectSQLite

func sqliteHistoryStore(folder: URL) -> SQLiteHistoryStore {
    let history = SQLiteHistoryStore(
        directory: folder,
        configuration: HistoryConfiguration(durability: .relaxed, retention: .days(30)))
    return history
}

func deviceChatStorage(currentUser: (id: String, name: String), message: ConversationMessage) async throws {
    let store = try DeviceChatStorage(userId: currentUser.id)
    try await store.save(message, userId: currentUser.id, sessionId: "today", agentId: "helper", maxMessages: 100)
}

func sqliteSessionStorage(user: (id: String, name: String)) -> SQLiteSessionStorage {
    let history = SQLiteHistoryStore()
    let sessions = SQLiteSessionStorage(history: history, userId: user.id)
    return sessions
}

// MARK: - RecollectAgents

func agent(client: any LLMClient, manual: AgentTool) -> Agent {
    let support = Agent(
        name: "Tech Support", description: "Helps with devices, networks and broken things.", model: client,
        tools: [manual])
    return support
}

struct Echo: AgentProtocol {
    let name = "Echo"
    let description = "Repeats the input."

    func process(
        _ input: AgentInput, history: [ConversationMessage], context: AgentContext
    ) -> AsyncThrowingStream<AgentEvent, any Error> {
        AsyncThrowingStream { stream in
            stream.yield(.textDelta(input.text))
            stream.finish()
        }
    }
}

func input(_ orchestrator: Orchestrator, shown: ChatMessage) -> [AsyncThrowingStream<AgentEvent, any Error>] {
    let first = orchestrator.route("What did we decide?", userId: "ada", sessionId: "today")
    let second = orchestrator.route(.text("And why?", id: shown.id.uuidString), userId: "ada", sessionId: "today")
    return [first, second]
}

func orchestrator(agent: any AgentProtocol, store: any ChatStorage, show: (String) -> Void) async throws {
    let orchestrator = Orchestrator(agents: [agent], store: store)
    for try await event in orchestrator.route("What is next?", userId: "ada", sessionId: "today") {
        if case .textDelta(let text) = event { show(text) }
    }
}

func keywordClassifier(agents: [any AgentProtocol], store: any ChatStorage) -> Orchestrator {
    let orchestrator = Orchestrator(agents: agents, classifier: KeywordClassifier(), store: store)
    return orchestrator
}

func modelClassifier(agents: [any AgentProtocol], small: any LLMClient, store: any ChatStorage) -> Orchestrator {
    let orchestrator = Orchestrator(agents: agents, classifier: LLMClassifier(model: small), store: store)
    return orchestrator
}

// MARK: - RecollectModels

func clients() -> [ChatCompletionsClient] {
    // swift-format-ignore: NeverForceUnwrap
    let local = ChatCompletionsClient(baseURL: URL(string: "http://127.0.0.1:11434/v1")!, model: "qwen3")
    let openAI = ChatCompletionsClient(
        model: "gpt-5-mini", apiKey: ProcessInfo.processInfo.environment["OPENAI_API_KEY"])
    return [local, openAI]
}

// MARK: - RecollectWorkspace

func sharedWorkspace(folder: URL, path: WorkspacePath) async throws {
    let workspace = try SharedWorkspace(root: folder)
    let file = try await workspace.read(path)
    try await workspace.write(
        file.text + "\n- bring a torch", to: path, replacing: file.version, by: .agent("planner"))
}

func workspaceQuery(_ workspace: SharedWorkspace) async throws {
    for file in try await workspace.search(WorkspaceQuery("polar night", limit: 10)).files {
        print(file.path, file.lines.first?.text ?? "")
    }
}

func workspaceTools(_ workspace: SharedWorkspace, client: any LLMClient) -> Agent {
    let planner = Agent(
        name: "planner", description: "Plans trips.", model: client,
        tools: WorkspaceTools(workspace: workspace, agentId: "planner").all)
    return planner
}

func memoryTool(_ workspace: SharedWorkspace, client: any LLMClient) -> Agent {
    let memory = MemoryTool(workspace: workspace, agentId: "planner")
    let planner = Agent(name: "planner", description: "Plans trips.", model: client, tools: [memory.tool])
    return planner
}

func result(of input: JSONValue, for memory: MemoryTool) async throws -> (text: String, isError: Bool) {
    let result = try await memory.call(input)
    return (result.content.stringValue ?? "", result.isError)
}

func redaction(_ workspace: SharedWorkspace, path: WorkspacePath) async throws -> [WorkspacePath] {
    let leaked = try await workspace.versions(of: path)[1]
    let files = try await workspace.redact(leaked.hash, of: path)
    return files
}

func workspaceJournal(_ workspace: SharedWorkspace) async throws -> [JournalEntry] {
    try await workspace.journal.write("The ferry leaves at nine.")
    let entries = try await workspace.journal.entries(by: .user, on: Date())
    return entries
}

func contextFile(_ workspace: SharedWorkspace) async throws -> String? {
    try await workspace.context.append("- ships", under: "Likes", by: .agent("planner"))
    let text = try await workspace.context.read()?.text
    return text
}

func researchArea(_ workspace: SharedWorkspace, chapter: String) async throws -> [ResearchArea.Source] {
    let research = workspace.research("moby-dick")
    try await research.addSource(title: "Whales of the North", text: chapter, by: .agent("librarian"))
    let sources = try await research.sources()
    return sources
}

func chatsArea(_ workspace: SharedWorkspace, _ history: SQLiteHistoryStore) async throws {
    let session = SessionKey(userId: "ana", sessionId: "trip")
    let published = try await workspace.chats.synchronize(session, with: history)
    print(published.new.count)  // The messages added to the file on other devices.
}

// MARK: - RecollectTranscripts

func importer(_ history: any HistoryStore, folder: URL) async throws {
    let report = try await TranscriptImporter(history: history, userId: "ana").run([folder.path])
    print(report.addedCount, "new messages in", report.sessionCount, "sessions")
}

func exporter(_ history: any HistoryStore, session: SessionKey, file: FileHandle) async throws {
    try await SessionExporter(history: history).export(session, as: .markdown) { try file.write(contentsOf: $0) }
}

// MARK: - RecollectBuiltInAgents

func historian(print: (AgentEvent) -> Void) async throws {
    let history = SQLiteHistoryStore()
    let orchestrator = Orchestrator(
        agents: [HistorianAgent(history: history)], store: DeviceChatStorage(history: history, userId: "ada"))
    let question = AgentInput.text("What did we say about the budget last week?")
    for try await event in orchestrator.route(question, userId: "ada", sessionId: "today") { print(event) }
}

func scribe(folder: URL) -> ScribeAgent {
    let scribe = ScribeAgent(journal: JournalFolder(baseURL: folder))
    return scribe
}

func historyTools(_ history: any HistoryStore, client: any LLMClient) -> Agent {
    let assistant = Agent(
        name: "Assistant", description: "Answers from earlier sessions.", model: client,
        tools: HistoryTools(history: history).all)
    return assistant
}
