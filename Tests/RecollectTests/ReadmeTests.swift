import Foundation
import Recollect
import RecollectTestServer
import Testing

@Suite("Samples of the README and the guides")
struct ReadmeTests {
    private let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    @Test(
        "Each sample is compiled here and is in its document, word for word",
        arguments: [
            ("ReadmeSample.swift", "README.md"),
            ("ReadmeLibrarySample.swift", "Sources/RecollectCore/RecollectCore.docc/The-session-library.md"),
            ("ReadmeAgentsSample.swift", "Sources/RecollectAgents/RecollectAgents.docc/Agents-and-turns.md"),
            (
                "ReadmeWorkspaceSample.swift",
                "Sources/RecollectWorkspace/RecollectWorkspace.docc/The-shared-workspace.md"
            ),
            ("ReadmeSQLiteSample.swift", "Sources/RecollectSQLite/RecollectSQLite.docc/RecollectSQLite.md"),
            (
                "ReadmeTranscriptsSample.swift",
                "Sources/RecollectTranscripts/RecollectTranscripts.docc/RecollectTranscripts.md"
            ),
            ("ReadmeModelsSample.swift", "Sources/RecollectModels/RecollectModels.docc/RecollectModels.md"),
            (
                "ReadmeClaudeCodeUISample.swift",
                "Sources/RecollectClaudeCodeUI/RecollectClaudeCodeUI.docc/RecollectClaudeCodeUI.md"
            ),
        ])
    func sample(_ file: String, page: String) throws {
        let root = here.deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
        let code = try String(contentsOf: here.appendingPathComponent(file), encoding: .utf8)
        #expect(text.contains("```swift\n\(code)```\n"))
    }

    @Test("The README has at most 150 lines")
    func length() throws {
        let root = here.deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 151)
    }

    @Test("The README sample saves and searches, also if run twice")
    func runs() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for run in 1...2 {
            try await remember(in: folder)
            let chat = DeviceChatStorage(history: SQLiteHistoryStore(directory: folder), userId: "ana")
            let all = try await chat.fetchAllChats(userId: "ana", sessionId: "trip")
            #expect(all.count == 2 * run)
            #expect(all[1].text == "[researcher] Nobody answers its pings.")
        }
        let hits = try await SQLiteHistoryStore(directory: folder).search(SearchQuery(userId: "ana", text: "socket"))
        // A short question asked again in the same words is found once.
        #expect(hits.elements.map { $0.snippet.marked() } == ["Why does the Web«Socket»Task close?"])
    }

    @Test("The transcripts and SQLite samples import, export and maintain a history")
    func transcripts() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let samples = here.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
            "Samples/Transcripts")
        let history = SQLiteHistoryStore(directory: folder)
        for _ in 1...2 {
            #expect(try await importTranscripts(of: samples, into: history).contains("已售罄"))
        }
        #expect(try await history.check().messageCount == 56)
        try await maintain(in: folder)
        #expect(try await SQLiteHistoryStore(directory: folder).check().messageCount == 0)
    }

    @Test("The ClaudeCodeUI sample imports a database once")
    func claudeCodeUI() async throws {
        let fixture = here.deletingLastPathComponent().appendingPathComponent(
            "RecollectClaudeCodeUITests/Fixtures/claude-code-ui-5")
        let history = SQLiteHistoryStore.inMemory()
        #expect(try await importSessions(of: fixture, into: history) == 5)
        #expect(try await importSessions(of: fixture, into: history) == 0)
    }

    @Test("The models sample returns the model's reply")
    func models() async throws {
        let server = try await ModelServer.start { _ in .text(["At ", "nine."]) }
        let history = SQLiteHistoryStore.inMemory()
        #expect(
            try await answer("When does the ferry leave?", server: server.baseURL, history: history) == "At nine.")
        try await server.stop()
    }

    @Test("The library sample shows one session")
    func library() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await showLibrary(in: folder)
        let history = SQLiteHistoryStore(directory: folder)
        let session = try #require(
            try await history.sessions(of: "ana", page: PageRequest(limit: 2)).elements.first)
        #expect(session.displayTitle == "Plan a trip to Tromsø.")
        #expect(session.messageCount == 3)
        #expect(session.tags == ["travel"])
        #expect(session.isPinned)
        // The agent gets the messages added by the UI and by the streaming reply.
        let given = try await DeviceChatStorage(history: history, userId: "ana").fetch(
            userId: "ana", sessionId: "trip", agentId: "planner", maxMessages: nil)
        #expect(
            given.map(\.text) == ["Plan a trip to Tromsø.", "By train or by ship?", "The polar night ends in January."])
    }

    @Test("The agents sample saves its turns")
    func agents() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await converse(in: folder)
        let chat = DeviceChatStorage(history: SQLiteHistoryStore(directory: folder), userId: "ana")
        let said = try await chat.fetchAllChats(userId: "ana", sessionId: "trip")
        #expect(said.map(\.role) == [.user, .assistant, .user, .assistant])
        #expect(said.filter { $0.role == .assistant }.allSatisfy { $0.text.hasPrefix("[scribe] ") })
        #expect(said.last?.text.contains("the ferry to Tromsø leaves at nine.") == true)
    }

    @Test("The workspace sample resolves a conflict")
    func workspace() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await share(in: folder)
        let workspace = try SharedWorkspace(
            root: folder.appendingPathComponent("shared"),
            configuration: WorkspaceConfiguration(stateURL: folder.appendingPathComponent("state")))
        #expect(try await workspace.context.read()?.text == "## Likes\n\n- trains\n- whales\n")
        let files = try await workspace.list(recursively: true).filter { !$0.isFolder }.map(\.path.description)
        #expect(files.count == 2)
        #expect(files.first?.hasPrefix("Journal/user/") == true)
        // Replaced and merged versions are not lost.
        let versions = try await workspace.versions(of: workspace.context.path)
        #expect(versions.first?.author == .recollect)
        #expect(versions.last?.author == .agent("planner"))
        let first = try #require(versions.last)
        #expect(try await workspace.content(of: first.hash) == Array("## Likes\n\n- ships\n".utf8))
    }
}
