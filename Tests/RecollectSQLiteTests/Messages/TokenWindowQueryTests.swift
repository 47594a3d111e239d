import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@Suite("Windows by tokens in a SQLite history")
struct TokenWindowQueryTests {
    @Test("A window read in steps equals the window of all messages", arguments: [0, 2, 30])
    func steps(instructionCount: Int) async throws {
        await Seeds.run(20) { seed in
            var random = SeededGenerator(seed: seed)
            let history = SQLiteHistoryStore.inMemory(HistoryConfiguration())
            let scope = Scope(userId: "user", sessionId: "session", agentId: "agent")
            // Also around the numbers of messages read in each step.
            let count = [random.size(upTo: 900), 64, 256].randomElement(using: &random) ?? 0
            let pinsOne = [0, 30, 200].randomElement(using: &random) ?? 0
            var messages: [ConversationMessage] = []
            var open: [String] = []
            for number in 0..<count + Int.random(in: -2...instructionCount + 2, using: &random) {
                var message = ConversationMessage(
                    id: "m\(number)", role: number < instructionCount ? .system : .user,
                    text: String(repeating: "x", count: random.size(upTo: 40)))
                if number >= instructionCount {
                    switch Int.random(in: 0..<20, using: &random) {
                    case 0: message.role = .system
                    case 1..<8: message.role = .assistant
                    case 8:
                        message.role = .assistant
                        open.append("call \(Int.random(in: 0..<4, using: &random))")
                        message.parts.append(.toolCall(id: open[open.count - 1], name: "read", arguments: [:]))
                    case 9 where !open.isEmpty:
                        message.role = .tool
                        let call = open.remove(at: Int.random(in: 0..<open.count, using: &random))
                        message.parts = [.toolResult(id: call, content: "result")]
                    default: break
                    }
                    message.isPinned = pinsOne > 0 && Int.random(in: 0..<pinsOne, using: &random) == 0
                }
                messages.append(message)
            }
            try await history.append(messages, to: scope, options: AppendOptions(sameRole: .keep))
            if Int.random(in: 0..<4, using: &random) == 0 {
                let trim = AppendOptions(sameRole: .keep, maxMessages: Int.random(in: 2...1000, using: &random))
                try await history.append([ConversationMessage(role: .user, text: "last")], to: scope, options: trim)
            }
            let counter = TokenCounter { 1 + $0.text.utf8.count }
            let all = try await history.window(of: scope, maxMessages: nil)
            for tokens in [0, 30, 200, 1500, 6000, 1_000_000] {
                let window = try await history.window(of: scope, tokens: tokens, counter: counter)
                #expect(window == all.window(tokens: tokens, counter: counter), "\(tokens) tokens")
            }
        }
    }

    @Test("A pinned message is in the window until it is no longer pinned")
    func pins() async throws {
        let history = SQLiteHistoryStore.inMemory(HistoryConfiguration())
        let scope = Scope(userId: "user", sessionId: "session", agentId: "agent")
        let messages = (0..<200).map { number in
            ConversationMessage(id: "m\(number)", role: number.isMultiple(of: 2) ? .user : .assistant, text: "text")
        }
        try await history.append(messages, to: scope)
        var pinned = messages[7]
        pinned.isPinned = true
        #expect(try await history.edit([pinned], in: scope.session) == 1)
        #expect(try await history.window(of: scope, tokens: 20).map(\.id) == ["m6", "m7", "m198", "m199"])
        #expect(try await history.edit([messages[7]], in: scope.session) == 1)
        #expect(try await history.window(of: scope, tokens: 20).map(\.id) == (196..<200).map { "m\($0)" })
    }
}
