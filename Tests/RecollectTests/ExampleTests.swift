import Foundation
import Recollect
import RecollectBuiltInAgents
import Testing

@Suite("Examples in doc comments")
struct ExampleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Examples that need SwiftUI, or a test target of their own.
    private static let notCompiled = ["SessionList.swift", "RecollectTesting/"]

    @Test("Each example in a doc comment is compiled")
    func compiled() throws {
        let examples = try Self.lines(of: Self.root.appendingPathComponent("Tests/RecollectTests/Examples.swift"))
        let sources = Self.root.appendingPathComponent("Sources")
        let files = try #require(FileManager.default.enumerator(atPath: sources.path))
        var count = 0
        for case let file as String in files where file.hasSuffix(".swift") {
            guard !Self.notCompiled.contains(where: file.contains) else { continue }
            for example in try Self.examples(in: sources.appendingPathComponent(file)) {
                count += 1
                #expect(examples.contains(example), "\(file): \(example.joined(separator: "\n"))")
            }
        }
        #expect(count >= 25)
    }

    /// The lines of the Swift blocks in the doc comments of a file.
    private static func examples(in file: URL) throws -> [[String]] {
        var examples: [[String]] = []
        var example: [String]?
        for line in try lines(of: file) where line.hasPrefix("///") {
            let text = line.dropFirst(3).trimmingCharacters(in: .whitespaces)
            if text == "```swift" {
                example = []
            } else if text == "```", let whole = example {
                examples.append(whole)
                example = nil
            } else {
                example?.append(text)
            }
        }
        return examples
    }

    /// The lines of a file without indentation.
    private static func lines(of file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test("The examples of stores, queries and workspaces run")
    func running() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let history = SQLiteHistoryStore.inMemory()
        let chat = DeviceChatStorage(history: history, userId: "ana")
        #expect(try await chatStorage(chat).map(\.text) == ["When does the ferry leave?"])
        let scope = Scope(userId: "ana", sessionId: "trip", agentId: "planner")
        #expect(try await tokenWindow(history, of: scope).map(\.text) == ["When does the ferry leave?"])
        #expect(try await historyStore(history).map(\.message.text).contains("Plan a trip."))
        try await sessionQuery(history)
        try await searchQuery(history)
        let files = try await fileChatStorage(folder: folder.appendingPathComponent("chats"))
        #expect(try await files.fetchAllChats(userId: "ana", sessionId: "trip").map(\.text) == ["Hello"])
        try await attachment(photo: Data([1]), chat: InMemoryChatStorage())
        #expect(conversationMessage().text == "Clear all night.")
        try await sessionStorage(SQLiteSessionStorage(history: .inMemory(), userId: "ana"))

        let workspace = try SharedWorkspace(
            root: folder.appendingPathComponent("shared"),
            configuration: WorkspaceConfiguration(stateURL: folder.appendingPathComponent("state")))
        try FileManager.default.createDirectory(at: workspace.rootURL, withIntermediateDirectories: true)
        #expect(try await contextFile(workspace) == "## Likes\n\n- ships\n")
        #expect(try await workspaceJournal(workspace).map(\.text) == ["The ferry leaves at nine."])
        #expect(try await researchArea(workspace, chapter: "# Whales\n").count == 1)
        try await chatsArea(workspace, history)
        #expect(try await journal(JournalFolder(baseURL: folder.appendingPathComponent("journal"))).count == 1)
    }
}
