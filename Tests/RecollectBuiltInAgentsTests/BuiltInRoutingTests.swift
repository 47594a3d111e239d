import RecollectAgents
import RecollectBuiltInAgents
import RecollectCore
import RecollectSQLite
import Testing

@Suite("Routing to the built-in agents")
struct BuiltInRoutingTests {
    @Test(
        "Typical requests select the right built-in agent, whichever agent replied last",
        arguments: [
            ("What did we say about the harbour?", "historian"), ("When did I mention the dentist?", "historian"),
            ("What did we decide about the schema?", "historian"),
            ("Search the history for lighthouse lamps", "historian"),
            ("Who talked about the migration plan last week?", "historian"),
            ("Remember that the ferry leaves at nine", "scribe"), ("note: buy milk and bread", "scribe"),
            ("Write down that Ada has the key", "scribe"), ("What did I note about the ferry?", "scribe"),
            ("Show my notes from yesterday", "scribe"),
        ])
    func found(_ text: String, _ expected: String) async throws {
        let history = SQLiteHistoryStore.inMemory()
        let agents: [any AgentProtocol] = [HistorianAgent(history: history), ScribeAgent(journal: JournalFolder())]
        let openings: [[ConversationMessage]] = [
            [],
            [.init(role: .user, text: "note: it rains"), .init(role: .assistant, text: "[scribe] Noted: “it rains”")],
            [
                .init(role: .user, text: "what did ada want"),
                .init(
                    role: .assistant,
                    text: "[historian] I found this about “ada”: she wants tea."),
            ],
        ]
        for opening in openings {
            let chosen = try await KeywordClassifier().classify(text, history: opening, agents: agents)
            #expect(chosen.selectedAgent?.id == expected, "after \(opening.last?.text ?? "nothing")")
        }
    }
}
