import RecollectAgents
import RecollectCore
import RecollectTestSupport
import Testing

@Suite("Keyword classifier")
struct KeywordClassifierTests {
    private let classifier = KeywordClassifier()

    @Test("A message about a topic goes to the topic's agent", arguments: KeywordCase.topics)
    func topics(_ routing: KeywordCase) async throws {
        try await check(routing)
    }

    @Test("A follow-up message stays with the last agent", arguments: KeywordCase.followUps)
    func followUps(_ routing: KeywordCase) async throws {
        try await check(routing)
    }

    @Test("A message without a matching or a previous agent goes to no agent", arguments: KeywordCase.strangers)
    func strangers(_ routing: KeywordCase) async throws {
        try await check(routing)
    }

    @Test(
        "Words such as plan, book and find weigh less than their objects",
        arguments: [
            ("How much does the premium plan cost?", "sales"), ("Can I book a demo of the app?", "sales"),
            ("Find me a discount", "sales"), ("Plan four days in Lisbon", "travel"),
            ("Book something for May", "travel"),
        ])
    func errands(_ input: String, _ expected: String) async throws {
        let agents = [
            SilentAgent("Chat", "Small talk."),
            SilentAgent("Travel", "Plans trips, books flights and hotels and finds sights."),
            SilentAgent("Sales", "Prices and licences of our app."),
        ]
        let result = try await classifier.classify(input, history: [], agents: agents)
        #expect(result.selectedAgent?.id == expected)
    }

    @Test(
        "A message matches an agent by subject in several languages, without a common word",
        arguments: [
            ("My parcel is late", "shipping"), ("Wo bleibt mein Paket?", "shipping"), ("I was charged twice", "money"),
            ("Je veux payer par carte", "money"), ("¿Cuándo llega mi pedido?", "shipping"),
        ])
    func subjects(_ input: String, _ expected: String) async throws {
        let agents = [
            SilentAgent("Chat", "Small talk."), SilentAgent("Shipping", "Delivery and tracking."),
            SilentAgent("Money", "Invoices and payments."),
        ]
        let result = try await classifier.classify(input, history: [], agents: agents)
        #expect(result.selectedAgent?.id == expected)
    }

    private func check(_ routing: KeywordCase) async throws {
        let result = try await classifier.classify(
            routing.input, history: routing.history, agents: routing.team.agents)
        #expect(result.selectedAgent?.id == routing.expected)
        #expect((0...1).contains(result.confidence))
    }

    @Test("Earlier messages, including the user's, identify an agent")
    func said() async throws {
        let agents = [SilentAgent("Anna", "A friend."), SilentAgent("Bert", "A colleague.")]
        let history = session([
            "Do you know Mozart's requiem?", "[anna] Yes, I sang it.", "Is the quarterly budget ready?",
            "[bert] Yes, since noon.",
        ])
        for (input, expected) in [("Which part of the requiem?", "anna"), ("Who checked that budget?", "bert")] {
            let result = try await classifier.classify(input, history: history, agents: agents)
            #expect(result.selectedAgent?.id == expected)
        }
    }

    @Test("Recent messages weigh more than older ones")
    func recency() async throws {
        let agents = [
            SilentAgent("Anna", "A friend."), SilentAgent("Bert", "A colleague."), SilentAgent("Carl", "A neighbor."),
        ]
        let history = session([
            "The ferry is late", "[anna] I see.", "The ferry is cancelled", "[bert] I see.", "My knee hurts",
            "[carl] I see.",
        ])
        let result = try await classifier.classify(
            "Please tell me all about the ferry that was cancelled yesterday, and about that ferry company in general",
            history: history, agents: agents)
        #expect(result.selectedAgent?.id == "bert")
    }

    @Test("Confidence is high for a clear message, lower for two matches, lowest for none")
    func confidence() async throws {
        let team = KeywordCase.Team.household.agents
        func confidence(_ input: String, _ before: [String] = []) async throws -> Double {
            try await classifier.classify(input, history: session(before), agents: team).confidence
        }
        let plain = try await confidence("pruning plants")
        let mixed = try await confidence("plumbing recipes")
        let foreign = try await confidence("quantum physics lecture tomorrow evening", ["Hi", "[garden] Hello."])
        #expect(plain > 0.9)
        #expect((0.4...0.6).contains(mixed))
        #expect(foreign < mixed)
    }

    @Test("A single agent is always chosen; without agents, none is")
    func fewAgents() async throws {
        let one = try await classifier.classify("", history: [], agents: [SilentAgent("A", "")])
        #expect(one.selectedAgent?.id == "a")
        #expect(try await classifier.classify("Hi", history: [], agents: []).selectedAgent == nil)
    }

    @Test("Agents with IDs that share a prefix, are empty or contain brackets are distinguished")
    func awkwardIds() async throws {
        for id in ["a", "a] b", "", "数学", "a]"] {
            let agents = ["a", "a] b", "", "数学", "a]"].map { SilentAgent("x", "", id: $0) }
            let history = [
                ConversationMessage(role: .user, text: "?"),
                ConversationMessage(role: .assistant, text: "Here it is.").attributed(agentId: id),
            ]
            #expect(try await classifier.classify("yes", history: history, agents: agents).selectedAgent?.id == id)
        }
    }

    @Test("Only the newest messages up to a limit are read")
    func limit() async throws {
        let agents = [SilentAgent("Anna", "A friend."), SilentAgent("Bert", "A colleague.")]
        let chatter = (0..<KeywordClassifier.messageLimit / 2).flatMap { _ in ["Well?", "[bert] Well."] }
        let history = session(["The ferry is late", "[anna] I see."] + chatter)
        let result = try await classifier.classify("ferry", history: history, agents: agents)
        #expect(result.selectedAgent?.id == "bert")
    }

    @Test("Any text is accepted, and the result is deterministic")
    func anyText() async {
        await Seeds.run(10) { seed in
            var generator = SeededGenerator(seed: seed)
            let team = KeywordCase.Team.studio.agents
            let alphabet = Array("ab é?[]-1 \n数学のグ한국ไทย👍\u{0}\u{301}код".unicodeScalars)
            func text() -> String {
                var text = String.UnicodeScalarView()
                for _ in 0..<Int.random(in: 0...40, using: &generator) {
                    text.append(alphabet[Int.random(in: alphabet.indices, using: &generator)])
                }
                return String(text)
            }
            for _ in 0..<20 {
                let history = (0..<4).map { ConversationMessage(role: $0 % 2 == 0 ? .user : .assistant, text: text()) }
                let input = text()
                let first = try await classifier.classify(input, history: history, agents: team)
                let second = try await classifier.classify(input, history: history, agents: team)
                #expect(first.selectedAgent?.id == second.selectedAgent?.id)
                #expect(first.confidence == second.confidence && (0...1).contains(first.confidence))
            }
        }
    }

    private func session(_ lines: [String]) -> [ConversationMessage] {
        lines.map { ConversationMessage(role: $0.hasPrefix("[") ? .assistant : .user, text: $0) }
    }
}
