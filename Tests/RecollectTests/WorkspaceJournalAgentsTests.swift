import Foundation
import Recollect
import RecollectBuiltInAgents
import Testing

@Suite("Agents and the workspace journal")
struct WorkspaceJournalAgentsTests {
    @Test("The scribe and the journal tools write, find and strike entries, and are their authors")
    func scribe() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let root = folder.appendingPathComponent("root")
        let workspace = try SharedWorkspace(
            root: root, configuration: WorkspaceConfiguration(stateURL: folder.appendingPathComponent("state")))
        let scribe = ScribeAgent(journal: workspace.journal)
        let tools = JournalTools(journal: workspace.journal)
        let context = AgentContext(userId: "ada", sessionId: "now")
        func ask(_ text: String) async throws -> String {
            let input = AgentInput(ConversationMessage(role: .user, text: text))
            var answer = ""
            for try await event in scribe.process(input, history: [], context: context) {
                if case .final(let message) = event { answer = message.text }
            }
            return answer
        }

        #expect(try await ask("note: the boiler is loud").hasPrefix("Noted"))
        #expect(try await !tools.takeNote.call(["text": "milk, and bread"], context: context).isError)
        #expect(try await ask("what did I note about the boiler?").contains("loud"))
        let read = try await tools.readNotes.call([:], context: context).content
        #expect(read["notes"]?.arrayValue?.map { $0["text"] } == ["the boiler is loud", "milk, and bread"])
        #expect(try await ask("strike the last note").contains("milk"))
        #expect(
            try await workspace.journal.entries(by: .agent("scribe"), on: Date()).map(\.text) == ["the boiler is loud"])
        #expect(try await workspace.journal.entries(by: .user, on: Date()).isEmpty)
        let file = try #require(try await workspace.list(WorkspacePath("Journal/agent")).first)
        #expect(try await workspace.read(file.path).text.components(separatedBy: " by scribe -->").count == 3)
        #expect(try await workspace.versions(of: file.path).first?.author == .agent("scribe"))
    }
}
